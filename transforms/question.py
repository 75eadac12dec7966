"""What is asked of some tables, said once for all who can answer it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from schemas.table import TableSpec
from transforms.wanted_rows import Wanted


@dataclass(frozen=True)
class Question:
    """A statement over the rows of one cluster.

    Attributes:
        statement: in Spark's SQL; `{name}` stands for the rows of a table.
        read: these tables.
        told: columns that the statement gives.
        beside: rows that no table has, by the name for which they stand.
        wanted: by table, the rows that are looked at; where nothing is said, all.
        is_narrow: it reads a few narrow columns, so that the size of tables says little of what there is to read.
    """

    statement: str
    read: Sequence[TableSpec]
    told: StructType
    beside: Mapping[str, DataFrame] = field(default_factory=dict)
    wanted: Mapping[TableSpec, Wanted] = field(default_factory=dict)
    is_narrow: bool = False

    def of_table(self, spec: TableSpec, groups: Sequence[str] | None) -> Wanted:
        """Return which rows of a table are looked at: of some groups, or of all that are wanted."""
        wanted = self.wanted.get(spec, Wanted())
        return wanted if groups is None else replace(wanted, groups=groups)


def verbatim(sql: str) -> str:
    """Return SQL to be put into a statement, in which braces stand for tables: names of groups may have some."""
    return sql.replace("{", "{{").replace("}", "}}")


def of_table(spec: TableSpec) -> str:
    """Return how a statement names the rows of a table."""
    return f"{{{spec.name}}}"
