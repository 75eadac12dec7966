"""Rows of gold as a run finds them that goes on: what was settled before is known, the rest is what the run gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.lake.rows import fetched
from schemas.catalog import BY_NAME
from schemas.tables.gold import GENERATIONS
from tests.support.answers import answered
from tests.support.damage import Row, Tables
from transforms.given_rows import held, told_apart
from transforms.gold.timelines.columns import TABLES
from transforms.gold.timelines.evidence import GROUP
from transforms.gold.timelines.looking_back import IS_KNOWN, OF_GENERATIONS, known_from, looked_at

_REPLAYED = tuple(spec.name for spec in TABLES if "life" in spec.columns)

_LATE_S = 4_000_000_000

Key = tuple[int, int]


def first_new(tables: Tables, share: float) -> Mapping[str, Key]:
    """By group, the first generation that is not known if a share of its generations is."""
    keys: dict[str, list[Key]] = {}
    for row in tables["generations"]:
        keys.setdefault(row["group_id"], []).append((row["life"], row["generation"]))
    found = {group: sorted(of_group) for group, of_group in keys.items()}
    return {
        group: of_group[min(max(int(len(of_group) * share), 1), len(of_group) - 1)] for group, of_group in found.items()
    }


def parted(name: str, rows: list[Row], first: Mapping[str, Key]) -> tuple[list[Row], list[Row]]:
    """Return the rows of a table that are known, and those that are not."""
    if name not in _REPLAYED:
        return [], rows
    is_known = _is_known(name, first)
    return [row for row in rows if is_known(row)], [row for row in rows if not is_known(row)]


def _is_known(name: str, first: Mapping[str, Key]) -> Callable[[Row], bool]:
    """A change of state is settled once the generation is that it leads to, a stay once its last one is."""
    column = {"member_sessions": "last_generation"}.get(name, "generation")

    def is_known(row: Row) -> bool:
        until = first.get(row["group_id"])
        if until is None or "life" not in row or row.get(column) is None:
            return False
        return bool((row["life"], row[column]) < until)

    return is_known


def _at_hand(rows: DataFrame) -> DataFrame:
    return held(rows.sparkSession, fetched(rows), rows.schema.toNullable())


def as_looked_at(known: Mapping[str, DataFrame], new: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Return what the gate looks at of each table."""
    groups = reduce(DataFrame.unionByName, (known[name].select(*GROUP) for name in known.keys() & {*_REPLAYED}))
    every = groups.distinct().withColumn("taken_until", F.lit(float("inf")))
    told = {spec: _at_hand(new[spec.name]) for spec in OF_GENERATIONS}
    generations = {GENERATIONS: _at_hand(known["generations"])}
    first = answered(every.sparkSession, known_from(_at_hand(every), told), generations)
    seen: dict[str, Any] = {**new}
    for name in known.keys() & {*_REPLAYED}:
        staying = looked_at(BY_NAME[name], None, first).of(_settled(known[name]))
        seen[name] = told_apart(new[name], staying, IS_KNOWN)
    return seen


def _settled(rows: DataFrame) -> DataFrame:
    """Let rows be settled that are known; those of a capture's end are not."""
    settled_at = F.coalesce("settled_at", F.timestamp_seconds(F.lit(_LATE_S)))
    return rows.withColumns({"is_settled": F.lit(True), "settled_at": settled_at})
