"""Findings of whole tables: as Spark finds them, and as the job does without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.findings.by_duckdb import BYTES_OF_A_SHARE, Source, searched_in
from jobs.frame.keeping import staged
from jobs.lake.duckdb_files import in_files
from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, COMMIT_GAPS, GENERATIONS, STANDING_COMMITS
from schemas.tables.silver import CLIENT_EVENTS, GROUP_REQUESTS, OFFSET_COMMITS
from tests.support.answers import answered
from transforms.findings.storms.limits import Thresholds
from transforms.given_rows import given, held
from transforms.gold.commit_gaps import OWNED, OWNED_ROWS, commit_gaps, owned
from transforms.gold.findings.commits import LINES, standing, together
from transforms.gold.findings.kernel import by_workers
from transforms.gold.findings.search import CUTS, Search
from transforms.gold.illegal_generation_bursts import REFUSED, burst_search, refusals
from transforms.gold.offset_rewinds import STEP_ROWS, STEPS, rewind_search, steps
from transforms.gold.rebalance_storms import storm_search, with_clients
from transforms.question import Question
from transforms.sql import truth

Tables = Mapping[TableSpec, DataFrame]
Way = Callable[[Search, Mapping[str, DataFrame]], DataFrame]


def by_spark(search: Search, tables: Mapping[str, DataFrame]) -> DataFrame:
    """Search by Spark."""
    return search.by_spark(search.read(tables), staged, by_workers)


def by_duckdb(
    search: Search, tables: Mapping[str, DataFrame], folder: Path | None = None, shares: int = 3
) -> DataFrame:
    """Search in this process; with a folder, in processes that share the groups, and read the tables' files."""
    read = {name: rows.toArrow() for name, rows in search.read(tables).items()}
    size = 0 if folder is None else shares * search.breadth * BYTES_OF_A_SHARE
    sources = {name: Source(_query(rows, folder), size // len(read)) for name, rows in read.items()}
    return searched_in(next(iter(tables.values())).sparkSession, search, sources, folder)


def _query(rows: pa.Table, folder: Path | None) -> pa.Table | str:
    if folder is None:
        return rows
    file = str(folder / f"{uuid4().hex}.parquet")
    parquet.write_table(rows, file)
    return in_files([file])


def rewinds(tables: Tables, jump: int, retention_ms: int, way: Way = by_spark) -> DataFrame:
    """Return the steps of committed offsets of all groups; of tables there are commits and generations at least."""
    commits = tables[OFFSET_COMMITS]
    found = Question(steps(jump), (), STEP_ROWS, {OFFSET_COMMITS.name: _held(commits)})
    named = {STEPS: answered(commits.sparkSession, found, {}), **{spec.name: rows for spec, rows in tables.items()}}
    return way(rewind_search(tables, retention_ms), named)


def gaps(tables: Tables, silent_ms: int, lines: Mapping[str, float] | None = None, line: float = 0.0) -> DataFrame:
    """Return the partitions that miss commits, as Spark and DuckDB both find them.

    Args:
        tables: commits and assignments at least.
        silent_ms: how long a partition may be owned without a commit.
        lines: by group, up to where was looked before; None = nowhere.
        line: where they lie at most.
    """
    spark = tables[OFFSET_COMMITS].sparkSession
    named = {spec.name: _held(rows) for spec, rows in tables.items()}
    named = {spec.name: given(spark, struct_type(spec)) for spec in (GROUP_REQUESTS, COMMIT_GAPS)} | named
    at = None if lines is None else line
    rows = [{"cluster": "demo", "group_id": group, "line": until} for group, until in (lines or {}).items()]
    named[LINES] = given(spark, "cluster STRING, group_id STRING, line DOUBLE", rows)
    named[OWNED] = answered(spark, Question(owned(silent_ms, at), (), OWNED_ROWS, named), {})
    return answered(spark, Question(commit_gaps(silent_ms, at), (), struct_type(COMMIT_GAPS), named), {})


def stand(tables: Tables, line: float) -> DataFrame:
    """Return what is to stand for commits up to a moment (epoch ms), as Spark and DuckDB both tell it."""
    spark = tables[OFFSET_COMMITS].sparkSession
    named = {spec.name: _held(tables[spec]) for spec in (OFFSET_COMMITS, ASSIGNMENTS, GENERATIONS)}
    return answered(spark, Question(standing(line), (), struct_type(STANDING_COMMITS), named), {})


def with_younger(standing_commits: DataFrame, since: DataFrame, line: float) -> DataFrame:
    """Return commits that stand and younger ones, as Spark and DuckDB both tell it.

    Args:
        standing_commits: those that stand up to the line.
        since: those behind the line, and older ones that are new.
        line: the line (epoch ms).
    """
    rows = standing_commits.select("cluster", "group_id").unionByName(since.select("cluster", "group_id")).distinct()
    groups = rows.withColumn("since", F.lit(float("inf")))
    named = {STANDING_COMMITS.name: standing_commits, OFFSET_COMMITS.name: since, CUTS: groups}
    beside = {name: _held(rows) for name, rows in named.items()}
    question = Question(together(line, truth(True)), (), struct_type(STANDING_COMMITS), beside)
    return answered(since.sparkSession, question, {})


def _held(rows: DataFrame) -> DataFrame:
    return held(rows.sparkSession, rows.toArrow(), rows.schema.toNullable())


def storms(tables: Tables, thresholds: Thresholds, seen_until: float | None = None, way: Way = by_spark) -> DataFrame:
    """Return the storms of all groups; of tables there are the generations at least."""
    assert GENERATIONS in tables
    read = with_clients(tables, tables)
    return way(storm_search(read, thresholds, seen_until), {spec.name: rows for spec, rows in read.items()})


def bursts(
    tables: Tables, gap_ms: int, min_errors: int, seen_until: float | None = None, way: Way = by_spark
) -> DataFrame:
    """Return the bursts of all groups; of tables there are the requests at least."""
    told = refusals(tables, tables, tables[GROUP_REQUESTS], gap_ms)
    read = {spec.name: rows for spec, rows in tables.items() if spec is not CLIENT_EVENTS}
    read |= {} if told is None else {REFUSED: told}
    return way(burst_search(tables, told is not None, gap_ms, min_errors, seen_until), read)
