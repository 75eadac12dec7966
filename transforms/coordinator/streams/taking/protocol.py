"""Streams groups as groups of epochs (KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import MsgspecError, Struct
from msgspec.json import Decoder

from schemas.rows import GroupRequestRow, HeldTasks
from transforms.coordinator.epochs.protocol import EpochProtocol, Glimpse, Part, parts_of
from transforms.coordinator.epochs.requests import request_of
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.states import ModernState, TaskState
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.requests import Answer, Caller, CommitRequest
from transforms.coordinator.modern.world import World
from transforms.coordinator.streams.causes import cause_of
from transforms.coordinator.streams.group import Group
from transforms.coordinator.streams.machine import Machine
from transforms.coordinator.streams.offsets import FIRST_WITH_EPOCH
from transforms.coordinator.streams.records import TOPOLOGY, TYPES, TaskIds, Topology, read
from transforms.coordinator.streams.requests import HeartbeatAnswer, HeartbeatRequest, Request
from transforms.coordinator.streams.tasks import Tasks, tasks_of
from transforms.coordinator.streams.topology import Configured, Status
from transforms.coordinator.streams.turn import Memory

_WAITING = {TaskState.UNREVOKED_TASKS, TaskState.UNRELEASED_TASKS}


class StreamsEpochs(EpochProtocol):
    """The protocol, as `epochs` asks of it."""

    group_type: Final = "streams"
    types: Final = TYPES
    type_ids: Final = frozenset({*TYPES.numbers, TOPOLOGY})
    ranks: Final[Mapping[int, int]] = {}
    first_epoch: Final = 2
    untold: Final = frozenset({Error.INVALID_REQUEST, Error.STREAMS_INVALID_TOPOLOGY, Error.UNKNOWN_SERVER_ERROR})

    read = staticmethod(read)
    machine = Machine
    cause_of = staticmethod(cause_of)

    def glimpse(self, group: Group, member_id: str) -> Glimpse | None:
        """Return a member of a group as it stands."""
        member = group.members.get(member_id)
        if member is None:
            return None
        metadata, standing = member.metadata, member.standing
        endpoint = metadata.user_endpoint
        return Glimpse(
            member_id,
            standing.epoch,
            standing.state.name if standing.state in _WAITING else None,
            metadata.instance_id,
            metadata.client_id,
            metadata.client_host,
            rebalance_timeout_ms=None if metadata.rebalance_timeout_ms < 0 else metadata.rebalance_timeout_ms,
            owned=_parts(standing.assigned.tasks),
            revoking=_parts(standing.revoking.tasks),
            rack_id=metadata.rack_id,
            topology_epoch=None if metadata.topology_epoch < 0 else metadata.topology_epoch,
            process_id=metadata.process_id or None,
            user_endpoint=None if endpoint is None else f"{endpoint.host}:{endpoint.port}",
            client_tags=tuple(sorted((tag.key, tag.value) for tag in metadata.client_tags)),
        )

    def target(self, group: Group, member_id: str) -> tuple[Part, ...]:
        """Return what a member is to have."""
        return _parts(group.targets.get(member_id, Tasks()))

    def is_settled(self, group: Group) -> bool:
        """Whether all members have got to the newest target."""
        return group.state is ModernState.STABLE

    # --- what requests are answered ----------------------------------------------------------------------------

    def request_of(self, row: GroupRequestRow) -> Request | None:
        """Return a request as the machine takes it; None for one that is another coordinator's, or cannot be read.

        What a member tells of itself beyond that, its process and endpoint, decides about nothing that is foreseen.
        """
        if row.api != "StreamsGroupHeartbeat":
            return request_of(row)
        try:
            topology = None if row.topology is None else _TOPOLOGY.decode(row.topology)
        except MsgspecError:
            return None
        return HeartbeatRequest(
            row.member_id or "",
            0 if row.generation is None else row.generation,
            instance_id=row.group_instance_id,
            rack_id=row.rack_id,
            rebalance_timeout_ms=-1 if row.rebalance_timeout_ms is None else row.rebalance_timeout_ms,
            topology=topology,
            active_tasks=_listed(row.owned_active),
            standby_tasks=_listed(row.owned_standby),
            warmup_tasks=_listed(row.owned_warmup),
        )

    def told(self, row: GroupRequestRow) -> Partitions | None:
        """Return the tasks that the answer to a heartbeat gives the member, by role; None = as before."""
        if row.told_active is None or row.told_standby is None or row.told_warmup is None:
            return None
        return _by_role(tasks_of(*map(_listed, (row.told_active, row.told_standby, row.told_warmup))))

    def observe(
        self,
        group: Group | None,
        request: Request,
        records: Sequence[Record[Struct]],
        world: World,
        caller: Caller,
        given_id: str,
    ) -> Answer | None:
        """Return what a request is answered that wrote some records; the group is used up."""
        if request is None or (group is not None and _rests_on_partitions(group, request, world, caller)):
            return None
        if group is not None and group.members and group.topology is None:
            group.topology = _topology_said(request)
        has_others = not records and group is not None and _has_tasks_of_none(group, request)
        machine = Machine(group, Memory(must_refresh=False, configured=_TASKS_COUNTED))
        answer = machine.observe(request, records, world, caller, partitions=_ANY_PARTITION)
        if has_others and answer is not None and not answer.error:
            return Answer(Error.INVALID_REQUEST)
        if not isinstance(answer, HeartbeatAnswer):
            return answer
        assignment = None if answer.tasks is None else _by_role(answer.tasks)
        return Answer(answer.error, answer.member_id, answer.epoch, assignment)


_TOPOLOGY: Final = Decoder(Topology)

_TASKS_COUNTED: Final = Configured({}, Status.MISSING_INTERNAL_TOPICS)
"""Nothing is known of the topics: no task is refused, and none goes without having been counted."""


_ANY_PARTITION: Final = (("", 0),)
"""What stands for the partitions of a commit, where the answer hangs on none of them."""


def _has_tasks_of_none(group: Group, request: Request) -> bool:
    """Whether a member reports tasks that the topology has not got: then it is refused, if that can be run.

    How many tasks a subtopology has the targets tell, which have all of them.
    Source: GroupMetadataManager.streamsGroupHeartbeat (4.2).
    """
    if not isinstance(request, HeartbeatRequest) or not any(request.listed) or group.topology is None:
        return False
    if group.state in (ModernState.NOT_READY, ModernState.EMPTY):
        return False
    counts: dict[str, int] = {part.subtopology_id: 0 for part in group.topology.subtopologies}
    for target in group.targets.values():
        for name, numbers in target.active.items():
            counts[name] = max([counts.get(name, 0), *(number + 1 for number in numbers)])
    return any(
        part.subtopology_id not in counts
        or any(not 0 <= number < (counts[part.subtopology_id] or number + 1) for number in part.partitions)
        for role in request.listed
        for part in role or ()
    )


def _topology_said(request: Request) -> Topology:
    """Return what stands for the topology of a group whose record of it is missing: whoever came first had one."""
    said = request.topology if isinstance(request, HeartbeatRequest) else None
    return Topology() if said is None else said


def _rests_on_partitions(group: Group, request: Request, world: World, caller: Caller) -> bool:
    """Whether a commit is of an epoch before, but not before all that its member holds.

    Then it is let in for some partitions and not for others, and which it commits the evidence does not hold.
    """
    if not isinstance(request, CommitRequest) or not world.settings.rules.lets_old_epochs_commit:
        return False
    if not request.is_transactional and caller.api_version < FIRST_WITH_EPOCH:
        return False
    member, epoch = group.members.get(request.member_id), request.generation_id_or_member_epoch
    if member is None or not 0 <= epoch < member.epoch:
        return False
    held = (member.standing.assigned.active, member.standing.revoking.active)
    return any(since <= epoch for active in held for tasks in active.values() for since in tasks.values())


def _listed(held: list[HeldTasks] | None) -> list[TaskIds] | None:
    return None if held is None else [TaskIds(each.subtopology_id or "", each.partitions or []) for each in held]


def _by_role(tasks: Tasks) -> Partitions:
    roles = {"active": tasks.active, "standby": tasks.standby, "warmup": tasks.warmup}
    return {f"{role} {part}": numbers for role, held in roles.items() for part, numbers in held.items()}


def _parts(tasks: Tasks) -> tuple[Part, ...]:
    active, standby = parts_of(tasks.active, "active"), parts_of(tasks.standby, "standby")
    return (*active, *standby, *parts_of(tasks.warmup, "warmup"))


PROTOCOL: Final = StreamsEpochs()
