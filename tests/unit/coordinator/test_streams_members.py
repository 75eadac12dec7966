"""What members of streams groups say of themselves, as the replay tells it of each epoch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.coordinator.consumer_records import Moment, Written
from tests.unit.coordinator.evidence_rows import GROUP, Row, member, modern_records, record
from transforms.coordinator.replay import replay_group


def _is(**more: Any) -> Written:
    who = {"clientId": "a-client", "clientHost": "/10.0.0.1", "rebalanceTimeoutMs": 60_000, "topologyEpoch": 0}
    return 19, "a", {**who, "processId": "p-1", **more}


def _epoch(number: int) -> list[Written]:
    stands = {"memberEpoch": number, "previousMemberEpoch": number - 1, "state": 1}
    return [(17, "", {"epoch": number}), (20, "", {"assignmentEpoch": number}), (22, "a", stands)]


def _members(*moments: Moment) -> list[Row]:
    replayed = replay_group("c", GROUP, [], [], [], 50, modern_records=modern_records(*moments))
    return sorted(replayed["generation_members"], key=lambda row: row["generation"])


@pytest.mark.parametrize(("is_classic", "trigger"), [(True, "converted"), (False, "member_joined")])
def test_an_empty_classic_group_is_converted_by_who_joins(is_classic: bool, trigger: str):
    """Its tombstone stands before the new group's records, in one batch (4.2)."""
    stored = {**record(500, 90, 3, member("x", [])), "members": [], "leader_member_id": None, "protocol": None}
    ended = {**stored, "record_offset": 91, "recorded_at": 1_000, "is_tombstone": True, "members": None}
    modern = modern_records((1_000, [_is(), (23, "", {"epoch": 0, "subtopologies": []}), *_epoch(2)]))
    for row in modern:
        row["record_offset"] += 100
    replayed = replay_group("c", GROUP, [stored, ended] if is_classic else [], [], [], 50, modern_records=modern)
    (row,) = (row for row in replayed["generations"] if row["group_type"] == "streams")
    assert (row["trigger"], row["missing_before"], row["is_inferred"]) == (trigger, 0, False)
    (first, *_) = (row for row in replayed["transitions"] if row["group_type"] == "streams")
    assert first["event"] == ("converted" if is_classic else "epoch_bumped")


def test_process_endpoint_and_tags_are_those_of_the_epoch():
    tags = [{"key": "zone", "value": "z1"}, {"key": "cluster", "value": "c1"}]
    found = _members(
        (1_000, [_is(), *_epoch(2)]),
        (2_000, [_is(userEndpoint={"host": "h", "port": 8080}, clientTags=tags), *_epoch(3)]),
        (3_000, [_is(processId="p-2"), *_epoch(4)]),
    )
    assert [(row["process_id"], row["user_endpoint"], row["client_tags"]) for row in found] == [
        ("p-1", None, {}),
        ("p-1", "h:8080", {"zone": "z1", "cluster": "c1"}),
        ("p-2", None, {}),
    ]


def test_who_says_something_else_of_itself_within_an_epoch_has_changed_then():
    (found,) = _members((1_000, [_is(), *_epoch(2)]), (2_000, [_is(processId="p-2")]))
    assert (found["process_id"], found["changed_at"]) == ("p-2", 2_000)
