"""Rows of silver with the names of clients hashed (`transforms.privacy`), as they are about to be written."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, Row, StructType

from schemas.privacy import HOLDING, names_clients
from schemas.table import Layer, TableSpec
from schemas.tables.silver import REJECTED
from transforms.privacy import Pseudonyms

_ALL = "_hashed"


def with_hashes(spec: TableSpec, rows: DataFrame, pseudonyms: Pseudonyms) -> DataFrame:
    """Return rows with their names hashed.

    Bronze stays as it was read, and so does what could not be: hashes are not what silver can be derived from again.

    Args:
        spec: the table that they are for.
        rows: columns of the table.
        pseudonyms: hashes names.
    """
    names = [name for name in rows.columns if names_clients(name) or name in HOLDING]
    if spec.layer is not Layer.SILVER or spec is REJECTED or not names:
        return rows
    columns = rows.select(*names).schema

    def hashed(row: Row) -> tuple[Any, ...]:
        found = pseudonyms.row(row.asDict(recursive=True))
        return tuple(_as_spark_wants(found[field.name], field.dataType) for field in columns.fields)

    hash_all = F.udf(hashed, columns, useArrow=False)
    with_all = rows.withColumn(_ALL, hash_all(F.struct(*names)))
    return with_all.withColumns({name: F.col(_ALL)[name] for name in names}).drop(_ALL)


def _as_spark_wants(value: Any, kind: DataType) -> Any:
    """Return a value with mappings as tuples where the type is a struct."""
    if value is None:
        return None
    match kind:
        case StructType(fields=fields):
            return tuple(_as_spark_wants(value[field.name], field.dataType) for field in fields)
        case ArrayType(elementType=element):
            return [_as_spark_wants(each, element) for each in value]
        case MapType(valueType=inner):
            return {key: _as_spark_wants(each, inner) for key, each in value.items()}
    return value
