"""What is asked of some tables, said once for all who can answer it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from schemas.table import TableSpec


@dataclass(frozen=True)
class Question:
    """A statement over the rows of one cluster.

    Attributes:
        statement: in Spark's SQL; `{name}` stands for the rows of a table.
        read: these tables.
        told: columns that the statement gives.
        beside: rows that no table has, by the name for which they stand.
    """

    statement: str
    read: Sequence[TableSpec]
    told: StructType
    beside: Mapping[str, DataFrame] = field(default_factory=dict)


def verbatim(sql: str) -> str:
    """Return SQL to be put into a statement, in which braces stand for tables: names of groups may have some."""
    return sql.replace("{", "{{").replace("}", "}}")
