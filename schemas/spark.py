"""Table declarations as Spark types: the one place where `schemas` touches pyspark."""

from __future__ import annotations

from pyspark.sql import types as T

from schemas.table import TableSpec
from schemas.types import Array, DataType, Map, Primitive, Struct

_PRIMITIVES: dict[str, T.DataType] = {
    "STRING": T.StringType(),
    "INT": T.IntegerType(),
    "BIGINT": T.LongType(),
    "DOUBLE": T.DoubleType(),
    "BOOLEAN": T.BooleanType(),
    "BINARY": T.BinaryType(),
    "TIMESTAMP": T.TimestampType(),
}


def spark_type(data_type: DataType) -> T.DataType:
    """Return the Spark type of a declared type."""
    match data_type:
        case Primitive(name):
            return _PRIMITIVES[name]
        case Array(element):
            return T.ArrayType(spark_type(element))
        case Map(key, value):
            return T.MapType(spark_type(key), spark_type(value))
        case Struct(fields=fields):
            return T.StructType([T.StructField(name, spark_type(kind)) for name, kind in fields])


def struct_type(spec: TableSpec) -> T.StructType:
    """Return a table's columns as a Spark struct, meanings as column comments."""
    return T.StructType(
        [
            T.StructField(
                name,
                spark_type(spec.column(name).data_type),
                nullable=name not in spec.not_null,
                metadata={"comment": spec.column(name).meaning},
            )
            for name in spec.columns
        ]
    )
