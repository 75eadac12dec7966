"""How groups are now: drawn tables in, one row a group out."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, GENERATIONS, GROUP_HEALTH, STANDING_COMMITS
from schemas.tables.silver import OFFSET_COMMITS
from tests.support.answers import answered
from tests.support.frames import to_frame, to_rows
from tests.unit.findings.golden import complete
from transforms.gold.findings.commits import is_after, standing, together
from transforms.gold.group_health import IS_AGEING, IS_TO_BE_LOOKED_AT, aged, group_health
from transforms.question import Question

pytestmark = pytest.mark.spark

Row = dict[str, Any]

HOUR = 3_600_000
NOW = 40.0 * 24 * HOUR
LINE = NOW - 1.0
"""What lies before it, commits stand for."""


def tables_of(spark: SparkSession, **rows: list[Row]) -> dict[TableSpec, DataFrame]:
    """Tables out of rows; each table's name is an argument. Commits are recorded in the order of their times."""
    commits = sorted(rows.get("offset_commits", []), key=lambda row: float(row["recorded_at"]))
    rows["offset_commits"] = [
        {**row, "topic_partition_of_record": 0, "record_offset": number} for number, row in enumerate(commits)
    ]

    def table(spec: TableSpec) -> DataFrame:
        return to_frame(spark, spec, [complete(spec.name, row) for row in rows.get(spec.name, [])])

    tables = {spec: table(spec) for spec in (*group_health(NOW).read, OFFSET_COMMITS)}
    stand = standing(tables[OFFSET_COMMITS], tables[ASSIGNMENTS], tables[GENERATIONS], LINE)
    return {**tables, STANDING_COMMITS: to_frame(spark, STANDING_COMMITS, to_rows(stand))}


def health(spark: SparkSession, now: float | None = NOW, **rows: list[Row]) -> dict[str, Row]:
    """The rows of health by group: the same out of all commits as out of those that stand."""
    tables = tables_of(spark, **rows)
    by_all, by_standing = (
        to_rows(answered(spark, asked, reading(tables, asked)))
        for asked in (group_health(now, OFFSET_COMMITS), group_health(now))
    )
    assert sorted(map(repr, by_all)) == sorted(map(repr, by_standing))
    return {row["group_id"]: row for row in by_standing}


def transition(group: str, seq: int, at: float | None, state: str, life: int = 1, generation: int = 1) -> Row:
    return {"group_id": group, "life": life, "seq": seq, "at": at, "to_state": state, "generation": generation}


def generation(group: str, number: int, at: float | None, **more: Any) -> Row:
    return {"group_id": group, "generation": number, "preparing_at": at, **more}


def commit(group: str, at: float, partition: int = 0, **more: Any) -> Row:
    return {"group_id": group, "topic": "t", "partition": partition, "recorded_at": at, **more}


def test_a_group_is_in_its_last_life_in_the_state_it_entered_last(spark: SparkSession) -> None:
    found = health(
        spark,
        transitions=[
            transition("shop", 9, NOW - 9 * HOUR, "Stable", life=1, generation=40),
            transition("shop", 1, NOW - 3 * HOUR, "PreparingRebalance", life=2, generation=0),
            transition("shop", 2, NOW - 2 * HOUR, "Stable", life=2, generation=1),
        ],
        member_sessions=[
            {"group_id": "shop", "life": 1, "member_id": "old"},
            {"group_id": "shop", "life": 2, "member_id": "gone", "ended_at": NOW - HOUR, "end_cause": "left"},
            {"group_id": "shop", "life": 2, "member_id": "here"},
        ],
    )
    row = found["shop"]
    assert (row["life"], row["state"], row["generation"], row["member_count"]) == (2, "Stable", 1, 1)
    assert (row["at"], row["entered_at"], row["group_type"]) == (NOW, NOW - 2 * HOUR, "classic")


def test_a_rebalance_counts_in_each_window_it_lies_in_and_time_is_cut_at_the_window(spark: SparkSession) -> None:
    """Two rebalances: one began 90 minutes ago and took an hour; one began a minute ago and is under way. Of one before
    the data begin nothing is known.
    """
    found = health(
        spark,
        transitions=[
            transition("shop", 0, None, "PreparingRebalance"),
            transition("shop", 1, NOW - 10 * 24 * HOUR, "Stable"),
            transition("shop", 2, NOW - 1.5 * HOUR, "PreparingRebalance"),
            transition("shop", 3, NOW - 1.0 * HOUR, "CompletingRebalance"),
            transition("shop", 4, NOW - 0.5 * HOUR, "Stable"),
            transition("shop", 5, NOW - 60_000, "PreparingRebalance"),
        ],
        generations=[
            generation("shop", 1, NOW - 10 * 24 * HOUR),
            generation("shop", 2, NOW - 1.5 * HOUR),
            generation("shop", 3, NOW - 60_000),
            generation("shop", 4, None),
            generation("shop", 5, None, stable_at=NOW - HOUR / 2, trigger="coordinator_failover"),
        ],
    )
    row = found["shop"]
    assert [row[f"{name}_rebalance_count"] for name in ("hour", "day", "week")] == [1, 2, 2]
    assert [row[f"{name}_unstable_ms"] for name in ("hour", "day", "week")] == [
        HOUR // 2 + 60_000,
        HOUR + 60_000,
        HOUR + 60_000,
    ]
    assert row["last_rebalance_at"] == NOW - 60_000


def test_what_nobody_has_now_is_counted_and_what_somebody_has_again_is_not(spark: SparkSession) -> None:
    def orphan(group: str, partition: int, begin: float, end: float | None) -> Row:
        known = {"group_id": group, "topic": "t", "partition": partition, "from_at": begin, "to_at": end}
        return {**known, "group_type": "consumer", "generation": 3, "member_id": "m"}

    found = health(
        spark,
        transitions=[transition(name, 1, NOW - HOUR, "Stable") for name in ("shop", "mended", "calm")],
        orphaned_partitions=[
            orphan("shop", 0, NOW - 900, NOW - 600),
            orphan("shop", 0, NOW - 300, None),
            orphan("shop", 1, NOW - 500, None),
            orphan("mended", 0, NOW - 900, NOW - 600),
        ],
    )
    told = {name: (row["orphaned_partition_count"], row["orphaned_since"]) for name, row in found.items()}
    assert told == {"shop": (2, NOW - 500), "mended": (0, None), "calm": (0, None)}


def test_the_commit_interval_is_the_median_of_the_last_gaps_and_a_pause_does_not_move_it(spark: SparkSession) -> None:
    """Two partitions, committed in turn every five seconds, lastly with a pause of an hour; and what was usual before
    the last few commits, or in partitions that are long over, has no say.
    """
    begin = NOW - 2 * HOUR
    rows = [commit("shop", begin + 5000 * n + 100 * p + (HOUR if n > 9 else 0), p) for n in range(12) for p in range(2)]
    long_ago = [commit("quiet", NOW - 30 * HOUR + 700 * n) for n in range(3)]
    of_each = [commit("uneven", NOW - HOUR + at) for at in (0, 4000, 5000, 8000, 10_000)]
    faster = [commit("faster", NOW - HOUR + at) for at in (0, 60_000, 120_000, *range(121_000, 126_000, 1000))]
    moved = [commit("moved", NOW - 30 * HOUR + 100 * n, partition=n % 7) for n in range(40)]
    moved += [commit("moved", NOW - HOUR + 9000 * n, partition=7) for n in range(2)]
    undone = [commit("undone", NOW - HOUR + 1000 * n, txn_state="aborted" if n % 2 else "committed") for n in range(5)]
    found = health(
        spark,
        offset_commits=[*rows, *long_ago, commit("once", NOW - HOUR), *of_each, *faster, *moved, *undone],
    )
    assert {group: row["commit_interval_ms"] for group, row in found.items()} == {
        "shop": 5000,
        "uneven": 2000,
        "quiet": 700,
        "once": None,
        "faster": 1000,
        "moved": 9000,
        "undone": 2000,
    }


def test_who_keeps_offsets_where_is_told_apart(spark: SparkSession) -> None:
    """One group has both, one only assignments, one only offsets, and of one all offsets are gone."""
    held = [
        {"group_id": group, "member_id": "m", "topic": "t", "partition": 0, "generation": 1}
        for group in ("both", "elsewhere")
    ]
    found = health(
        spark,
        transitions=[transition(group, 1, NOW - HOUR, "Stable") for group in ("both", "elsewhere")],
        generations=[generation("both", 1, NOW - HOUR, evidence=["broker_log", "client_log"])],
        assignments=held,
        offset_commits=[
            *(commit("both", NOW - HOUR), commit("assigned", NOW - HOUR)),
            commit("deleted", NOW - HOUR, is_tombstone=True),
        ],
    )
    told = {group: (row["has_assignments"], row["has_commits"], row["state"]) for group, row in found.items()}
    assert told == {
        "both": (True, True, "Stable"),
        "elsewhere": (True, False, "Stable"),
        "assigned": (False, True, None),
    }
    kept = {group: row["offsets_kept_by"] for group, row in found.items()}
    assert kept == {"both": "members", "elsewhere": "elsewhere", "assigned": "consumers"}
    assert found["both"]["evidence"] == ["offsets", "broker_log", "client_log"]
    assert found["assigned"]["evidence"] == ["offsets"]


def test_whoever_committed_within_the_last_day_keeps_the_offsets(spark: SparkSession) -> None:
    def sent(group: str, at: float, error: str = "NONE", member: str = "", client: str = "lister") -> Row:
        place = {"group_id": group, "api": "OffsetCommit", "generation": 1 if member else -1, "error": error}
        return {**place, "answered_at": at, "member_id": member, "client_id": client}

    def refused(group: str, at: float) -> list[Row]:
        return [sent(group, at, member="m-1", client="m"), sent(group, at, "UNKNOWN_MEMBER_ID")]

    groups = ("shop", "mixed", "formerly", "forgetful", "empty", "reset", "elsewhere", "shared")
    last = {name: NOW - (30 if name == "formerly" else 1) * HOUR for name in groups}
    held = {"member_id": "m-1", "client_id": "m", "topic": "t", "generation": 1, "valid_from": NOW - 90 * HOUR}
    found = health(
        spark,
        transitions=[
            {**transition(name, 1, NOW - 90 * HOUR, "Stable"), "group_type": "share" if name == "shared" else "classic"}
            for name in groups
        ],
        generations=[
            generation(name, 2, NOW - 3 * HOUR, emptied_at=NOW - 3 * HOUR, ended_at=NOW) for name in ("empty", "reset")
        ],
        assignments=[{**held, "group_id": name, "partition": 0} for name in groups],
        member_sessions=[{"group_id": "forgetful", "member_id": "l-1", "client_id": "lister", "ended_at": NOW}],
        offset_commits=[
            commit(name, at + step)
            for name, at in last.items()
            if name not in ("elsewhere", "shared")
            for step in range(1 if name == "reset" else 3)
        ],
        group_requests=[row for name in ("mixed", "formerly", "forgetful") for row in refused(name, last[name])],
    )
    assert {name: row["offsets_kept_by"] for name, row in found.items()} == {
        "shop": "members",
        "mixed": "both",
        "formerly": "members",
        "forgetful": "members",
        "empty": "both",
        "reset": "members",
        "elsewhere": "elsewhere",
        "shared": None,
    }


@pytest.mark.parametrize("seed", range(3))
def test_commits_that_stand_tell_what_all_of_them_do_however_they_came(spark: SparkSession, seed: int) -> None:
    """Groups with members now and then, with and without transactions, in three runs; some end in a later one."""
    dice = random.Random(seed)
    groups = [f"g{number}" for number in range(12)]
    calm = groups[8:]  # they always have members, which commit what they own
    times = sorted(NOW - dice.random() * 20 * HOUR for _ in range(600))
    drawn = [
        commit(
            name := dice.choice(groups),
            at,
            partition=dice.choice((0, 0, 0, 1) if name in calm else (0, 0, 0, 1, 2)),
            is_tombstone=dice.random() < 0.1,
            txn_state=dice.choice(("none", "none", "committed", "aborted")),
        )
        for at in times
    ]
    emptied = [dice.random() * 20 * HOUR for _ in groups]
    tables = tables_of(
        spark,
        generations=[
            generation(name, 1, NOW - 20 * HOUR, emptied_at=NOW - ago, ended_at=NOW - ago * dice.random())
            for name, ago in zip(groups, emptied, strict=True)
            if name not in calm
        ],
        assignments=[
            {"group_id": name, "member_id": "m", "topic": "t", "partition": partition, "generation": 1}
            | {"valid_from": NOW - 20 * HOUR}
            for name in groups[::2]
            for partition in (0, 1)
        ],
        offset_commits=drawn,
    )
    commits, held, began = (tables[spec] for spec in (OFFSET_COMMITS, ASSIGNMENTS, GENERATIONS))
    undecided = dice.choice(times[100:190])  # of the transactions of that time, the first run does not know the end
    at = F.unix_micros("recorded_at") / 1000.0
    is_open = at.between(undecided, times[200]) & ~F.col("txn_state").isin("none")
    first = commits.where(at <= times[200]).withColumn(
        "txn_state", F.when(is_open, "open").otherwise(F.col("txn_state"))
    )
    stand, line = standing(first, held, began, times[190]), times[190]
    for until, next_line in ((times[400], times[390]), (times[-1], times[580])):
        since = commits.where(at <= until).where(is_after("recorded_at", line) | (at >= undecided))
        stand = standing(together(stand, since.withColumn("is_whole", F.lit(False)), line), held, began, next_line)
        stand, line = to_frame(spark, STANDING_COMMITS, to_rows(stand)), next_line
    by_standing, by_all = group_health(NOW), group_health(NOW, OFFSET_COMMITS)
    found = to_rows(answered(spark, by_standing, {**reading(tables, by_standing), STANDING_COMMITS: stand}))
    whole = to_rows(answered(spark, by_all, reading(tables, by_all)))
    told = ("group_id", "commit_interval_ms", "has_commits", "offsets_kept_by")
    assert sorted(told_of(found, told)) == sorted(told_of(whole, told))
    assert stand.count() < len(drawn) / 2
    assert len({row["offsets_kept_by"] for row in found}) > 2


def told_of(rows: list[Row], names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return [tuple(map(row.get, names)) for row in rows]


def test_the_last_storm_and_the_last_burst_stand_beside_it(spark: SparkSession) -> None:
    storm = {"group_id": "shop", "pattern": "crash_loop", "is_open": False}
    found = health(
        spark,
        transitions=[transition("shop", 1, NOW - HOUR, "Stable"), transition("calm", 1, NOW - HOUR, "Stable")],
        rebalance_storms=[
            {**storm, "started_at": NOW - 9 * HOUR, "ended_at": NOW - 8 * HOUR},
            {**storm, "started_at": NOW - 2 * HOUR, "ended_at": NOW, "pattern": "scaling", "is_open": True},
        ],
        illegal_generation_bursts=[
            {"group_id": "shop", "error": error, "started_at": at, "ended_at": at + 5, "suspected_cause": cause}
            for error, at, cause in (("UNKNOWN_MEMBER_ID", NOW - 7, "zombie"), ("ILLEGAL_GENERATION", NOW - 9, "x"))
        ],
    )
    shop, calm = found["shop"], found["calm"]
    assert (shop["last_storm_pattern"], shop["last_storm_started_at"], shop["last_storm_ended_at"]) == (
        "scaling",
        NOW - 2 * HOUR,
        NOW,
    )
    assert shop["is_last_storm_open"] is True
    assert (shop["last_burst_error"], shop["last_burst_cause"]) == ("UNKNOWN_MEMBER_ID", "zombie")
    assert (calm["last_storm_started_at"], calm["last_burst_error"], calm["is_last_storm_open"]) == (None, None, None)


def test_of_groups_without_news_time_alone_is_looked_at(spark: SparkSession) -> None:
    """They are a day older, and as if all of them had been looked at."""
    later = NOW + 24 * HOUR
    tables = tables_of(
        spark,
        transitions=[
            transition("busy", 1, NOW - 2 * HOUR, "PreparingRebalance"),
            transition("busy", 2, NOW - HOUR, "Stable"),
            transition("stuck", 1, NOW - HOUR, "PreparingRebalance"),
            transition("resting", 1, NOW - 800 * HOUR, "Stable"),
        ],
        generations=[generation("busy", 1, NOW - 2 * HOUR), generation("resting", 1, NOW - 800 * HOUR)],
        offset_commits=[commit("resting", NOW - HOUR - n) for n in range(4)],
    )
    tables[GROUP_HEALTH] = answered(spark, group_health(NOW), reading(tables, group_health(NOW)))
    ageing = tables[GROUP_HEALTH].where(IS_AGEING)
    assert sorted(row.group_id for row in ageing.collect()) == ["busy", "stuck"]
    assert ageing.where(IS_TO_BE_LOOKED_AT).collect() == []
    found = to_rows(answered(spark, aged(later), reading(tables, aged(later))))
    whole = to_rows(answered(spark, group_health(later), reading(tables, group_health(later))))
    assert sorted(map(repr, found)) == sorted(map(repr, whole))
    assert {row["group_id"]: (row["day_rebalance_count"], row["day_unstable_ms"]) for row in found} == {
        "busy": (0, 0),
        "stuck": (0, 24 * HOUR),
        "resting": (0, 0),
    }


def reading(tables: dict[TableSpec, DataFrame], asked: Question) -> dict[TableSpec, DataFrame]:
    return {spec: tables[spec] for spec in asked.read}


def test_the_rows_are_those_of_the_contract_whatever_there_is(spark: SparkSession) -> None:
    for now in (None, NOW):
        nothing = {spec: to_frame(spark, spec, []) for spec in group_health(now).read}
        frame = answered(spark, group_health(now), nothing)
        assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
            (field.name, field.dataType.simpleString()) for field in struct_type(GROUP_HEALTH)
        ]
        assert frame.collect() == []
