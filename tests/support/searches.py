"""Storms and bursts of whole tables: as Spark finds them, and as the job does without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame

from jobs.findings.by_duckdb import BYTES_OF_A_SHARE, Source, searched_in
from jobs.frame.keeping import staged
from schemas.table import TableSpec
from schemas.tables.gold import GENERATIONS
from schemas.tables.silver import CLIENT_EVENTS, GROUP_REQUESTS
from transforms.findings.storms.limits import Thresholds
from transforms.gold.findings.kernel import by_workers
from transforms.gold.findings.search import Search
from transforms.gold.illegal_generation_bursts import REFUSED, burst_search, refusals
from transforms.gold.rebalance_storms import storm_search, with_clients

Tables = Mapping[TableSpec, DataFrame]
Way = Callable[[Search, Mapping[str, DataFrame]], DataFrame]


def by_spark(search: Search, tables: Mapping[str, DataFrame]) -> DataFrame:
    """Search by Spark."""
    return search.by_spark(search.read(tables), staged, by_workers)


def by_duckdb(search: Search, tables: Mapping[str, DataFrame], folder: Path | None = None) -> DataFrame:
    """Search in this process; with a folder, in processes of which three share the groups."""
    read = {name: rows.toArrow() for name, rows in search.read(tables).items()}
    size = 0 if folder is None else 3 * BYTES_OF_A_SHARE
    sources = {name: Source(rows, size // len(read)) for name, rows in read.items()}
    return searched_in(next(iter(tables.values())).sparkSession, search, sources, folder)


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
