"""A member of the consumer protocol joins the id of a classic group: who waits there is sent back first.

What is answered is what brokers of 3.8.1, 4.0.0 and 4.1.1 answered in the middle of a group's first join phase.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.coordinator.converted_rows import CLASSIC, NEW, NOTHING, broker, comes, standing
from tests.unit.coordinator.evidence_rows import (
    GROUP,
    Row,
    join,
    line,
    member,
    modern_records,
    prepare,
    record,
    round_of,
)
from tests.unit.coordinator.test_fold import folded, items_of
from transforms.coordinator.epochs.converting import ClassicThere, has_sent_back, refusal
from transforms.coordinator.evidence.tolerances import MOST_HOLDS
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.rules import release_of
from transforms.coordinator.modern.world import ModernSettings
from transforms.coordinator.replay import replay_group, typed_evidence, typed_records

CONVERTED: list[tuple[int, str, Any]] = [
    (5, "a-1", CLASSIC),
    (3, "", {"epoch": 1}),
    (7, "a-1", NOTHING),
    (6, "", {"assignmentEpoch": 1}),
    (8, "a-1", standing(1, 1)),
    (5, "m", NEW),
    (3, "", {"epoch": 2}),
    (7, "m", NOTHING),
    (6, "", {"assignmentEpoch": 2}),
    (8, "m", standing(2, 0)),
]


EMPTIED = {**record(1_000, 5, 3, member("a-1", [0])), "members": [], "leader_member_id": None, "protocol": None}
"""The record of a group that everybody has left."""


def _audited(lines: list[Row], requests: list[Row], records: list[Row] | None = None) -> list[Row]:
    rows = replay_group("c", GROUP, [], lines, requests, 50, modern_records=records or [])["replay_audit"]
    return sorted(rows, key=lambda row: row["handled_at"])


def _predicted(lines: list[Row], requests: list[Row]) -> list[int | None]:
    return [row["predicted_error"] for row in _audited(lines, requests)]


def _waits(at: float, member_id: str, parked_ms: float) -> Row:
    return join(at, error=27, given=member_id, parked_ms=parked_ms)


@pytest.mark.parametrize(
    ("version", "unassigned", "unelected"),
    [("3.8.1", 69, 69), ("3.9.1", 69, 69), ("4.0.0", None, -1), ("4.2.0", None, -1)],
)
def test_what_has_to_be_there_before_a_group_can_be_converted(
    version: str, unassigned: int | None, unelected: int | None
):
    settings = ModernSettings(rules=ModernRules(release_of(version) or ()))
    elected, nothing = ClassicThere(2, is_elected=True), ClassicThere(2)
    assert refusal(ClassicThere(2, is_elected=True, is_assigned=True), settings) is None
    assert (refusal(elected, settings), refusal(nothing, settings)) == (unassigned, unelected)
    assert has_sent_back(nothing, settings, 0, unelected or 0)
    assert not has_sent_back(nothing, settings, 0, 0) and not has_sent_back(nothing, settings, 1, unelected or 0)
    assert not has_sent_back(nothing, msgspec.structs.replace(settings, max_size=1), 0, 69)


@pytest.mark.parametrize(("version", "error"), [("3.9.1", None), ("4.0.0", 69), ("4.2.0", 69)])
def test_assignments_with_data_of_their_own_cannot_be_converted(version: str, error: int | None):
    """Before 4.0 the data was lost."""
    settings = ModernSettings(rules=ModernRules(release_of(version) or ()))
    custom = ClassicThere(2, is_elected=True, is_assigned=True, has_user_data=True)
    assert refusal(custom, settings) == error
    assert has_sent_back(custom, settings, 0, 69)
    assert not has_sent_back(
        msgspec.structs.replace(custom, size=3), msgspec.structs.replace(settings, max_size=2), 0, 69
    )
    assert not has_sent_back(custom, msgspec.structs.replace(settings, can_upgrade=False), 0, 69)


def _assigned(member_id: str, user_data: bytes) -> Row:
    """A member that has partition 0 of topic t, and data beside it."""
    told = b"\0\1\0\0\0\1\0\1t\0\0\0\1\0\0\0\0" + len(user_data).to_bytes(4, "big") + user_data
    return {**member(member_id, [0]), "assignment": told}


@pytest.mark.parametrize(("user_data", "foreseen"), [(b"tasks", [27, 69]), (b"", [0, None])])
def test_who_waits_in_a_group_of_kafka_streams_is_sent_back_though_it_cannot_be_converted(
    user_data: bytes, foreseen: list[int | None]
):
    """Where nothing tells why it could not be, nothing tells that they were."""
    lines, records = round_of(1_000, 1, "1", _assigned("a-1", user_data), stored=5)
    asked = [join(2_000, error=foreseen[0], told=2, given="b-1", parked_ms=500), comes(2_500, 69)]
    rows = replay_group("c", GROUP, records, [*broker("4.2.0"), *lines, prepare(2_000, 1)], asked, 50)["replay_audit"]
    audited = sorted(rows, key=lambda row: row["handled_at"])
    assert audited[1]["predicted_error"] == foreseen[1]
    assert (audited[0]["predicted_error"] == 27) == bool(user_data)


def test_a_group_that_is_not_of_consumers_is_not_touched():
    """In its first join phase no assignor is elected, which nobody looks at before what the members speak."""
    lines = [*broker("4.2.0"), prepare(1_000, 0), line(4_000, "stabilized", generation=1, member_count=1)]
    waits = join(1_000.2, told=1, given="a-1", parked_ms=3_000, protocol_type="connect")
    assert _predicted(lines, [waits, comes(1_500, 69)]) == [0, 69]


@pytest.mark.parametrize(("protocol_type", "error"), [("connect", 69), ("consumer", 81)])
def test_what_the_members_speak_is_looked_at_before_the_room_for_one_more(protocol_type: str, error: int):
    lines, records = round_of(1_000, 1, "1", member("a-1", [0]), member("b-1", [1]), stored=5)
    records = [{**row, "protocol_type": protocol_type} for row in records]
    lines = [*broker("4.2.0", **{"group.consumer.max.size": "2"}), *lines]
    (row,) = replay_group("c", GROUP, records, lines, [comes(2_000, error)], 50)["replay_audit"]
    assert (row["predicted_error"], row["agrees"]) == (error, True)


@pytest.mark.parametrize("policy", ["disabled", "downgrade", "bidirectional"])
def test_an_empty_group_gives_way_whatever_the_policy(policy: str):
    """So who joins is refused for what it says itself, and nobody else."""
    lines = broker("4.2.0", **{"group.consumer.migration.policy": policy})
    asked = [comes(2_000, 128, subscribed_regex="(broken")]
    (row,) = replay_group("c", GROUP, [EMPTIED], lines, asked, 50)["replay_audit"]
    assert (row["predicted_error"], row["agrees"]) == (128, True)


def test_a_group_in_which_somebody_waits_is_not_empty_whatever_is_known_of_it():
    asked = [join(1_900, "a-9", error=27, parked_ms=500), comes(2_000, -1)]
    rows = replay_group("c", GROUP, [EMPTIED], broker("4.2.0"), asked, 50)["replay_audit"]
    assert [row["predicted_error"] for row in rows if row["group_type"] == "consumer"] == [-1]


def test_who_waits_is_sent_back_though_the_group_cannot_be_converted():
    """The second member has been given nothing yet."""
    lines, records = round_of(1_000, 1, "1", member("a-1", [0]), stored=5)
    asked = [join(2_000, error=27, given="b-1", parked_ms=500), comes(2_500, 69)]
    lines = [*broker("3.9.1"), *lines, prepare(2_000, 1)]
    tables = replay_group("c", GROUP, records, lines, asked, 50)
    rows = sorted(tables["replay_audit"], key=lambda row: row["handled_at"])
    assert [row["predicted_error"] for row in rows] == [27, 69]


def test_a_group_that_is_too_large_is_not_touched():
    lines = [*broker("4.0.0", **{"group.consumer.max.size": "1"}), prepare(1_000, 0)]
    told = {"told": 1, "given": "a-1", "parked_ms": 3_000}
    waiting = [join(1_000.2, **told), join(1_010, **{**told, "given": "b-1", "parked_ms": 2_990})]
    assert _predicted(lines, [*waiting, comes(1_500, 69)])[-1] == 69


def test_a_regular_expression_is_not_read_before_the_group_is_looked_at():
    lines = [*broker("4.1.1"), prepare(1_000, 0)]
    asked = [_waits(1_000.2, "a-1", 500), comes(1_500, -1, subscribed_regex="(broken")]
    assert _predicted(lines, asked)[1:] == [-1]


def test_a_line_of_the_classic_group_that_was_put_off_does_not_end_the_group_that_it_became():
    """It waited for the request that it tells of, and the conversion came before that."""
    stored, lines, asked = typed_evidence([], [*broker("4.1.1"), prepare(1_990, 0)], [])
    items = items_of(([*stored, *typed_records(modern_records((2_000, CONVERTED)))], lines, asked))
    put_off = next(item for item in items if item.line is not None and item.line.event == "preparing_rebalance")
    put_off.at, put_off.holds = 2_011.5, MOST_HOLDS
    rows, _ = folded(sorted(items, key=lambda item: item.rank), [])
    states = [(row.group_type, row.to_state) for row in rows.transitions if row.group_type == "consumer"]
    assert states and ("consumer", "Dead") not in states
    assert {row.member_id: row.ended_at for row in rows.member_sessions if row.group_type == "consumer"} == {
        "a-1": None,
        "m": None,
    }
