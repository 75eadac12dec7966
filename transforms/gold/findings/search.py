"""What findings of a table are made of, said once for Spark and for DuckDB, and who judges them.

Both take the same statements: the first tells of what there is a finding, the second packs what belongs to each. DuckDB
is asked where rows are at hand, or in files of this machine; else Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.gold.findings import kernel
from transforms.gold.findings.kernel import FINDING, GROUP, Few, Hold, Judge
from transforms.question import of_table

R = TypeVar("R")

FOUND = "found"
"""Name by which the second statement has the rows of the first one."""

CUTS = "cuts"
"""Name by which the first statement has the groups of a run and their cuts, if it is of some groups only."""


@dataclass(frozen=True)
class Search:
    """A search for the findings of a table.

    Attributes:
        spec: the table.
        found: statement for the rows that findings are made of: cluster, group_id, finding, `at_us`, and more.
        evidence: statement for what is packed of each finding, as `kernel` has it; it knows the former as FOUND.
        judge: gives the rows of one finding; a function of a module, or bound to plain values.
        is_for_spark: a statement has what only Spark's SQL has.
        where: by table, the condition of rows that the statements look at, where these are few of many.
        breadth: so many times as much as usual can be looked through at once, as little of it belongs to findings.
    """

    spec: TableSpec
    found: str
    evidence: str
    judge: Judge
    is_for_spark: bool = False
    where: Mapping[str, str] = field(default_factory=dict)
    breadth: int = 1

    def read(self, tables: Mapping[str, R]) -> dict[str, R]:
        """Return those of some rows that the statements read, by their names."""
        return {name: rows for name, rows in tables.items() if f"{{{name}}}" in self.found + self.evidence}

    def by_spark(self, tables: Mapping[str, DataFrame], hold: Hold, few: Few) -> DataFrame:
        """Search by Spark.

        Args:
            tables: what the statements read (`read`).
            hold: keeps what findings are made of.
            few: fetches evidence if there is little of it.

        Returns:
            Rows of the table.
        """
        read: dict[str, Any] = {**tables}
        like: DataFrame = next(iter(read.values()))
        found = hold(like.sparkSession.sql(self.found, **read))
        if found is None:
            return kernel.nothing(like, self.spec)
        evidence = like.sparkSession.sql(self.evidence, **read, found=found)
        return kernel.judged(found, [evidence], self.judge, self.spec, few)


def packing(kind: str, fields: Iterable[T.StructField], rows: str) -> str:
    """Return the statement that packs rows as `kernel.packed` does; of their columns, those that the kind has.

    Args:
        kind: what the rows are.
        fields: their columns.
        rows: the statement for the rows, which have `cluster`, `group_id` and `finding` too.
    """
    return f"SELECT {', '.join(kernel.packing(fields, kind))} FROM ({rows})"


def near(
    spec: TableSpec,
    begin: str,
    end: str,
    told_at_end: Sequence[str] = (),
    rows: str = "",
    spans: str = "spans",
    names: Sequence[str] = (),
) -> str:
    """Return the statement that gives findings the rows of a table in their time, as `kernel.around` does.

    Args:
        spec: the table.
        begin: column that has the begin.
        end: column that has the end.
        told_at_end: columns that are not known before the end.
        rows: statement for the rows; empty = all of the table.
        spans: name of, or statement for, from when to when each finding is looked at.
        names: columns that are given; empty = all of the table.
    """
    given = names or [name for name in spec.columns if name not in GROUP]
    told = ", ".join(kernel.as_known(given, begin, end, told_at_end))
    return f"""
        SELECT cluster, group_id, finding, {told} FROM {f"({rows})" if rows else of_table(spec)}
        JOIN (SELECT cluster, group_id, finding, since_us, until_us FROM {spans}) USING (cluster, group_id)
        WHERE {kernel.is_near(begin, end)}"""


def fields_of(spec: TableSpec, names: Sequence[str] | None = None) -> list[T.StructField]:
    """Return the columns of a table, or some of them."""
    return [field for field in struct_type(spec) if names is None or field.name in names]


def reaching(found: str) -> str:
    """Return what findings are made of, without those that lie before the cut of their group: they stay.

    Args:
        found: the statement for it; with `at_us`: of each finding all moments that it is made of.
    """
    return f"""
        SELECT * FROM (
            SELECT *, max(at_us) OVER (PARTITION BY {", ".join(FINDING)}) AS last_us FROM ({found})
        ) JOIN (SELECT cluster, group_id, cut FROM {{{CUTS}}}) USING (cluster, group_id)
        WHERE coalesce(last_us >= cut, true)"""
