"""The ids of findings: they stay while a finding grows, and when evidence that comes late moves its begin."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas.tables.gold import FINDINGS, KNOWN_FINDINGS, REBALANCE_STORMS
from tests.support.answers import answered
from tests.support.frames import to_frame, to_rows
from tests.unit.findings.golden import complete
from transforms.findings.handover.kinds import KINDS
from transforms.gold.known_findings import identified, with_own_id

pytestmark = pytest.mark.spark

Row = dict[str, Any]
Spans = dict[str, list[tuple[float, float]]]
"""Storms by group: begin and end."""


class Memory:
    """Runs one after the other, each of which remembers what the ones before have seen."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._known: list[Row] = []
        self._runs = 0

    def storms(self, spans: Spans) -> dict[tuple[str, float], tuple[str, bool]]:
        """Id of each storm by group and begin, and whether it is new."""
        rows = [
            complete("rebalance_storms", {"group_id": group, "started_at": begin, "ended_at": end})
            for group, of_group in spans.items()
            for begin, end in of_group
        ]
        found = self._run({REBALANCE_STORMS: to_frame(self._spark, REBALANCE_STORMS, rows)})
        return {(row["group_id"], row["started_at"]): (row["finding_id"], row["is_new"]) for row in found}

    def findings(self, **rows: list[Row]) -> list[tuple[str, str, bool]]:
        """Kind, group and whether it is new, of findings of any table."""
        tables = {spec: [complete(spec.name, row) for row in rows.get(spec.name, [])] for spec in FINDINGS}
        found = self._run({spec: to_frame(self._spark, spec, of_table) for spec, of_table in tables.items()})
        assert len({row["finding_id"] for row in found}) == len(found)
        return sorted((row["finding_kind"], row["group_id"], row["is_new"]) for row in found)

    def _run(self, tables: dict[Any, DataFrame]) -> list[Row]:
        self._runs += 1
        asked = identified("true")
        known_before = {KNOWN_FINDINGS: to_frame(self._spark, KNOWN_FINDINGS, self._known)}
        frames = {spec: to_frame(self._spark, spec, []) for spec in asked.read} | tables | known_before
        found = to_rows(answered(self._spark, asked, frames).withColumn("is_new", F.col("first_seen_at").isNull()))
        news = to_rows(answered(self._spark, identified(), frames))
        told = [row["finding_id"] for row in found if row["is_new"] or row["is_changed"]]
        assert sorted(row["finding_id"] for row in news) == sorted(told)
        assert len({row["finding_id"] for row in found}) == len(found), "an id stands for one finding"
        known = {row["finding_id"]: row for row in self._known}
        for row in found:
            assert (
                row["is_new"]
                or row["is_changed"]
                or (row["started_at"], row["ended_at"])
                == (
                    known[row["finding_id"]]["started_at"],
                    known[row["finding_id"]]["ended_at"],
                )
            )
            first = row["first_seen_at"] if row["first_seen_at"] is not None else float(self._runs)
            known[row["finding_id"]] = {name: row[name] for name in KNOWN_FINDINGS.columns} | {"first_seen_at": first}
        self._known = list(known.values())
        return found


def test_the_id_of_a_finding_is_the_one_that_it_always_had(spark: SparkSession) -> None:
    """Whoever was told of it under that name would be told once more."""
    kinds = {kind.name: kind for kind in KINDS}
    drawn = {
        "rebalance_storm": {"group_id": "grüße", "started_at": 1_790_000_000_123.0},
        "illegal_generation_burst": {"group_id": "a'b", "started_at": 5.0, "error": "UNKNOWN_MEMBER_ID"},
        "commit_gap": {"group_id": "", "generation": 7, "topic": "t-1", "partition": 11},
    }
    told = {}
    for name, row in drawn.items():
        spec = kinds[name].spec
        (found,) = with_own_id(kinds[name], to_frame(spark, spec, [complete(spec.name, row)])).collect()
        told[name] = found.own_id
    assert told == {
        "rebalance_storm": "d9b4091e1e7d9ede",
        "illegal_generation_burst": "a0082f4cde29cece",
        "commit_gap": "0d6cd8c31a44b235",
    }


def test_a_storm_keeps_its_id_while_it_grows_and_when_its_begin_moves(spark: SparkSession) -> None:
    memory = Memory(spark)
    first = memory.storms({"shop": [(1000, 2000)]})
    (found, is_new) = first["shop", 1000]
    assert is_new
    assert memory.storms({"shop": [(1000, 2000)]}) == {("shop", 1000): (found, False)}
    assert memory.storms({"shop": [(1000, 9000)]}) == {("shop", 1000): (found, False)}
    assert memory.storms({"shop": [(400, 9000)]}) == {("shop", 400): (found, False)}
    assert memory.storms({"shop": [(400, 9000)], "other": [(400, 9000)]})["other", 400][1]


def test_storms_that_turn_out_to_be_one_have_the_older_id_and_one_that_is_two_has_one_new(spark: SparkSession) -> None:
    memory = Memory(spark)
    apart = memory.storms({"shop": [(1000, 2000), (5000, 6000)]})
    one = memory.storms({"shop": [(900, 6000)]})
    assert one == {("shop", 900): (apart["shop", 1000][0], False)}
    again = memory.storms({"shop": [(900, 2000), (5000, 6000), (7000, 8000)]})
    assert again["shop", 5000] == (apart["shop", 5000][0], False)
    assert again["shop", 900] == (apart["shop", 1000][0], False)
    assert again["shop", 7000][1]


def test_a_storm_whose_key_made_an_id_keeps_it_though_an_earlier_one_overlaps(spark: SparkSession) -> None:
    memory = Memory(spark)
    first = memory.storms({"shop": [(1000, 2000)]})
    moved = memory.storms({"shop": [(500, 3000)]})
    split = memory.storms({"shop": [(500, 800), (1000, 3000)]})
    assert moved["shop", 500] == split["shop", 1000] == (first["shop", 1000][0], False)
    assert split["shop", 500][1]


def test_a_finding_that_went_and_comes_back_is_not_new(spark: SparkSession) -> None:
    memory = Memory(spark)
    memory.storms({"shop": [(1000, 2000)]})
    assert memory.storms({}) == {}
    assert memory.storms({"shop": [(1000, 2000)]})["shop", 1000][1] is False


def test_findings_of_all_kinds_are_new_once(spark: SparkSession) -> None:
    """Bursts of two errors at the same time are two; so are rewinds of one partition, and groups with odd names."""
    storm = {"started_at": 1000.0, "ended_at": 2000.0}
    rows: dict[str, list[Row]] = {
        "rebalance_storms": [{**storm, "group_id": "a"}, {**storm, "group_id": "a\0b"}, {**storm, "group_id": "a-b"}],
        "illegal_generation_bursts": [
            {**storm, "group_id": "a", "error": error} for error in ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION")
        ],
        "offset_rewinds": [
            {
                "group_id": "a",
                "topic_partition_of_record": 1,
                "record_offset": n,
                "topic": "t",
                "partition": 0,
                "at": at,
            }
            for n, at in ((1, 5.0), (2, 5.0), (3, None))
        ],
        "commit_gaps": [
            {"group_id": "a", "generation": 1, "topic": "t", "partition": partition} for partition in (1, 2)
        ],
    }
    memory = Memory(spark)
    first = memory.findings(**rows)
    assert len(first) == 10
    assert all(is_new for *_, is_new in first)
    assert memory.findings(**rows) == [(kind, group, False) for kind, group, _ in first]
    more = {
        **rows,
        "commit_gaps": [*rows["commit_gaps"], {"group_id": "a", "generation": 2, "topic": "t", "partition": 1}],
    }
    assert [told for told in memory.findings(**more) if told[2]] == [("commit_gap", "a", True)]
