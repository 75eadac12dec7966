"""What the names of Java's classes and methods mean, remembered.

Py4J asks the JVM each time that one is spoken. PySpark's functions are static methods of Java's, so of three calls for
a column two only ask what `functions` and `col` are: ten thousand calls of a small run.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView
from pyspark import SparkContext
from pyspark.sql import SparkSession


def remember_names(spark: SparkSession) -> None:
    """Have what a session's JVM once said of a name be remembered; PySpark's imports of classes are over by then."""
    asked = spark._jvm
    if asked is not None and not isinstance(asked, _Names):
        SparkContext._jvm = spark._jvm = _Names(asked._gateway_client, asked._jvm_name, id=asked._id)


class _Class(JavaClass):  # type: ignore[misc]  # Py4J has no types
    def __getattr__(self, name: str) -> Any:
        member = super().__getattr__(name)
        if isinstance(member, JavaMember):  # a method: what a field holds may change
            self.__dict__[name] = member
        return member


class _Package(JavaPackage):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Any:
        return _remembered(self, name, super().__getattr__(name))


class _Names(JVMView):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Any:
        return _remembered(self, name, super().__getattr__(name))


def _remembered(place: object, name: str, found: Any) -> Any:
    """Note what a name means in its place, and return it as what remembers its own members."""
    if type(found) is JavaClass:
        found = _Class(found._fqn, found._gateway_client)
    elif type(found) is JavaPackage:
        found = _Package(found._fqn, found._gateway_client, found._jvm_id)
    else:
        return found
    place.__dict__[name] = found
    return found
