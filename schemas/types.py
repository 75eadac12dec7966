"""The few data types that columns are declared in.

They name Spark SQL types without importing Spark, so that the declarations can be read by the pure ring, the
documentation and the checks alike; `schemas.spark` turns them into `pyspark.sql.types`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Primitive:
    """A Spark SQL primitive type, by its DDL name."""

    name: str

    def ddl(self) -> str:
        """Spark SQL spelling of this type."""
        return self.name


@dataclass(frozen=True, slots=True)
class Array:
    """A list whose elements share one type."""

    element: DataType

    def ddl(self) -> str:
        """Spark SQL spelling of this type."""
        return f"ARRAY<{self.element.ddl()}>"


@dataclass(frozen=True, slots=True)
class Map:
    """A dictionary whose keys share one type and whose values share one type."""

    key: DataType
    value: DataType

    def ddl(self) -> str:
        """Spark SQL spelling of this type."""
        return f"MAP<{self.key.ddl()}, {self.value.ddl()}>"


@dataclass(frozen=True, slots=True)
class Struct:
    """Named fields in a fixed order; `name` is what one of them is called in code, `required` are never null."""

    name: str
    fields: tuple[tuple[str, DataType], ...]
    required: tuple[str, ...] = ()

    def ddl(self) -> str:
        """Spark SQL spelling of this type."""
        return f"STRUCT<{', '.join(f'{name}: {kind.ddl()}' for name, kind in self.fields)}>"


DataType = Primitive | Array | Map | Struct

STRING = Primitive("STRING")
INT = Primitive("INT")
BIGINT = Primitive("BIGINT")
DOUBLE = Primitive("DOUBLE")
BOOLEAN = Primitive("BOOLEAN")
BINARY = Primitive("BINARY")
TIMESTAMP = Primitive("TIMESTAMP")


def struct(name: str, /, *required: str, **fields: DataType) -> Struct:
    """Build a struct type from keyword arguments, in their order."""
    return Struct(name, tuple(fields.items()), required)
