"""Asks which checks and laws rows break: one query for all of them, where each query costs more than its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from jobs.quality.by_duckdb import RowFiles, ask
from schemas.expectations import checks_of
from schemas.table import TableSpec
from transforms.quality import statements
from transforms.quality.laws.law import Law, lacking
from transforms.quality.thresholds import Thresholds

SOURCES = "sources"
"""Beside the tables laws may read `cluster, source, newest_at`: up to when each source of evidence has spoken."""

SOURCES_SCHEMA = "cluster STRING, source STRING, newest_at TIMESTAMP"


@dataclass(frozen=True)
class Verdict:
    """What became of one check or law.

    Attributes:
        table: the table whose rows it is about.
        check: name of the check or law.
        meaning: what holds where it is passed.
        is_critical: rows that break it are not published.
        failed_row_count: what breaks it, in rows.
        sample: some of these rows, as JSON.
    """

    table: TableSpec
    check: str
    meaning: str
    is_critical: bool
    failed_row_count: int = 0
    sample: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Nothing breaks it."""
        return not self.failed_row_count

    def __str__(self) -> str:
        sample = f", e.g. {self.sample[0]}" if self.sample else ""
        return f"{self.check} of {self.table.full_name} is broken by {self.failed_row_count:,} rows{sample}"


@dataclass(frozen=True)
class Question:
    """What is to be held to what.

    Attributes:
        rows: the rows of each table that laws may look at, by its name.
        specs: tables whose rows are held to the checks that their declaration implies.
        laws: laws that they are held to.
        thresholds: what the laws compare with.
        at_hand: the same rows, where they are few, or lie in files of this machine, and so are looked at without Spark;
            they need only have the columns that `statement` names.
        scratch: folder for what looking at them takes; None = they are few.
    """

    rows: Mapping[str, DataFrame]
    specs: Sequence[TableSpec]
    laws: Sequence[Law]
    thresholds: Thresholds
    at_hand: Mapping[str, pa.Table | RowFiles] | None = None
    scratch: Path | None = None

    def verdicts(self, spark: SparkSession) -> list[Verdict]:
        """Return what became of each check and law; of rows of several clusters, those of all together."""
        found = {(row["table"], row["check"]): row for row in self.broken(spark)}
        return [
            Verdict(spec, name, meaning, is_critical, *_of(found.get((spec.name, name))))
            for spec, name, meaning, is_critical in self._asked()
        ]

    def broken(self, spark: SparkSession) -> Sequence[Mapping[str, Any]]:
        """Return which of them are broken, by cluster: the columns of `statements.FOUND`."""
        if self.at_hand is None:
            return [row.asDict() for row in self._run(spark, self.statement).collect()]
        tables = {name: self.at_hand[name] for name in self._read}
        asked = [self.statement] if self.scratch is None else statements.found_apart(self.specs, self.laws)
        return ask(asked, tables, self.thresholds, self.scratch)

    @property
    def statement(self) -> str:
        """The SQL that is asked."""
        return statements.found(self.specs, self.laws)

    def offending(self, spark: SparkSession, verdicts: Sequence[Verdict]) -> DataFrame:
        """Return the rows behind verdicts: table, check, and the row as JSON."""
        names = {(verdict.table.name, verdict.check) for verdict in verdicts}
        queries = {
            (spec.name, check.name): statements.broken(spec, check) for spec in self.specs for check in checks_of(spec)
        } | {(law.table, law.name): law.certain for law in self.laws}
        return self._run(spark, statements.rows_of({key: query for key, query in queries.items() if key in names}))

    def _asked(self) -> list[tuple[TableSpec, str, str, bool]]:
        checks = [
            (spec, check.name, check.meaning, check.is_critical) for spec in self.specs for check in checks_of(spec)
        ]
        return [*checks, *((law.spec, *told) for law in self.laws for told in law.verdicts)]

    @property
    def _read(self) -> set[str]:
        return {spec.name for spec in self.specs} | {name for law in self.laws for name in law.reads}

    def _run(self, spark: SparkSession, statement: str) -> DataFrame:
        rows: dict[str, Any] = {name: _completed(self.rows[name]) for name in self._read}
        return spark.sql(self.thresholds.put_into(statement), **rows)


def _completed(rows: DataFrame) -> DataFrame:
    """Add what laws ask for where a table lacks it."""
    missing = lacking(rows.columns)
    return rows.selectExpr("*", *missing) if missing else rows


def _of(row: Mapping[str, Any] | None) -> tuple[int, tuple[str, ...]]:
    return (row["failed_row_count"], tuple(row["sample"])) if row else (0, ())
