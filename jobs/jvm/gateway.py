"""The way into Spark's JVM, past what PySpark offers: here and nowhere else its private attributes are used.

What is reached through it is in this folder too, each with a face of plain Python values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

_MISSING = ("java.io.FileNotFoundException", "java.nio.file.NoSuchFileException")


def packages(spark: SparkSession) -> Any:
    """Return the root of Java's packages: `packages(spark).java.util.Properties()`."""
    return spark.sparkContext._jvm


def java_session(spark: SparkSession) -> Any:
    """Return the session as Java knows it."""
    return spark._jsparkSession


def hadoop_configuration(spark: SparkSession) -> Any:
    """Return the configuration of the file systems."""
    return spark.sparkContext._jsc.hadoopConfiguration()


def scala_none(spark: SparkSession) -> Any:
    """Return Scala's None, for an argument left out."""
    return packages(spark).scala.Option.empty()


def scala_seq(spark: SparkSession, items: Sequence[Any]) -> Any:
    """Return a sequence of Scala's."""
    return packages(spark).org.apache.spark.api.python.PythonUtils.toSeq(list(items))


def as_if_a_table(rows: DataFrame) -> DataFrame:
    """Return rows as a frame of a single node, which is computed anew by each query; nobody plans what lies below.

    What Delta does to a table whose rows they are made of does not touch it, be it that they are kept.
    """
    spark = rows.sparkSession
    session, planned = java_session(spark), rows._jdf.queryExecution()
    return DataFrame(session.internalCreateDataFrame(planned.toRdd(), rows._jdf.schema(), False), spark)


def has_resource(spark: SparkSession, name: str) -> bool:
    """Tell whether a file of this name is on the class path, in any of its jars."""
    loader = packages(spark).java.lang.Thread.currentThread().getContextClassLoader()
    return loader.getResource(name) is not None


@dataclass(frozen=True)
class Cause:
    """What a Java exception says.

    Attributes:
        class_name: its class.
        message: its words; empty if it has none.
    """

    class_name: str
    message: str

    @property
    def simple_name(self) -> str:
        """The class without its package."""
        return self.class_name.rpartition(".")[2].rpartition("$")[2]


def is_of_missing_file(error: BaseException) -> bool:
    """Tell whether an error of PySpark or Py4J is about a file that is not there."""
    return any(cause.class_name in _MISSING for cause in causes(error))


def causes(error: BaseException) -> Iterator[Cause]:
    """Yield the Java exceptions behind an error of PySpark or Py4J, outermost first; none for another error."""
    throwable = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    while throwable is not None:
        yield Cause(throwable.getClass().getName(), str(throwable.getMessage() or ""))
        throwable = throwable.getCause()
