"""Kafka's own consumers of the consumer protocol (KIP-848) on real brokers: what is found is what the broker described.

Members come, are fenced in all the ways that there are, fall silent, poll too rarely, leave and crash. The truth is
what the broker's own description said at quiet moments, and what its request log says of requests that it refused.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.words import FENCING_ERRORS
from tests.support.consumers.led import Led
from tests.support.kafka_broker import Brokers
from tests.support.kafka_capture import write_capture
from tests.support.kafka_driver import create_topic
from tests.support.pure_pipeline import Row, Tables, run_pipeline
from tests.truth.described_groups import parts_told, standing_told
from tests.truth.test_described_epochs import Told, snapshots_of
from transforms.coordinator.timeline.audit import WHY_EITHER, WHY_NOT_COORDINATOR, WHY_RACE
from transforms.findings.client_refusals import ClientLine, refusals
from transforms.findings.description.standing import Part

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("java") is None, reason="no Java on the path")]

VERSIONS = ("4.2.0", pytest.param("4.1.1", marks=pytest.mark.long))
GROUP, TOPIC = "orders-app", "orders"
NO_TOPIC = "returns"
"""Changes a subscription and nobody's assignment, so that the member is at the next epoch at once."""

INSTANCE, STRANGER = "till-1", "AAAAAAAAAAAAAAAAAAAAAA"
SESSION_S = 4
SETTINGS = {
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": str(SESSION_S * 1000),
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "500",
}
QUIET_S = 0.8
"""A description of a group that has stood still for so long is compared."""

WAIT_S = 30
MOST_RACES = 0.02
"""A busy broker writes a few lines of its request log long after it handled the requests."""

POLL_MS, STALL_MS = 2_000, 9_000
"""A stall is so long that the group is seen without the member even where the machine has much else to do."""

CLOCKS_MS = 1_000
"""Client and broker share a clock; a line is written that much after the answer at most."""


class Scene:
    """One broker and its clients while the story is played, and what the broker described meanwhile."""

    def __init__(self, one: Led, two: Led) -> None:
        self.one, self.two = one, two
        self.lines: list[Row] = []

    def quiet(self, members: int) -> None:
        """Wait until the group stands still with so many members, describing it all the time."""
        until, since, epoch = time.monotonic() + WAIT_S, 0.0, None
        while time.monotonic() < until:
            told = self.one.ask("describe", GROUP)
            if told["error"]:  # not there yet
                time.sleep(0.2)
                continue
            self.lines.append(told)
            if (told["state"], len(told["members"]), told["epoch"]) != ("STABLE", members, epoch):
                since, epoch = time.monotonic(), told["epoch"]
            elif time.monotonic() - since >= QUIET_S:
                return
            time.sleep(0.2)
        raise AssertionError(f"not quiet with {members} members: {self.lines[-1:]}")

    def play(self) -> None:
        """Members join, and then come to harm one after the other."""
        one, two = self.one, self.two
        self.lines.append(one.ask("topic", TOPIC))
        one.start("a", GROUP, TOPIC)
        self.quiet(1)
        one.start("b", GROUP, TOPIC, INSTANCE)
        two.start("c", GROUP, TOPIC)
        self.quiet(3)
        assert one.ask("commit", "a") == ""
        self._fence_by_others()
        two.pause()
        self.quiet(2)
        two.resume()
        self.quiet(3)
        self._take_instance_over()
        one.start("s", GROUP, TOPIC, poll_ms=POLL_MS)
        self.quiet(3)
        one.ask("stall", "s", STALL_MS)
        self.quiet(2)
        self.quiet(3)
        one.ask("close", "s")
        one.ask("close", "a")
        self.quiet(1)

    def _fence_by_others(self) -> None:
        """Somebody else goes on in the name of a member, and then leaves in its name."""
        name, epoch = self.one.member("a")
        assert self.one.ask("beat", GROUP, name, epoch, "-", f"{TOPIC},{NO_TOPIC}") == "NONE"
        self.one.ask("commit", "a")
        self.quiet(3)
        assert self.one.ask("beat", GROUP, name, -1, "-", "-") == "NONE"
        self.one.ask("commit", "a")
        self.quiet(3)

    def _take_instance_over(self) -> None:
        """A stranger comes by the instance id of a member, is in its place until it expires, and keeps others out."""
        name, _ = self.one.member("b")
        self.one.ask("beat", GROUP, name, -2, INSTANCE, "-")
        self.one.ask("beat", GROUP, STRANGER, 0, INSTANCE, TOPIC)
        self.two.start("b2", GROUP, TOPIC, INSTANCE)
        self.quiet(2)


@pytest.fixture(scope="module", params=VERSIONS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of one scene on one broker, with what the clients logged."""
    into = tmp_path_factory.mktemp(request.param)
    brokers = Brokers(request.param, settings=SETTINGS)
    server = brokers.bootstrap_servers[0]
    with ExitStack() as stack:
        led = [stack.enter_context(Led(request.param, server, into / "clients" / name)) for name in ("one", "two")]
        stack.enter_context(brokers)
        asyncio.run(create_topic(brokers.bootstrap_servers, TOPIC, 6))
        scene = Scene(*led)
        scene.play()
        for each in led:
            each.kill()
        time.sleep(SESSION_S + 1)
        brokers.stop(1)
        write_capture(brokers, into)
        for each in led:
            logs = into / "broker_logs" / each.log.parent.name
            logs.mkdir()
            shutil.copyfile(each.log, logs / "consumers.log")
    (into / "truth.jsonl").write_text("".join(json.dumps(line) + "\n" for line in scene.lines), encoding="utf-8")
    return into


@pytest.fixture(scope="module")
def tables(folder: Path) -> Tables:
    return run_pipeline(folder)


@pytest.fixture(scope="module")
def snapshots(folder: Path, tables: Tables) -> list[Told]:
    """The descriptions of moments at which the group stood still."""
    return list(snapshots_of(folder, tables))


def test_nothing_is_rejected_or_unrecognised(tables: Tables):
    assert tables["rejected"] == []
    lines = [*tables["coordinator_events"], *tables["client_events"]]
    assert [row for row in lines if row["event"] == "unrecognised"] == []


def places(parts: Iterable[Part]) -> set[tuple[str, int]]:
    return {(part.topic, part.partition) for part in parts}


def test_state_epochs_members_and_assignments_are_as_the_broker_described_them(snapshots: list[Told]):
    assert len({told.line["epoch"] for told in snapshots}) >= 6
    for line, _, standing, epochs, members, *_ in snapshots:
        assert standing == standing_told(line)
        assert (epochs.group_epoch, epochs.assignment_epoch) == (line["epoch"], line["assignment_epoch"])
        assert epochs.assignor in (line["assignor"], None)
        for name, member in members.items():
            told = line["members"][name]
            assert member.epoch == told["epoch"], line
            assert places(member.owned) == {part[:2] for part in parts_told(told)}, line


def test_targets_are_as_the_broker_described_them(snapshots: list[Told]):
    for line, _, _, _, members, *_ in snapshots:
        for name, member in members.items():
            told = {part[:2] for part in parts_told({"parts": line["members"][name]["target"]})}
            assert member.target is not None and places(member.target) == told, line


def test_every_heartbeat_and_commit_is_predicted(tables: Tables):
    audit = [row for row in tables["replay_audit"] if row["group_id"] == GROUP]
    assert {row["api"] for row in audit} == {"ConsumerGroupHeartbeat", "OffsetCommit"}
    differing = [row for row in audit if row["agrees"] is False or row["is_assignment_agreed"] is False]
    assert len(differing) <= MOST_RACES * len(audit), differing
    assert {row["why"] for row in audit if row["agrees"] is None} <= {WHY_NOT_COORDINATOR, WHY_EITHER, WHY_RACE}


def told_by_clients(tables: Tables) -> list[Any]:
    """What clients logged of refusals, as bursts are made of it."""
    files: dict[str, list[ClientLine]] = defaultdict(list)
    for row in tables["client_events"]:
        line = msgspec.convert({name: row[name] for name in ClientLine.__struct_fields__ if name in row}, ClientLine)
        files[row["source_file"]].append(line)
    return [refusal for lines in files.values() for refusal in refusals(lines)]


def test_clients_logged_each_refused_request_once_with_its_member_and_epoch(tables: Tables):
    refused = [row for row in tables["group_requests"] if row["error"] in FENCING_ERRORS]
    of_members = [row for row in refused if row["client_id"] != "stranger"]
    told = told_by_clients(tables)
    assert {row["error"] for row in of_members} >= {
        "UNKNOWN_MEMBER_ID",
        "FENCED_MEMBER_EPOCH",
        "FENCED_INSTANCE_ID",
        "UNRELEASED_INSTANCE_ID",
    }
    assert Counter((row.client_id, row.api, row.error, row.member_id) for row in told) == Counter(
        (row["client_id"], row["api"], row["error"], row["member_id"]) for row in of_members
    )
    epochs = {(row["api"], row["error"], row["member_id"], row["generation"]) for row in of_members}
    with_epoch = {(row.api, row.error, row.member_id, row.generation) for row in told if row.generation is not None}
    assert with_epoch <= epochs and {row.api for row in told if row.generation is None} <= {"OffsetCommit"}
    pairs = zip(sorted(row.answered_at for row in told), sorted(row["answered_at"] for row in of_members), strict=True)
    assert all(-CLOCKS_MS <= logged - answered <= CLOCKS_MS for logged, answered in pairs)


def test_what_members_say_of_their_states_is_of_epochs_and_stays_of_the_group(tables: Tables):
    said = [row for row in tables["client_timeline"] if row["event"] == "state_changed"]
    states = {client: {row["client_state"] for row in said if row["client_id"] == client} for client in "abcs"}
    for seen in states.values():
        assert seen >= {"JOINING", "RECONCILING", "ACKNOWLEDGING", "STABLE"}
    assert "FENCED" in states["a"] & states["c"] and "FATAL" in states["b"] and "STALE" in states["s"]
    of_epochs = [row for row in said if row["generation"] is not None]
    epochs = {row["generation"] for row in tables["generations"]}
    assert {row["generation"] for row in of_epochs} <= epochs
    assert {row["life"] for row in of_epochs} == {1}
    assert {row["broker_state"] for row in of_epochs} <= {"Assigning", "Reconciling", "Stable"}
    assert None not in {row["end_cause"] for row in of_epochs}


def test_stays_end_as_they_did(tables: Tables):
    ends = defaultdict(list)
    for row in sorted(tables["member_sessions"], key=lambda row: row["joined_at"]):
        ends[row["client_id"]].append(row["end_cause"])
    assert ends["s"] == ["poll_timeout", "left"]
    assert ends["c"] == ["session_expired", "session_expired"]
    assert ends["a"][-1] == "left"
    assert ends["b"] == ["replaced", "session_expired"], "the stranger in its place has its name"
