"""Offsets that go astray, and commits that are missing: which are told of, in Spark."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas.spark import struct_type
from schemas.tables.gold import ASSIGNMENTS, COMMIT_GAPS, GENERATIONS, OFFSET_REWINDS
from schemas.tables.silver import GROUP_REQUESTS, OFFSET_COMMITS
from tests.support.frames import to_frame, to_rows
from tests.support.searches import Way, by_duckdb, by_spark, gaps, rewinds
from tests.unit.findings.golden import complete
from transforms.gold.commit_gaps import AT_REBALANCE_US

pytestmark = pytest.mark.spark

Row = dict[str, Any]

JUMP, RETENTION_MS, SILENT_MS = 1_000, 100_000, 5_000

BOTH_WAYS = pytest.mark.parametrize("way", [by_spark, by_duckdb])


def commits(group: str, *offsets: int | None, txn: dict[int, str] | None = None, partition: int = 0) -> list[Row]:
    """Commits a second apart; None is a tombstone; `txn` says how transactions ended, by place."""
    return [
        complete(
            "offset_commits",
            {
                "group_id": group,
                "topic": "t",
                "partition": partition,
                "topic_partition_of_record": 7,
                "record_offset": 1000 * partition + place,
                "recorded_at": 1000.0 * place,
                "committed_offset": offset,
                "is_tombstone": offset is None,
                "txn_state": (txn or {}).get(place, "none"),
            },
        )
        for place, offset in enumerate(offsets)
    ]


@BOTH_WAYS
def test_only_steps_that_are_worth_telling_are_told(spark: SparkSession, way: Way) -> None:
    rows = [
        *commits("forward", 1, 2, 2, 1002),
        *commits("back", 10, 20, 15, 16),
        *commits("far", 1, 1002),
        *commits("gone", 5, None, 1, None, None),
        *commits("aborted", 10, 50, 20, 30, txn={1: "aborted"}),
        *commits("aborted_and_done_again", 10, 50, 50, txn={1: "aborted"}),
        *commits("open", 10, 50, 20, txn={1: "open"}),
        *commits("back_after_an_abort", 10, 50, 5, txn={1: "aborted"}),
    ]
    tables = {OFFSET_COMMITS: to_frame(spark, OFFSET_COMMITS, rows), GENERATIONS: to_frame(spark, GENERATIONS, [])}
    found = {
        (row["group_id"], row["record_offset"], row["kind"], row["origin"], row["from_offset"], row["to_offset"])
        for row in to_rows(rewinds(tables, JUMP, RETENTION_MS, way))
    }
    assert found == {
        ("back", 2, "rewind", "unknown", 20, 15),
        ("far", 1, "jump", "unknown", 1, 1002),
        ("gone", 1, "deleted", "unknown", 5, None),
        ("gone", 3, "deleted", "unknown", 1, None),
        ("aborted", 2, "rewind", "transaction_aborted", 50, 20),
        ("back_after_an_abort", 2, "rewind", "unknown", 10, 5),
    }


def assignment(group: str, partition: int, generation: int, member: str, since: float, until: float | None) -> Row:
    return complete(
        "assignments",
        {
            "group_id": group,
            "generation": generation,
            "member_id": member,
            "client_id": f"c-{member}",
            "topic": "t",
            "partition": partition,
            "valid_from": since,
            "valid_to": until,
        },
    )


@BOTH_WAYS
def test_who_is_behind_a_step_is_found_in_the_other_tables(spark: SparkSession, way: Way) -> None:
    request = complete(
        "group_requests",
        {"group_id": "asked", "api": "OffsetCommit", "answered_at": 2010.0, "handled_at": 1990.0, "member_id": "m"}
        | {"client_id": "c", "generation": 4},
    )
    begun = complete("generations", {"group_id": "owned", "generation": 4, "preparing_at": 1500.0})
    tables = {
        OFFSET_COMMITS: to_frame(spark, OFFSET_COMMITS, [*commits("asked", 1, 9, 5), *commits("owned", 1, 9, 5)]),
        GENERATIONS: to_frame(spark, GENERATIONS, [begun]),
        ASSIGNMENTS: to_frame(spark, ASSIGNMENTS, [assignment("owned", 0, 4, "o", 1600.0, None)]),
        GROUP_REQUESTS: to_frame(spark, GROUP_REQUESTS, [request]),
    }
    found = {
        row["group_id"]: (row["origin"], row["member_id"], row["generation"], row["is_at_rebalance"])
        for row in to_rows(rewinds(tables, JUMP, RETENTION_MS, way))
    }
    assert found == {"asked": ("member", "m", 4, None), "owned": ("member", "o", 4, True)}


def test_a_partition_that_nobody_commits_is_told_of_while_the_group_commits_others(spark: SparkSession) -> None:
    """Partition 0 is committed every second for twelve seconds; what the other partitions do differs."""
    busy = [(group, 0, 1, "a", 0.0, None) for group in ("mixed", "late", "short")]
    quiet = [("mixed", 1, 1, "b", 0.0, None), ("late", 1, 1, "b", 0.0, None), ("short", 1, 1, "b", 0.0, 4000.0)]
    rows = [row for group, *_ in busy for row in commits(group, *range(12))]
    late = {**commits("late", 7, partition=1)[0], "recorded_at": 6000.0}
    never = [("nothing", 0, 1, "a", 0.0, None)]
    tables = {
        OFFSET_COMMITS: to_frame(spark, OFFSET_COMMITS, [*rows, late]),
        ASSIGNMENTS: to_frame(spark, ASSIGNMENTS, [assignment(*row) for row in (*busy, *quiet, *never)]),
    }
    found = {
        (row["group_id"], row["partition"], row["kind"], row["member_id"], row["owned_ms"], row["first_commit_at"])
        for row in to_rows(gaps(tables, SILENT_MS))
    }
    assert found == {("mixed", 1, "silent", "b", 11_000, None), ("late", 1, "silent", "b", 6_000, 6_000.0)}


def test_of_several_owners_in_one_generation_the_one_is_told_of_that_was_silent_longest(spark: SparkSession) -> None:
    """A static member is replaced twice without a rebalance: its partition has three owners in one generation."""
    owners = [(1, 1, "b", 0.0, 3000.0), (1, 1, "c", 3000.0, 9500.0), (1, 1, "d", 9500.0, None)]
    tables = {
        OFFSET_COMMITS: to_frame(spark, OFFSET_COMMITS, commits("g", *range(15))),
        ASSIGNMENTS: to_frame(spark, ASSIGNMENTS, [assignment("g", *row) for row in ((0, 1, "a", 0.0, None), *owners)]),
    }
    found = [(row["partition"], row["member_id"], row["owned_ms"]) for row in to_rows(gaps(tables, 2_500))]
    assert found == [(1, "c", 6_500)]


def refusal(at: float, member: str, *partitions: int) -> Row:
    sent = [{"topic": "t", "partition": partition, "offset": 9} for partition in partitions]
    given = {"group_id": "shop", "api": "OffsetCommit", "answered_at": at, "member_id": member, "sent_offsets": sent}
    return complete("group_requests", {**given, "error": "UNKNOWN_MEMBER_ID"})


def test_a_commit_that_was_refused_is_lost_to_the_next_owner(spark: SparkSession) -> None:
    """Partition 0 is refused between two generations, 1 when it has a new owner, 2 to its own owner, 3 at the end."""
    held = [
        *((0, 1, "a", 0.0, 2000.0), (0, 2, "b", 2500.0, None)),
        *((1, 1, "a", 0.0, 2000.0), (1, 2, "b", 2500.0, 9000.0), (1, 3, "b", 9500.0, None)),
        *((2, 1, "a", 0.0, 2000.0), (2, 2, "b", 2500.0, 9000.0), (2, 3, "c", 9500.0, None)),
        (3, 1, "a", 0.0, 2000.0),
    ]
    refused = [refusal(2200.0, "a", 0), refusal(3000.0, "a", 1), refusal(8000.0, "b", 2), refusal(3000.0, "a", 3)]
    tables = {
        OFFSET_COMMITS: to_frame(spark, OFFSET_COMMITS, commits("shop", 1, 2, 3, 4)),
        ASSIGNMENTS: to_frame(spark, ASSIGNMENTS, [assignment("shop", *row) for row in held]),
        GROUP_REQUESTS: to_frame(spark, GROUP_REQUESTS, refused),
    }
    found = {
        (
            row["partition"],
            row["generation"],
            row["kind"],
            row["member_id"],
            row["last_commit_at"],
            row["first_commit_at"],
            row["refused_at"],
        )
        for row in to_rows(gaps(tables, 100_000))
    }
    assert found == {
        (0, 2, "lost", "b", 2000.0, 3000.0, 2200.0),
        (1, 2, "lost", "b", None, None, 3000.0),
        (2, 3, "lost", "c", None, None, 8000.0),
    }


def test_who_had_a_partition_that_is_over_took_what_was_refused_then(spark: SparkSession) -> None:
    """Two owners came after the one that was refused; the first of them is judged no more, and the second lost nothing.

    What was found before, of what is not looked through again, stays: partition 1 has lost a commit, 2 was silent.
    """
    held = [
        assignment("shop", 0, 2, "b", 2500.0, 9000.0),
        assignment("shop", 0, 3, "c", 9500.0, None),
        assignment("shop", 1, 3, "c", 9500.0, None),
        assignment("shop", 2, 3, "c", 1000.0, None),
    ]
    owner = {"cluster": "demo", "group_id": "shop", "topic": "t", "life": 1, "generation": 3, "member_id": "c"}
    known = [
        {**owner, "partition": 1, "kind": "lost", "refused_at": 1000.0},
        {**owner, "partition": 2, "kind": "silent", "first_commit_at": 11_000.0},
    ]
    made = [*commits("shop", *range(20)), *commits("shop", *[None] * 11, 5, partition=2)]
    tables = {
        OFFSET_COMMITS: to_frame(spark, OFFSET_COMMITS, made),
        ASSIGNMENTS: to_frame(spark, ASSIGNMENTS, held),
        GROUP_REQUESTS: to_frame(spark, GROUP_REQUESTS, [refusal(3000.0, "a", 0)]),
        COMMIT_GAPS: to_frame(spark, COMMIT_GAPS, [complete("commit_gaps", row) for row in known]),
    }
    line = AT_REBALANCE_US / 1000 + 2000.0
    found = to_rows(gaps(tables, 100_000, {"shop": line}, line))
    assert sorted((row["partition"], row["kind"], row["refused_at"], row["owned_ms"]) for row in found) == [
        (1, "lost", 1000.0, 9_500),
        (2, "silent", None, 10_000),
    ]


@BOTH_WAYS
def test_tables_have_the_columns_and_types_of_the_contract(spark: SparkSession, way: Way) -> None:
    empty = {spec: to_frame(spark, spec, []) for spec in (OFFSET_COMMITS, GENERATIONS, ASSIGNMENTS, GROUP_REQUESTS)}
    frames = {
        OFFSET_REWINDS: rewinds(empty, JUMP, RETENTION_MS, way),
        COMMIT_GAPS: gaps(empty, SILENT_MS),
    }
    for spec, frame in frames.items():
        assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
            (field.name, field.dataType.simpleString()) for field in struct_type(spec)
        ]
        assert frame.collect() == []
