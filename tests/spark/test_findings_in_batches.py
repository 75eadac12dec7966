"""Findings that are kept up to date batch by batch are those in everything at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas.catalog import BY_NAME
from schemas.table import TableSpec
from schemas.tables.gold import FINDINGS, GROUP_HEALTH, SLOW_REVOKERS
from schemas.types import TIMESTAMP
from schemas.words import FENCING_ERRORS
from tests.spark.test_batches import told
from tests.spark.test_client_refusals import said
from tests.support.pure_pipeline import Row, read_silver, replay
from tests.support.silver_batches import BatchedLake, Piece, pieces, written_at

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long, pytest.mark.usefixtures("long_histories")]

DAY_MS = 86_400_000.0
THRESHOLDS = {
    "storms": {"window_ms": 60_000, "min_rebalances": 5},
    "bursts": {"gap_ms": 5_000, "min_errors": 5},
    "offsets": {"jump": 50},
    "commits": {"silent_ms": 10_000},
    "revocations": {"slow_ms": 2_000},
}

WITHOUT = {"kafka-4.2.0": (SLOW_REVOKERS,), "modern-4.2.0": ()}
"""Captures, and what is not found in their groups: only those of the newer protocols wait for who revokes."""


@pytest.mark.parametrize("name", WITHOUT)
@pytest.mark.parametrize("are_listed", [True, False, None], indirect=True)
def test_findings_of_batches_are_those_of_everything(
    spark: SparkSession,
    capture_dir: Callable[[str], Path],
    tmp_path: Path,
    name: str,
    are_listed: bool,
) -> None:
    day = pieces(read_silver(capture_dir(name)))
    # Of a capture that is all of modern groups, its second half is what follows.
    day, second = (day, on_day(day, 1)) if name == "kafka-4.2.0" else (day[: len(day) // 2], day[len(day) // 2 :])
    late, in_time = second[100::7], [piece for place, piece in enumerate(second) if place < 100 or (place - 100) % 7]
    lake = BatchedLake(spark, tmp_path / "lake", lateness_ms=5_000, **THRESHOLDS)
    found = found_as_in_everything(lake, (day, in_time, late))
    for spec in (*FINDINGS, GROUP_HEALTH):
        assert bool(found[spec.name]) == (spec not in WITHOUT[name]), (
            f"{spec.name}: there is none, so nothing was tested"
        )


@pytest.mark.parametrize("are_listed", [True, False], indirect=True)
def test_commits_that_come_alone_change_the_findings_near_them(
    spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path, are_listed: bool
) -> None:
    """Half of the commits come when all else is known, and some more a day later."""
    day = pieces(read_silver(capture_dir("kafka-4.2.0")))
    alone = [piece for piece in day if piece[0] == "offset_commits"]
    more = [piece for piece in on_day(day, 1) if piece[0] == "offset_commits"]
    held_back = alone[1::2]
    lake = BatchedLake(spark, tmp_path / "lake", lateness_ms=5_000, **THRESHOLDS)
    found = found_as_in_everything(lake, ([piece for piece in day if piece not in held_back], held_back, more))
    assert found["illegal_generation_bursts"]


def test_clients_are_believed_as_in_one_run_where_the_request_log_comes_later(
    spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients of all groups are refused behind its end, of which only one group's rest comes in."""
    monkeypatch.setattr("transforms.gold.timelines.starting_points.LEAST_TAKEN_ALONG", 0)
    rows = pieces(read_silver(capture_dir("kafka-4.2.0")))
    first, second = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    known = sorted({piece[1]["group_id"] for piece in first if is_request(piece)})
    end = written_at(first[-1]) or 0.0
    lines = [refused_client(group, number, end + 15_000 + 100 * number) for group in known for number in range(10)]
    of_one = [piece for piece in second if is_request(piece) and piece[1]["group_id"] == "checkout-storm"]
    others = [piece for piece in second if not is_request(piece)]
    lake = BatchedLake(spark, tmp_path / "lake", lateness_ms=5_000, **THRESHOLDS)
    found = found_as_in_everything(lake, ([*first, *lines, *others], of_one))
    told_by_clients = {row["group_id"] for row in found["illegal_generation_bursts"] if row["evidence"] == "client_log"}
    assert told_by_clients == set(known) - {"checkout-storm"}


def found_as_in_everything(lake: BatchedLake, batches: Iterable[Iterable[Piece]]) -> dict[str, list[Row]]:
    """What is found batch by batch, and how groups are: which must be what is found in everything at once."""
    for batch in batches:
        lake.load(batch)
        lake.replay()
        lake.detect()
    found = {spec.name: rows_of(lake, spec) for spec in (*FINDINGS, GROUP_HEALTH)}
    lake.detect(everything=True)
    for spec in (*FINDINGS, GROUP_HEALTH):
        assert sorted(map(told, found[spec.name])) == sorted(map(told, rows_of(lake, spec))), spec.name
    return found


def is_request(piece: Piece) -> bool:
    return piece[0] == "group_requests"


def refused_client(group: str, number: int, at: float) -> Piece:
    """What a client logs of a refused heartbeat."""
    client = {"host": "app", "source_file": f"{group}.log", "group_id": group, "client_id": f"x-{group}"}
    return "client_events", {**said(number + 1, at), **client}


def rows_of(lake: BatchedLake, spec: TableSpec) -> list[Row]:
    """The rows of a table; groups that rest are not told of anew, and so not as of the end of the data."""
    rows = lake.rows(spec.name)
    return [{**row, "at": None} for row in rows] if spec is GROUP_HEALTH else rows


def test_who_gives_nothing_up_is_late_as_time_goes_by(
    spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    """While a member gives nothing up and says nothing, its group has no news: all that goes on are other groups."""
    silver = read_silver(capture_dir("modern-4.2.0"))
    waits = replay(silver)["reconciliations"]
    long = (row for row in waits if row["state"].startswith("UNREVOKED") and row["to_at"] is not None)
    wait = max(long, key=lambda row: row["to_at"] - row["from_at"])
    heard, soon, late = wait["from_at"] + 500, wait["from_at"] + 10_000, wait["from_at"] + 40_000
    assert heard < wait["to_at"]
    dated = [(written_at(piece) or 0.0, piece) for piece in pieces(silver)]
    of_others = [(at, piece) for at, piece in dated if piece[1].get("group_id") not in (None, wait["group_id"])]
    batches = [
        [piece for at, piece in dated if at < heard],
        [piece for at, piece in of_others if heard <= at < soon],  # by which the replay has told all of the group
        [piece for at, piece in of_others if soon <= at < late],
    ]
    lake = BatchedLake(spark, tmp_path / "lake", lateness_ms=100, **(THRESHOLDS | {"revocations": {"slow_ms": 20_000}}))
    found = []
    for batch in batches:
        lake.load(batch)
        lake.replay()
        lake.detect()
        found.append([row for row in lake.rows("slow_revokers") if row["group_id"] == wait["group_id"]])
    assert found[:2] == [[], []], "it was late at once"
    assert [(row["member_id"], row["started_at"], row["is_open"]) for row in found[2]] == [
        (wait["member_id"], wait["from_at"], True)
    ]
    lake.detect(everything=True)
    every = [row for row in lake.rows("slow_revokers") if row["group_id"] == wait["group_id"]]
    assert sorted(map(told, found[2])) == sorted(map(told, every))


@pytest.mark.parametrize("are_listed", [True, False], indirect=True)
def test_a_storm_that_ends_as_time_goes_by_is_over_in_its_groups_health(
    spark: SparkSession,
    capture_dir: Callable[[str], Path],
    tmp_path: Path,
    are_listed: bool,
) -> None:
    """All that goes on after it is another group, so its own has no news."""
    day = pieces(read_silver(capture_dir("kafka-4.2.0")))
    other = [piece for piece in day if piece[1].get("group_id") in (None, "billing-steady")]
    lake = BatchedLake(spark, tmp_path / "lake", lateness_ms=5_000, **THRESHOLDS)
    open_storms = []
    for batch in (day, on_day(other, 1)):
        lake.load(batch)
        lake.replay()
        lake.detect()
        open_storms.append([row["group_id"] for row in lake.rows("group_health") if row["is_last_storm_open"]])
    assert open_storms[0]
    assert open_storms[1] == []
    found = rows_of(lake, GROUP_HEALTH)
    lake.detect(everything=True)
    assert sorted(map(told, found)) == sorted(map(told, rows_of(lake, GROUP_HEALTH)))


def test_many_groups_with_news_leave_the_findings_of_all_others_as_they_are(
    spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written in the place of theirs has those of all others, too, which are held against their generations."""
    monkeypatch.setattr("jobs.findings.looking.MOST_LISTED", 2)
    monkeypatch.setattr(f"{__name__}.DAY_MS", 600_000.0)  # near enough for what was found to be written anew
    silver = read_silver(capture_dir("kafka-4.2.0"))
    fenced = {row["group_id"] for row in silver["group_requests"] if row["error"] in FENCING_ERRORS}
    calm = sorted({row["group_id"] for row in silver["group_requests"]} - fenced)[:4]
    assert fenced and len(calm) > 3
    day = pieces(silver)
    of_calm = [piece for piece in day if piece[1].get("group_id") in calm]
    lake = BatchedLake(spark, tmp_path / "lake", lateness_ms=5_000, **THRESHOLDS)
    for batch in (day, on_day(of_calm, 1), on_day(of_calm, 2)):
        lake.load(batch)
        lake.replay()
        lake.detect()
    found = {spec.name: rows_of(lake, spec) for spec in (*FINDINGS, GROUP_HEALTH)}
    lake.detect(everything=True)
    assert any(row["fenced_by_generation"] for row in found["illegal_generation_bursts"])
    for spec in (*FINDINGS, GROUP_HEALTH):
        assert sorted(map(told, found[spec.name])) == sorted(map(told, rows_of(lake, spec))), spec.name


def on_day(rows: list[Piece], day: int) -> list[Piece]:
    """The same rows so many days later, at later places of their logs and partitions, of members with other ids.

    Requests come by other connections: on one that is known, by their numbers, they would be old ones. Only members of
    newer protocols keep their ids, whose groups begin anew without an end.
    """
    return [(table, _later(table, row, day)) for table, row in rows]


def _later(table: str, row: Row, day: int) -> Row:
    spec = BY_NAME[table]
    later = {name: _renamed(value, day) for name, value in row.items()}
    for name, value in later.items():
        if name in spec.columns and value is not None and spec.column(name).data_type == TIMESTAMP:
            later[name] += day * DAY_MS
    for place in ("record_offset", "line_number"):
        if later.get(place) is not None:
            later[place] += day * 1_000_000
    if later.get("connection") is not None:
        later["connection"] += f"-{day}"
    return later


def _renamed(value: Any, day: int) -> Any:
    if isinstance(value, str):
        return re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", lambda found: f"{day:08x}{found[0][8:]}", value)
    if isinstance(value, list):
        return [_renamed(each, day) for each in value]
    if isinstance(value, dict):
        return {name: _renamed(each, day) for name, each in value.items()}
    return value
