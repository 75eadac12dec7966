"""What a heartbeat does in a streams group, in Kafka's order.

Source: GroupMetadataManager.streamsGroupHeartbeat (4.2; 4.1 by `modern_rules`).
"""

from __future__ import annotations

from msgspec.structs import replace

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.states import TaskState
from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.requests import Caller
from transforms.coordinator.modern.turn import Deadline
from transforms.coordinator.modern.world import Refused
from transforms.coordinator.streams.group import Group, Member
from transforms.coordinator.streams.reconcile import Goal, is_reconciled, reconcile
from transforms.coordinator.streams.records import (
    CURRENT,
    EPOCH,
    MEMBER,
    TOPOLOGY,
    CurrentAssignment,
    GroupMetadata,
    Topology,
)
from transforms.coordinator.streams.requests import JOIN, HeartbeatAnswer, HeartbeatRequest
from transforms.coordinator.streams.targets import update_targets
from transforms.coordinator.streams.tasks import Tasks, listed, listed_epochs
from transforms.coordinator.streams.topology import Configured, Status, configure
from transforms.coordinator.streams.turn import Turn

FIRST_EPOCH = 2
"""Epoch of a new group; members that wait for its first targets have epoch 1 (4.2)."""


def heartbeat(turn: Turn, request: HeartbeatRequest, caller: Caller) -> HeartbeatAnswer:
    """Handle a heartbeat of a member that joins or is there."""
    member = _speaker(turn, request)
    updated = _updated(member, request, caller)
    if updated.metadata != member.metadata:
        turn.records.append(Record(MEMBER, updated.member_id, updated.metadata))
    topology = _take_topology(turn, request)
    configured, metadata_hash = _look_at_topics(turn, topology)
    if configured.is_ready:
        _check_tasks(configured, request)
    epoch = _bump(turn, configured, metadata_hash, topology, is_changed=updated.metadata != member.metadata)
    _maybe_delay(turn)
    statuses = _stale(turn.group, updated)
    if epoch <= turn.group.assignment_epoch:
        epoch, target = turn.group.assignment_epoch, turn.group.targets.get(updated.member_id, Tasks())
    elif turn.memory.delayed_until is not None:
        epoch, target = max(1, turn.group.assignment_epoch), Tasks()
        statuses.append(Status.ASSIGNMENT_DELAYED)
    else:
        target = update_targets(turn, epoch, topology, configured, updated)[updated.member_id]
    after = _lead_on(turn, updated, epoch, target, request.owned)
    turn.memory.sessions[after.member_id] = turn.world.now + turn.world.settings.session_timeout_ms
    if request.shutdown_application:
        turn.memory.shutdown_by = after.member_id
    return _answer(turn, request, member, after, [*statuses, *([configured.problem] if configured.problem else [])])


def answer_of(request: HeartbeatRequest, before: Member, after: Member) -> HeartbeatAnswer:
    """Return what a heartbeat is answered that was not refused, by the member before and after it."""
    had, has = before.standing.assigned.tasks, after.standing.assigned.tasks  # without epochs, which 4.1 does not write
    is_told = request.member_epoch == JOIN or had != has
    return HeartbeatAnswer(Error.NONE, after.member_id, after.epoch, has if is_told else None)


# --- who speaks ----------------------------------------------------------------------------------------------------


def _speaker(turn: Turn, request: HeartbeatRequest) -> Member:
    """Return the member that a heartbeat is of, or refuse it. Who joins again is one too many in a full group, too."""
    group = turn.group
    member = group.members.get(request.member_id)
    if request.member_epoch == JOIN:
        if len(group.members) >= turn.world.settings.streams_max_size:
            raise Refused(Error.GROUP_MAX_SIZE_REACHED)
        if member is None or turn.world.settings.rules.lets_rejoin:
            return member or Member(request.member_id)
    if member is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    epoch, standing = request.member_epoch, member.standing
    is_one_behind = epoch < standing.epoch and epoch == standing.previous_epoch
    if epoch != standing.epoch and not (is_one_behind and _holds_all(standing.assigned.tasks, request.owned)):
        raise Refused(Error.FENCED_MEMBER_EPOCH)
    return member


def _holds_all(assigned: Tasks, owned: Tasks | None) -> bool:
    return owned is not None and not owned.minus(assigned)


def _updated(member: Member, request: HeartbeatRequest, caller: Caller) -> Member:
    old = member.metadata
    tags = request.client_tags
    said = replace(
        old,
        rack_id=old.rack_id if request.rack_id is None else request.rack_id,
        client_id=caller.client_id,
        client_host=caller.client_host,
        rebalance_timeout_ms=(
            old.rebalance_timeout_ms if request.rebalance_timeout_ms == -1 else request.rebalance_timeout_ms
        ),
        topology_epoch=old.topology_epoch if request.topology is None else request.topology.epoch,
        process_id=old.process_id if request.process_id is None else request.process_id,
        user_endpoint=request.user_endpoint or old.user_endpoint,
        client_tags=old.client_tags if tags is None else tuple(sorted(tags)),
    )
    return replace(member, metadata=said)


# --- topology ------------------------------------------------------------------------------------------------------


def _take_topology(turn: Turn, request: HeartbeatRequest) -> Topology:
    """Return the topology that holds: the first that was ever said. An older one is passed over, a newer refused."""
    said, known = request.topology, turn.group.topology
    if said is not None and said.epoch < 0:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    if known is None:
        if said is None:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
        turn.records.append(Record(TOPOLOGY, value=said))
        return said
    if said is not None and said.epoch >= known.epoch and not said.is_same(known):
        raise Refused(Error.INVALID_REQUEST)
    return known


def _stale(group: Group, member: Member) -> list[Status]:
    is_stale = group.topology is not None and member.metadata.topology_epoch < group.topology.epoch
    return [Status.STALE_TOPOLOGY] if is_stale else []


def _look_at_topics(turn: Turn, topology: Topology) -> tuple[Configured, int]:
    """Return the topology as it is on the topics, and the hash of those that it needs."""
    memory, group, topics = turn.memory, turn.group, turn.world.topics
    is_new = group.topology is None
    if not is_new and memory.configured is not None and not memory.must_refresh:
        return memory.configured, group.metadata_hash
    metadata_hash = topics.hash_of(topology.required_topics())
    if is_new or memory.configured is None or metadata_hash != group.metadata_hash:
        memory.configured = configure(topology, topics)
    return memory.configured, metadata_hash


def _check_tasks(configured: Configured, request: HeartbeatRequest) -> None:
    """Refuse tasks that the topology has not got."""
    counts = configured.task_counts or {}
    for role in request.listed:
        for part in role or ():
            count = counts.get(part.subtopology_id)
            if count is None or any(not 0 <= number < count for number in part.partitions):
                raise Refused(Error.INVALID_REQUEST)


def _bump(turn: Turn, configured: Configured, metadata_hash: int, topology: Topology, is_changed: bool) -> int:
    """Bump the group's epoch if anything changed; return it."""
    group = turn.group
    validated = topology.epoch if configured.is_ready else -1
    rules = turn.world.settings.rules
    is_due = is_changed or metadata_hash != group.metadata_hash
    if rules.validates_topologies:
        is_due |= validated != group.validated_epoch or turn.configs != group.configs
    if not is_due:
        return group.epoch
    epoch = group.epoch + 1 if group.epoch or not rules.delays_first_tasks else FIRST_EPOCH
    if not rules.validates_topologies:
        turn.records.append(Record(EPOCH, value=GroupMetadata(epoch, metadata_hash)))
        turn.memory.must_refresh = False
        return epoch
    turn.records.append(Record(EPOCH, value=GroupMetadata(epoch, metadata_hash, validated, turn.configs)))
    turn.memory.must_refresh = False
    return epoch


def _maybe_delay(turn: Turn) -> None:
    """Let the first targets of an empty group wait for more members (4.2)."""
    delay = turn.world.settings.initial_delay_ms if turn.world.settings.rules.delays_first_tasks else 0
    if not turn.group.members and delay > 0 and turn.memory.delayed_until is None:
        turn.memory.delayed_until = turn.world.now + delay


# --- reconciliation ------------------------------------------------------------------------------------------------


def _lead_on(turn: Turn, member: Member, epoch: int, target: Tasks, owned: Tasks | None) -> Member:
    """Lead a member on towards its target, and return it as it stands then."""
    if is_reconciled(member.standing, epoch):
        return member
    members, process = turn.group.members.values(), member.metadata.process_id
    here = [each for each in members if each.metadata.process_id == process]
    goal = Goal(
        epoch,
        target,
        lambda *task: any(each.has("active", *task) for each in members),
        lambda *task: any(each.has("active", *task) for each in here),
        lambda *task: any(each.has("standby", *task) or each.has("warmup", *task) for each in here),
        owned,
    )
    standing = reconcile(member.standing, goal)
    if standing is None:
        raise Refused(Error.FENCED_MEMBER_EPOCH)
    if standing == member.standing:
        return member
    after = replace(member, standing=standing)
    turn.records.append(Record(CURRENT, member.member_id, _written(after)))
    if standing.state is TaskState.UNREVOKED_TASKS:
        due = turn.world.now + member.metadata.rebalance_timeout_ms
        turn.memory.revocations[member.member_id] = Deadline(due, standing.epoch)
    else:
        turn.memory.revocations.pop(member.member_id, None)
    return after


def _written(member: Member) -> CurrentAssignment:
    standing = member.standing
    return CurrentAssignment(
        standing.epoch,
        standing.previous_epoch,
        int(standing.state),
        listed_epochs(standing.assigned.active),
        listed(standing.assigned.standby),
        listed(standing.assigned.warmup),
        listed_epochs(standing.revoking.active),
        listed(standing.revoking.standby),
        listed(standing.revoking.warmup),
    )


def _answer(
    turn: Turn, request: HeartbeatRequest, before: Member, after: Member, statuses: list[Status]
) -> HeartbeatAnswer:
    memory, answer = turn.memory, answer_of(request, before, after)
    has_endpoint = after.metadata.user_endpoint is not None
    if answer.tasks is not None and has_endpoint:
        memory.endpoint_epoch += 1
    has_endpoint |= any(each.metadata.user_endpoint is not None for each in turn.group.members.values())
    is_uncounted = memory.configured is None or memory.configured.task_counts is None
    if has_endpoint and memory.endpoint_epoch != request.endpoint_information_epoch and is_uncounted:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)  # Kafka takes it for granted that tasks were counted
    if memory.shutdown_by is not None:
        statuses.append(Status.SHUTDOWN_APPLICATION)
    endpoint_epoch = memory.endpoint_epoch if turn.group.epoch else 0
    return replace(answer, statuses=tuple(statuses), endpoint_epoch=endpoint_epoch)


# --- who goes ------------------------------------------------------------------------------------------------------


def fence(turn: Turn, member_id: str) -> None:
    """Remove a member. The hash and the topology's state are written as they were, without a look at the topics."""
    group = turn.group
    if member_id not in group.members:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    turn.forget_member(member_id)
    validated = -1 if group.validated_epoch is None else group.validated_epoch
    value = GroupMetadata(group.epoch + 1, group.metadata_hash, validated, group.configs)
    if not turn.world.settings.rules.validates_topologies:
        value = GroupMetadata(group.epoch + 1, 0)
    turn.records.append(Record(EPOCH, value=value))
    turn.memory.sessions.pop(member_id, None)
    turn.memory.revocations.pop(member_id, None)
    if len(group.members) == 1:
        turn.memory.shutdown_by = None
