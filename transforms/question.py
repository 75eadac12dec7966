"""What is asked of some tables, said once for all who can answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.table import TableSpec


@dataclass(frozen=True)
class Question:
    """A statement over the rows of one cluster.

    Attributes:
        statement: in Spark's SQL; `{name}` stands for the rows of a table.
        read: these tables.
        told: table whose columns the statement gives.
    """

    statement: str
    read: Sequence[TableSpec]
    told: TableSpec
