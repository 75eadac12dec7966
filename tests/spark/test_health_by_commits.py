"""What commits tell of how groups are: how often there are any, and who keeps the offsets."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from schemas.tables.gold import ASSIGNMENTS, GENERATIONS, STANDING_COMMITS
from schemas.tables.silver import OFFSET_COMMITS
from tests.support.answers import answered
from tests.support.frames import to_rows
from tests.support.group_health import HOUR, NOW, Row, commit, generation, health, reading, tables_of, transition
from tests.support.searches import stand, with_younger
from transforms.gold.group_health import group_health

pytestmark = pytest.mark.spark


def told_of(rows: list[Row], names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return [tuple(map(row.get, names)) for row in rows]


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


@pytest.mark.parametrize("seed", range(2))
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
    commits, beside = tables[OFFSET_COMMITS], {spec: tables[spec] for spec in (ASSIGNMENTS, GENERATIONS)}
    undecided = dice.choice(times[100:190])  # of the transactions of that time, the first run does not know the end
    at = F.unix_micros("recorded_at") / 1000.0
    is_open = at.between(undecided, times[200]) & ~F.col("txn_state").isin("none")
    first = commits.where(at <= times[200]).withColumn(
        "txn_state", F.when(is_open, "open").otherwise(F.col("txn_state"))
    )
    kept, line = stand({OFFSET_COMMITS: first, **beside}, times[190]), times[190]
    for until, next_line in ((times[400], times[390]), (times[-1], times[580])):
        since = commits.where(at <= until).where((at > line) | (at >= undecided))
        kept = stand({OFFSET_COMMITS: with_younger(kept, since, line), **beside}, next_line)
        line = next_line
    by_standing, by_all = group_health(NOW), group_health(NOW, OFFSET_COMMITS)
    found = to_rows(answered(spark, by_standing, {**reading(tables, by_standing), STANDING_COMMITS: kept}))
    whole = to_rows(answered(spark, by_all, reading(tables, by_all)))
    told = ("group_id", "commit_interval_ms", "has_commits", "offsets_kept_by")
    assert sorted(told_of(found, told)) == sorted(told_of(whole, told))
    assert kept.count() < len(drawn) / 2
    assert len({row["offsets_kept_by"] for row in found}) > 2
