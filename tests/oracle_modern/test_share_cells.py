from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.oracle_modern.cells import DESCRIBES, Cell, assert_described, cells, token
from tests.oracle_modern.histories import put_down_and_taken_up
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.machine import Outcome
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.requests import (
    Answer,
    Caller,
    ClassicHeartbeatRequest,
    CommitRequest,
    FetchRequest,
    JoinRequest,
    LeaveRequest,
    LeavingMember,
    SyncRequest,
)
from transforms.coordinator.modern.topics import Topic, Topics
from transforms.coordinator.modern.world import ModernSettings, World
from transforms.coordinator.share.group import Group, Member, ShareState, Standing
from transforms.coordinator.share.machine import Machine
from transforms.coordinator.share.records import MemberMetadata
from transforms.coordinator.share.requests import HeartbeatRequest, Request

FOO, BAR = "AAAAAAAADwAAAAAAAAAAAQ", "AAAAAAAAC6IAAAAAAAAAAg"
TOPICS = Topics([Topic("foo", FOO, 6), Topic("bar", BAR, 3)])
GROWN = Topics([Topic("foo", FOO, 8), Topic("bar", BAR, 3)])
CALLER = Caller(1, "client", "host")
ALL = [cell for cell in cells("state_x_request_share_streams") if cell.section == "SHARE"]
SHARE_SITUATIONS = ("NOT_INITIALISED", "STABLE2", "BEHIND", "EMPTY", "FULL(max 2)")


def _foo(*numbers: int) -> Partitions:
    return {FOO: numbers} if numbers else {}


def _group(name: str) -> Group:
    everything, first, second = (0, 1, 2, 3, 4, 5), (0, 3, 5), (1, 2, 4)
    members: dict[str, list[tuple[str, int, int, Partitions, Partitions]]] = {
        "NOT_INITIALISED": [("m1", 1, 0, {}, {})],
        "STABLE2": [("m1", 3, 2, _foo(*first), _foo(*first)), ("m2", 3, 0, _foo(*second), _foo(*second))],
        "BEHIND": [("m1", 2, 1, _foo(*everything), _foo(*first)), ("m2", 3, 0, _foo(*second), _foo(*second))],
        "FULL(max 2)": [("m1", 1, 0, {}, {}), ("m2", 2, 0, {}, {})],
        "EMPTY": [],
    }
    epochs = {"NOT_INITIALISED": (1, 1), "EMPTY": (5, 3), "FULL(max 2)": (2, 2)}
    epoch, assignment_epoch = epochs.get(name, (3, 3))
    group = Group(epoch, TOPICS.hash_of(["foo"] if members[name] else []), assignment_epoch)
    for member_id, own_epoch, previous, assigned, target in members[name]:
        metadata = MemberMetadata(None, CALLER.client_id, CALLER.client_host, ("foo",))
        group.put(Member(member_id, metadata, Standing(own_epoch, previous, assigned)))
        group.targets[member_id] = target
    is_ready = name in ("STABLE2", "BEHIND", "EMPTY")
    parts = {FOO: everything}
    group.share_state = ShareState({} if is_ready else parts, parts if is_ready else {}, (), {FOO: "foo"}, 900.0)
    return group


def _machine(cell: Cell) -> Machine:
    made = Machine(_group(cell.situation) if cell.situation in SHARE_SITUATIONS else None)
    made.memory.must_refresh = made.present is None
    return made


def _elsewhere(cell: Cell) -> GroupType:
    types = {"CONSUMER": GroupType.CONSUMER, "STREAMS": GroupType.STREAMS}
    classic = GroupType.CLASSIC if cell.situation.startswith("CLASSIC") else GroupType.ABSENT
    return types.get(cell.situation, classic)


def _world(cell: Cell, topics: Topics = TOPICS) -> World:
    is_full = cell.situation.startswith("FULL")
    return World(topics, ModernSettings(share_max_size=2) if is_full else ModernSettings(), 1_000.0)


def _beat(member_id: str, epoch: int, *topics: str) -> Request:
    return HeartbeatRequest(member_id, epoch, None, topics or None)


def _m1(more: int = 0, *topics: str) -> Callable[[Member | None], Request]:
    return lambda m1: _beat("m1", (m1.epoch if m1 else 1) + more, *topics)


def _behind(more: int = 0) -> Callable[[Member | None], Request]:
    return lambda m1: _beat("m1", (m1.standing.previous_epoch if m1 else 1) + more)


def _older(m1: Member | None) -> int:
    """An epoch that is older than the one before, if there is one; else one that is much too new."""
    older = m1.standing.previous_epoch - 1 if m1 else 0
    return older if older > 0 else 99


def _just(request: Request) -> Callable[[Member | None], Request]:
    return lambda m1: request


PROBES: dict[str, Callable[[Member | None], Request]] = {
    "ShareGroupHeartbeat epoch 0, new member": _just(_beat("n1", 0, "foo")),
    "epoch 0, known m1 (rejoin), same topics": _just(_beat("m1", 0, "foo")),
    "epoch 0, no topics": _just(_beat("n1", 0)),
    "epoch 0, other topic [bar]": _just(_beat("n1", 0, "bar")),
    "m1 current epoch": _m1(),
    "m1 current epoch, subscribes [foo] again (full request)": _m1(0, "foo"),
    "m1 current epoch, subscribes [bar]": _m1(0, "bar"),
    "m1 previous epoch": _behind(),
    "m1 epoch+1": _m1(1),
    "m1 epoch previous-1": lambda m1: _beat("m1", _older(m1)),
    "unknown member, epoch 3": _just(_beat("zz", 3)),
    "m1 leaves (-1)": _just(_beat("m1", -1)),
    "unknown member leaves (-1)": _just(_beat("zz", -1)),
    "epoch -2": _just(_beat("m1", -2)),
    "foo grows to 8, then m1 heartbeat": _m1(),
    "OffsetCommit '' epoch -1": _just(CommitRequest()),
    "OffsetFetch null -1": _just(FetchRequest()),
    "JoinGroup v9": _just(JoinRequest("", None, 10_000, 10_000, "consumer")),
    "SyncGroup": _just(SyncRequest("m1", 1)),
    "Heartbeat": _just(ClassicHeartbeatRequest("m1", 1)),
    "LeaveGroup": _just(LeaveRequest((LeavingMember("m1"),))),
}


def test_the_table_is_read_whole():
    assert len(ALL) == 28 * 10
    assert {cell.request for cell in ALL} - set(PROBES) == {
        *(DESCRIBES.keys() - {"StreamsGroupDescribe"}),
        "CGHeartbeat epoch 0",
        "DeleteGroups (shard part)",
        "OffsetDelete",
        "partitions initialised now (persister answer)",
    }


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.request in PROBES], ids=str)
def test_a_request_to_a_share_group_is_answered_and_writes_as_in_kafka(cell: Cell):
    group = _machine(cell)
    m1 = None if group.present is None else group.present.members.get("m1")
    topics = TOPICS
    if cell.request.startswith("foo grows"):
        topics = GROWN
        group.topics_changed(["foo"])
    outcome = group.handle(PROBES[cell.request](m1), _world(cell, topics), CALLER, _elsewhere(cell))
    if outcome.answer is None:
        assert cell.situation not in SHARE_SITUATIONS
        return
    assert (outcome.answer.error.name, _told(outcome.answer)) == (cell.error, cell.told)
    _assert_written(outcome, group, cell)


def _assert_written(outcome: Outcome[Answer], group: Machine, cell: Cell) -> None:
    assert [token(record) for record in outcome.records] == list(cell.records)
    if cell.after is not None:
        assert _state(group.present) == cell.after.strip()


def _told(answer: Answer) -> str:
    if answer.error or answer.epoch is None:
        return ""
    told = "null" if answer.assignment is None else "{" + _parts(answer.assignment) + "}"
    return f"epoch={answer.epoch},assignment={told}"


def _parts(partitions: Partitions) -> str:
    names = {FOO: "foo", BAR: "bar"}
    return " ".join(f"{names[topic]}[{','.join(map(str, of))}]" for topic, of in partitions.items() if of)


def _state(group: Group | None) -> str:
    if group is None:
        return "absent"
    members = [
        f"{name}({member.epoch},STABLE,{_parts(member.standing.assigned)})"
        for name, member in sorted(group.members.items())
    ]
    head = f"share {group.state.value} epoch={group.epoch} asgEpoch={group.assignment_epoch} n={len(members)}"
    return " ".join([head, *members])


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.request.startswith("partitions init")], ids=str)
def test_the_share_state_of_partitions_becomes_ready(cell: Cell):
    if cell.situation in SHARE_SITUATIONS:
        group = _machine(cell)
        outcome = group.share_state_made({FOO: (0, 1, 2, 3, 4, 5)}, _world(cell))
        assert [token(record) for record in outcome.records] == list(cell.records)
        assert group.present is not None
        assert group.present.share_state is not None
        assert group.present.share_state.initialized == {FOO: (0, 1, 2, 3, 4, 5)}
        assert group.present.share_state.initializing == {}


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.request.startswith("DeleteGroups")], ids=str)
def test_a_share_group_is_deleted_only_when_it_is_empty(cell: Cell):
    if _elsewhere(cell) is GroupType.ABSENT:
        group = _machine(cell)
        outcome = group.delete(_world(cell))
        assert outcome.answer is not None
        assert outcome.answer.error.name == cell.error
        _assert_written(outcome, group, cell)


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.request in DESCRIBES], ids=str)
def test_a_share_group_is_described_as_by_kafka(cell: Cell):
    there = _elsewhere(cell)
    assert_described(cell, _machine(cell).describe(DESCRIBES[cell.request], 6, there), there)


def test_a_describe_names_epochs_members_and_the_only_assignor():
    said = Machine(_group("BEHIND")).describe(GroupType.SHARE)
    assert said is not None
    assert (said.epoch, said.assignment_epoch, said.assignor, set(said.member_ids)) == (3, 3, "simple", {"m1", "m2"})


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.request == "OffsetDelete"], ids=str)
def test_a_share_group_has_no_offsets_to_delete(cell: Cell):
    if cell.situation in SHARE_SITUATIONS:
        answer = _machine(cell).delete_offsets("foo")
        assert answer is not None
        assert answer.error.name == cell.error


def test_a_share_group_is_a_plain_value():
    for name in SHARE_SITUATIONS:
        put_down_and_taken_up(Machine(_group(name)))
