"""Groups of a real broker, rebuilt from its segment files, against what it described and answered."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.support.captures import MODERN, capture
from tests.truth.described_groups import SLACK_MS, STATES
from transforms.coordinator.consumer import machine as consumer
from transforms.coordinator.consumer.records import read as read_consumer
from transforms.coordinator.consumer.requests import HeartbeatRequest
from transforms.coordinator.modern.records import TopicPartitions
from transforms.coordinator.modern.requests import Caller, CommitRequest
from transforms.coordinator.modern.world import ModernSettings, World
from transforms.coordinator.share import machine as share
from transforms.coordinator.share.records import read as read_share
from transforms.coordinator.streams import machine as streams
from transforms.coordinator.streams.records import read as read_streams
from transforms.wire import segments
from transforms.wire.records import decode

READERS = {
    "CONSUMER": (consumer.Machine, read_consumer, {3, 4, 5, 6, 7, 8, 16}),
    "SHARE": (share.Machine, read_share, {10, 11, 12, 13, 14, 15}),
    "STREAMS": (streams.Machine, read_streams, {17, 19, 20, 21, 22, 23}),
}


class Standing(NamedTuple):
    """A group at a moment: its state, epochs, and by member its epoch and how much it holds."""

    state: str
    epoch: int
    assignment_epoch: int
    members: dict[str, tuple[int, int]]


@pytest.fixture(scope="module", params=MODERN)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return capture(request.param, tmp_path_factory.mktemp("captures"))


def _rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Rows of `silver.modern_group_records` by group, in their order."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted(folder.glob("consumer_offsets/*/*.log")):
        with path.open("rb") as file:
            for record in segments.read(file):
                assert isinstance(record, segments.Record)
                decoded = decode(record.key, record.value) if record.control_type is None else None
                if decoded is not None and decoded.table == "modern_group_records":
                    rows[decoded.row["group_id"]].append({**decoded.row, "recorded_at": record.timestamp})
    return rows


def _course(rows: list[dict[str, Any]], group_type: str) -> list[tuple[int, Standing | None]]:
    """How a group stood after each of its records of one type."""
    machine_type, read, type_ids = READERS[group_type]
    machine = machine_type()
    course: list[tuple[int, Standing | None]] = []
    for row in rows:
        if row["record_type"] in type_ids:
            name = row["member_id"] or row["regular_expression"] or ""
            machine.take([read(row["record_type"], name, row["body"])])
            course.append((row["recorded_at"], _standing(machine.present)))
    return course


def _standing(group: Any) -> Standing | None:
    if group is None:
        return None
    members = {name: (member.epoch, _held(member.standing.assigned)) for name, member in group.members.items()}
    return Standing(group.state.value, group.epoch, group.assignment_epoch, members)


def _held(assigned: Any) -> int:
    roles = [assigned] if isinstance(assigned, dict) else [assigned.active, assigned.standby, assigned.warmup]
    return sum(len(numbers) for role in roles for numbers in role.values())


def _described(line: dict[str, Any]) -> Standing:
    members = {}
    for name, member in line["members"].items():
        tasks = member.get("tasks")
        held = (
            len(member["parts"]) if tasks is None else sum(len(of) for role in tasks.values() for of in role.values())
        )
        members[name] = (member["epoch"], held)
    return Standing(STATES[line["state"]], line["epoch"], line["assignment_epoch"], members)


def test_a_group_is_at_every_moment_what_the_broker_described(folder: Path):
    rows, found = _rows(folder), Counter[str]()
    courses = {(group, kind): _course(each, kind) for group, each in rows.items() for kind in READERS}
    with (folder / "truth.jsonl").open(encoding="utf-8") as lines:
        described = [line for line in map(json.loads, lines) if line["api"] == "_describe" and not line["error"]]
    for line in described:
        if line["gtype"] not in READERS:
            continue
        since, until = line["t0"] * 1000 - SLACK_MS, line["t1"] * 1000 + SLACK_MS
        course = courses[line["group"], line["gtype"]]
        before = [standing for at, standing in course if at < since][-1:]
        assert _described(line) in [*before, *(standing for at, standing in course if since <= at <= until)], line
        found[line["gtype"]] += 1
    assert all(found[kind] > 100 for kind in READERS), found


# --- what it answered ----------------------------------------------------------------------------------------------

_REQUEST_SLACK_MS = 3
_OF_PARTITIONS = {3, 100}
"""Errors of single partitions in a commit: the broker's, not the group's."""

_SETTINGS = ModernSettings(max_size=6)
"""group.consumer.max.size of the broker, as its log has it."""


def _topic_ids(folder: Path) -> dict[str, str]:
    """Topic ids by name, as commits have both."""
    ids: dict[str, str] = {}
    for path in folder.glob("consumer_offsets/*/*.log"):
        with path.open("rb") as file:
            for record in segments.read(file):
                decoded = decode(record.key, record.value) if isinstance(record, segments.Record) else None
                if decoded is not None and decoded.table == "offset_commits" and decoded.row.get("topic_id"):
                    ids[decoded.row["topic"]] = decoded.row["topic_id"]
    return ids


def _snapshots(rows: list[dict[str, Any]]) -> list[tuple[int, bytes]]:
    """A group as a consumer group after each moment in which it wrote records, put down as bytes."""
    _, read, type_ids = READERS["CONSUMER"]
    machine, snapshots = consumer.Machine(), [(0, msgspec.msgpack.encode(consumer.Machine()))]
    own = [row for row in rows if row["record_type"] in type_ids]
    for at, batch in groupby(own, key=lambda row: row["recorded_at"]):
        names = ((row, row["member_id"] or row["regular_expression"] or "") for row in batch)
        machine.take([read(row["record_type"], name, row["body"]) for row, name in names])
        snapshots.append((at, msgspec.msgpack.encode(machine)))
    return snapshots


def _request(line: dict[str, Any], ids: dict[str, str]) -> HeartbeatRequest | CommitRequest:
    if line["api"] == "OffsetCommit":
        return CommitRequest(line["member"], line.get("generation", line.get("epoch", -1)), line.get("instance"))
    owned = line["owned"]
    return HeartbeatRequest(
        line["member_in"],
        line["epoch_in"],
        line["instance"],
        line["rack"],
        line["rebalance_timeout"],
        None if line["topics"] is None else tuple(line["topics"]),
        line["regex"],
        line["assignor"],
        None if owned is None else [TopicPartitions(ids.get(name, name), of) for name, of in owned.items()],
    )


def test_each_error_to_a_member_follows_from_the_group_as_it_was_while_it_was_asked(folder: Path):
    """Conversions aside: what a classic group answers is not the consumer group's to say."""
    ids, found = _topic_ids(folder), Counter[tuple[str, int]]()
    snapshots = {group: _snapshots(rows) for group, rows in _rows(folder).items()}
    with (folder / "truth.jsonl").open(encoding="utf-8") as lines:
        asked = [line for line in map(json.loads, lines) if line["api"] in ("ConsumerGroupHeartbeat", "OffsetCommit")]
    missed = []
    for line in asked:
        if line["error"] is None or line["error"] in _OF_PARTITIONS or line["group"] not in snapshots:
            continue
        errors = _possible_errors(line, snapshots[line["group"]], ids)
        if None in errors:
            continue
        found[line["api"], line["error"]] += 1
        if line["error"] not in errors:
            missed.append((line["group"], line["corr"], line["error"], errors))
    assert len([each for each in found if each[1]]) > 8, found
    assert sum(found.values()) > 5_500
    assert missed == []


def _possible_errors(line: dict[str, Any], snapshots: list[tuple[int, bytes]], ids: dict[str, str]) -> set[int | None]:
    """Return the errors that the group could answer between a request's being sent and answered; None = not its own."""
    since, until = line["t0"] * 1000 - _REQUEST_SLACK_MS, line["t1"] * 1000 + _REQUEST_SLACK_MS
    before = [raw for at, raw in snapshots if at < since][-1:]
    version = 9 if line.get("version") is None else line["version"]
    errors: set[int | None] = set()
    for raw in [*before, *(raw for at, raw in snapshots if since <= at <= until)]:
        machine = msgspec.msgpack.decode(raw, type=consumer.Machine)
        if machine.present is None and (
            line["api"] == "OffsetCommit" or line["error"] or line["group"].startswith("conv")
        ):
            return {None}
        answer = machine.handle(_request(line, ids), World(settings=_SETTINGS), Caller(version), given_id="new").answer
        errors.add(None if answer is None else int(answer.error))
    return errors
