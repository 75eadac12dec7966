from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from tests.oracle_modern.cells import DESCRIBES, Cell, assert_described, cells, token
from tests.oracle_modern.histories import put_down_and_taken_up
from transforms.coordinator.kafka.states import TaskState
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.machine import Outcome
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
from transforms.coordinator.streams.group import Group, Member
from transforms.coordinator.streams.machine import Elsewhere, Machine
from transforms.coordinator.streams.reconcile import Standing
from transforms.coordinator.streams.records import (
    KeyValue,
    MemberMetadata,
    Subtopology,
    TaskIds,
    Topology,
)
from transforms.coordinator.streams.requests import HeartbeatAnswer, HeartbeatRequest, Request
from transforms.coordinator.streams.tasks import Held, Tasks
from transforms.coordinator.streams.topology import configure

FOO, BAR = Topic("foo", "AAAAAAAADwAAAAAAAAAAAQ", 6), Topic("bar", "AAAAAAAAC6IAAAAAAAAAAg", 3)
CALLER = Caller(9, "client", "host")
REBALANCE_MS = 30_000
READS_FOO = Topology(0, (Subtopology("0", ("foo",)),))
READS_BAR = Topology(0, (Subtopology("0", ("bar",)),))
NEWER = Topology(1, READS_FOO.subtopologies)
CONFIGS = (KeyValue("num.standby.replicas", "0"),)
LOW, HIGH = (0, 1, 2), (3, 4, 5)

ALL = [cell for cell in cells("state_x_request_share_streams") if cell.section == "STREAMS"]
NOT_READY, DELAYED = "NOT_READY(foo missing)", "DELAYED(initial delay 3 s)"
STREAMS_SITUATIONS = (NOT_READY, DELAYED, "STABLE2", "RECONCILING", "ASSIGNING", "EMPTY")


def _held(numbers: tuple[int, ...], epoch: int) -> Held:
    return Held({"0": dict.fromkeys(numbers, epoch)} if numbers else {})


def _tasks(*numbers: int) -> Tasks:
    return Tasks({"0": numbers} if numbers else {})


def _topics(name: str) -> Topics:
    return Topics([BAR] if name == NOT_READY else [FOO, BAR])


def _group(name: str) -> Group:
    stable = TaskState.STABLE
    members: dict[str, list[tuple[str, Standing, Tasks]]] = {
        NOT_READY: [("m1", Standing(2, 0, stable), _tasks())],
        DELAYED: [("m1", Standing(1, 0, stable), _tasks())],
        "STABLE2": [
            ("m1", Standing(3, 2, stable, _held(LOW, 2)), _tasks(*LOW)),
            ("m2", Standing(3, 3, stable, _held(HIGH, 3)), _tasks(*HIGH)),
        ],
        "RECONCILING": [
            ("m1", Standing(2, 2, TaskState.UNREVOKED_TASKS, _held(LOW, 2), _held(HIGH, 2)), _tasks(*LOW)),
            ("m2", Standing(3, 0, TaskState.UNRELEASED_TASKS), _tasks(*HIGH)),
        ],
        "ASSIGNING": [("m1", Standing(3, 2, stable, _held(LOW, 2)), _tasks(*LOW))],
        "EMPTY": [],
    }
    epochs = {NOT_READY: (2, 2), DELAYED: (2, 0), "ASSIGNING": (4, 3), "EMPTY": (5, 3)}
    epoch, assignment_epoch = epochs.get(name, (3, 3))
    metadata_hash = _topics(name).hash_of(["foo"])
    validated = -1 if name == NOT_READY else 0
    group = Group(
        epoch, metadata_hash, assignment_epoch, validated_epoch=validated, configs=CONFIGS, topology=READS_FOO
    )
    for member_id, standing, target in members[name]:
        process = f"p-{member_id}"
        metadata = MemberMetadata(None, None, CALLER.client_id, CALLER.client_host, REBALANCE_MS, 0, process)
        group.put(Member(member_id, metadata, standing))
        if name != DELAYED:
            group.targets[member_id] = target
    return group


def _machine(cell: Cell) -> Machine:
    if cell.situation not in STREAMS_SITUATIONS:
        return Machine()
    made = Machine(_group(cell.situation))
    made.memory.must_refresh = False
    made.memory.configured = configure(READS_FOO, _topics(cell.situation))
    made.memory.delayed_until = 3_500.0 if cell.situation == DELAYED else None
    return made


def _elsewhere(cell: Cell) -> Elsewhere:
    types = {"CONSUMER": GroupType.CONSUMER, "SHARE": GroupType.SHARE, "CLASSIC": GroupType.CLASSIC}
    if cell.situation in types:
        return Elsewhere(types[cell.situation], is_empty=False)
    return Elsewhere(GroupType.CLASSIC if cell.situation == "CLASSIC_EMPTY" else GroupType.ABSENT)


def _world(cell: Cell) -> World:
    """Groups were made without a delay where the situation is not about it."""
    is_delayed = cell.situation in (DELAYED, "CLASSIC_EMPTY")
    return World(_topics(cell.situation), ModernSettings(initial_delay_ms=3_000 if is_delayed else 0), 1_000.0)


Probe = Callable[[Member | None], Request]


def _join(member_id: str, topology: Topology | None = READS_FOO, **fields: object) -> Probe:
    request = HeartbeatRequest(
        member_id,
        0,
        rebalance_timeout_ms=REBALANCE_MS,
        topology=topology,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id=f"p-{member_id}",
        client_tags=(),
    )
    return lambda m1: msgspec.structs.replace(request, **fields)


def _says(more: int = 0, **fields: object) -> Probe:
    return lambda m1: msgspec.structs.replace(HeartbeatRequest("m1", (m1.epoch if m1 else 1) + more), **fields)


def _holding(request: HeartbeatRequest, m1: Member | None) -> HeartbeatRequest:
    numbers = [*m1.standing.assigned.active.get("0", ())] if m1 else []
    active = [TaskIds("0", numbers)] if numbers else []
    return msgspec.structs.replace(request, active_tasks=active, standby_tasks=[], warmup_tasks=[])


def _previous(m1: Member | None) -> HeartbeatRequest:
    """With the epoch before its own, if it had one; else with one that is much too new."""
    epoch = m1.standing.previous_epoch if m1 else 1
    return HeartbeatRequest("m1", epoch if epoch > 0 else 99)


def _commit(epoch_of: Callable[[Member | None], int], member_id: str = "m1", is_transactional: bool = False) -> Probe:
    return lambda m1: CommitRequest(member_id, epoch_of(m1), None, is_transactional)


def _own(more: int = 0) -> Callable[[Member | None], int]:
    return lambda m1: (m1.epoch if m1 else 1) + more


def _just(request: Request) -> Probe:
    return lambda m1: request


PROBES: dict[str, Probe] = {
    "StreamsGroupHeartbeat epoch 0, new member, same topology": _join("n1"),
    "epoch 0, known m1 (rejoin)": _join("m1"),
    "epoch 0, other topology, same epoch": _join("n1", READS_BAR),
    "epoch 0, topology epoch 1": _join("n1", NEWER),
    "epoch 0 without topology": _join("n1", None),
    "epoch 0, instance id": _join("n1", instance_id="i1"),
    "m1 current epoch, all null": _says(),
    "m1 current epoch, owned = assigned": lambda m1: _holding(HeartbeatRequest("m1", _own()(m1)), m1),
    "m1 current epoch, topology given": _says(topology=READS_FOO),
    "m1 current epoch, only activeTasks": _says(active_tasks=[]),
    "m1 current epoch, processId changed": _says(process_id="other"),
    "m1 current epoch, rebalance timeout changed": _says(rebalance_timeout_ms=REBALANCE_MS + 1),
    "m1 epoch+1": _says(1),
    "m1 previous epoch, owned = assigned": lambda m1: _holding(_previous(m1), m1),
    "m1 previous epoch, owned null": _previous,
    "unknown member epoch 3": _just(HeartbeatRequest("zz", 3)),
    "m1 leaves (-1)": _just(HeartbeatRequest("m1", -1)),
    "m1 leaves with shutdownApplication": _just(HeartbeatRequest("m1", -1, shutdown_application=True)),
    "m1 shutdownApplication": _says(shutdown_application=True),
    "epoch -2": _just(HeartbeatRequest("m1", -2)),
    "warmup tasks given": _says(active_tasks=[], standby_tasks=[], warmup_tasks=[TaskIds("0", [0])]),
    "OffsetCommit v9 m1 current epoch (foo-0)": _commit(_own()),
    "OffsetCommit v9 m1 epoch-1": _commit(_own(-1)),
    "OffsetCommit v9 m1 epoch+1": _commit(_own(1)),
    "OffsetCommit v8 m1": _commit(_own()),
    "OffsetCommit v9 '' -1": _commit(lambda m1: -1, ""),
    "TxnOffsetCommit m1 current": _commit(_own(), is_transactional=True),
    "TxnOffsetCommit m1 epoch+1": _commit(_own(1), is_transactional=True),
    "OffsetFetch m1 epoch-1": lambda m1: FetchRequest("m1", _own(-1)(m1)),
    "JoinGroup v3": _just(JoinRequest("", None, 10_000, 10_000, "consumer")),
    "SyncGroup": _just(SyncRequest("m1", 1)),
    "Heartbeat": _just(ClassicHeartbeatRequest("m1", 1)),
    "LeaveGroup": _just(LeaveRequest((LeavingMember("m1"),))),
}


def test_the_table_is_read_whole():
    assert len(ALL) == 39 * 11
    assert {cell.request for cell in ALL} - set(PROBES) == {
        *(DESCRIBES.keys() - {"ShareGroupDescribe"}),
        "CGHeartbeat epoch 0",
        "DeleteGroups",
        "OffsetDelete foo-0",
    }


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.request in PROBES], ids=str)
def test_a_request_to_a_streams_group_is_answered_and_writes_as_in_kafka(cell: Cell):
    group = _machine(cell)
    m1 = None if group.present is None else group.present.members.get("m1")
    caller = Caller(8 if "v8" in cell.request else 9, CALLER.client_id, CALLER.client_host)
    outcome = group.handle(PROBES[cell.request](m1), _world(cell), caller, _elsewhere(cell), [("foo", 0)])
    if outcome.answer is None:
        if cell.situation in STREAMS_SITUATIONS:
            assert (cell.situation, cell.error) == ("EMPTY", "PARKED")
            deleted = [each for each in cell.records if each.endswith("=X")]
            assert [token(record) for record in outcome.records] == deleted
        return
    kafka_error = "NONE" if cell.error == "NONE/NONE" else cell.error
    assert (outcome.answer.error.name, _told(outcome.answer)) == (kafka_error, cell.told)
    _assert_written(outcome, group, cell)


def _assert_written(outcome: Outcome[HeartbeatAnswer | Answer], group: Machine, cell: Cell) -> None:
    assert [token(record) for record in outcome.records] == [each for each in cell.records if each not in ("1", "1=X")]
    if cell.after is not None:
        assert _state(group.present) == cell.after.strip()


def _told(answer: HeartbeatAnswer | Answer) -> str:
    if answer.error or not isinstance(answer, HeartbeatAnswer):
        return ""
    tasks = answer.tasks
    roles = ("active", "standby", "warmup")
    told = [f"{role}={'null' if tasks is None else _parts(getattr(tasks, role))}" for role in roles]
    statuses = ", ".join(status.name for status in answer.statuses)
    return f"epoch={answer.epoch},{','.join(told)},status=[{statuses}],endpointEpoch={answer.endpoint_epoch}"


def _parts(tasks: dict[str, tuple[int, ...]]) -> str:
    return "[" + " ".join(f"{part}[{','.join(map(str, of))}]" for part, of in tasks.items()) + "]"


def _state(group: Group | None) -> str:
    if group is None:
        return "absent"
    members = [f"{name}({member.epoch},{member.standing.state.name})" for name, member in sorted(group.members.items())]
    head = f"streams {group.state.value} epoch={group.epoch} asgEpoch={group.assignment_epoch} n={len(members)}"
    return " ".join([head, *members])


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.request == "DeleteGroups"], ids=str)
def test_a_streams_group_is_deleted_only_when_it_is_empty(cell: Cell):
    if _elsewhere(cell).group_type is GroupType.ABSENT:
        group = _machine(cell)
        outcome = group.delete(_world(cell))
        assert outcome.answer is not None
        assert outcome.answer.error.name == cell.error
        _assert_written(outcome, group, cell)


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.request in DESCRIBES], ids=str)
def test_a_streams_group_is_described_as_by_kafka(cell: Cell):
    there = _elsewhere(cell).group_type
    assert_described(cell, _machine(cell).describe(DESCRIBES[cell.request], 6, there), there)


def test_a_describe_names_epochs_and_members():
    said = Machine(_group("ASSIGNING")).describe(GroupType.STREAMS)
    assert said is not None
    assert (said.epoch, said.assignment_epoch, said.assignor, said.member_ids) == (4, 3, "", ("m1",))


@pytest.mark.parametrize("cell", [cell for cell in ALL if cell.request == "OffsetDelete foo-0"], ids=str)
def test_offsets_of_a_topic_that_the_topology_reads_are_kept(cell: Cell):
    if cell.situation in STREAMS_SITUATIONS:
        answer = _machine(cell).delete_offsets("foo")
        assert answer is not None
        assert answer.error.name == cell.error.removeprefix("NONE/")


def test_a_streams_group_is_a_plain_value():
    for name in STREAMS_SITUATIONS:
        put_down_and_taken_up(Machine(_group(name)))
