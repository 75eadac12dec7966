"""Who is let in: the checks that refuse a request before the state machine's table is asked.

Each API has its checks in Kafka's own order; the first that fails names the error. A refusal changes nothing.
Source: validate* and acceptJoiningMember of the two coordinators.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec.structs import replace

from transforms.coordinator.classic.machine.events import Event
from transforms.coordinator.classic.machine.group import Group, Member
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.requests import Leaver, Request
from transforms.coordinator.kafka.states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE

Judgement = Event | Error
"""An event to apply, or the error that refuses the request."""


def validate_member(
    group: Group, member_id: str, group_instance_id: str | None, is_strict: bool = True
) -> Error | None:
    """Check a member id, and the instance it claims to be (ClassicGroup.validateMember).

    Args:
        group: the group.
        member_id: the member's.
        group_instance_id: the instance's, None if the request has none.
        is_strict: an instance that nobody is known as is refused; else only one that somebody else is.
    """
    if group_instance_id is not None:
        current = group.static_members.get(group_instance_id)
        if current is None and is_strict:
            return Error.UNKNOWN_MEMBER_ID
        if current is not None and current != member_id:
            return Error.FENCED_INSTANCE_ID
    return None if member_id in group.members else Error.UNKNOWN_MEMBER_ID


def admit(group: Group | None, request: Request, settings: CoordinatorSettings) -> Judgement:
    """Judge a request.

    Args:
        group: the group, None if the coordinator has none of that id. A JoinGroup that creates its group is judged
            against a new one.
        request: the request; not a LeaveGroup, whose members are judged one by one (`admit_leaver`).
        settings: the broker's.
    """
    return _ADMISSION[request.api](group, request, settings)


def _join(group: Group | None, request: Request, settings: CoordinatorSettings) -> Judgement:
    if not settings.min_session_timeout_ms <= request.session_timeout_ms <= settings.max_session_timeout_ms:
        return Error.INVALID_SESSION_TIMEOUT
    if group is None:
        if request.member_id:
            return Error.UNKNOWN_MEMBER_ID
        group = Group(request.member_id)
    if not has_room(group, request.member_id, settings):
        return Event.JOIN_REFUSED_FULL
    if group.state is DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    if not group.supports(request.protocol_type, request.protocols):
        return Error.INCONSISTENT_GROUP_PROTOCOL
    return _join_known(group, request) if request.member_id else _join_unknown(group, request, settings)


def has_room(group: Group, member_id: str, settings: CoordinatorSettings) -> bool:
    """Check group.max.size (acceptJoiningMember)."""
    if len(group.members) < settings.max_size:
        return True  # mostly; no more than these ever count
    count = counted_members(group, member_id, settings)
    return count is None or count < settings.max_size


def counted_members(group: Group, member_id: str, settings: CoordinatorSettings) -> int | None:
    """Return how many count against group.max.size when somebody joins; None for whom there is room whatever it is.

    While members join these are those who wait, afterwards those who are in.
    """
    member = group.members.get(member_id)
    is_waiting = member is not None and member.parked_join is not None
    if not settings.rules.counts_joiners:
        return None if is_waiting else _counted_up_to_2_5(group, member_id)
    if group.state is PREPARING:
        return None if is_waiting else group.awaiting_join
    is_let_in = group.state in (EMPTY, DEAD) or member is not None
    return None if is_let_in else len(group.members)


def _counted_up_to_2_5(group: Group, member_id: str) -> int | None:
    """Likewise as up to 2.5: those who are in, whatever the state; an id that was given out is let in."""
    if member_id in group.members:
        return len(group.members) - 1
    return None if member_id else len(group.members)


def _join_unknown(group: Group, request: Request, settings: CoordinatorSettings) -> Judgement:
    if request.group_instance_id is not None:
        old_id = group.static_members.get(request.group_instance_id)
        if old_id is None:
            return Event.MEMBER_ADDED
        if group.state is COMPLETING and settings.rules.replaces_while_completing:
            return Event.STATIC_MEMBER_TOOK_OVER
        if settings.rules.replaces_at_once:
            return Event.STATIC_MEMBER_REPLACED
        if group.state is STABLE and _vote_with(group, old_id, request) != group.protocol:
            return Event.STATIC_MEMBER_CHANGED_PROTOCOL
        if group.state is STABLE and request.is_unstored:
            return Event.STATIC_MEMBER_UNSTORED
        return Event.STATIC_MEMBER_REPLACED
    return Event.MEMBER_ID_GIVEN if request.requires_known_member_id else Event.MEMBER_ADDED


def _vote_with(group: Group, member_id: str, request: Request) -> str | None:
    """Return the protocol the group would elect if a member brought the request's protocols."""
    return group.vote(instead=replace(group.members[member_id], protocols=request.protocols, is_partial=False))


def _join_known(group: Group, request: Request) -> Judgement:
    if request.member_id in group.pending_joins:
        return Event.MEMBER_ADDED
    refused = validate_member(group, request.member_id, request.group_instance_id)
    if refused is not None:
        return refused
    if group.state is EMPTY:
        return Error.UNKNOWN_MEMBER_ID
    member = group.members[request.member_id]
    is_leader = group.leader == request.member_id
    if is_leader and group.state is STABLE:
        return Event.LEADER_REJOINED
    if not matches(member, request):
        return Event.METADATA_CHANGED
    return Event.LEADER_REJOINED if is_leader else Event.FOLLOWER_REJOINED


def matches(member: Member, request: Request) -> bool:
    """Whether a rejoining member brings the same protocols and metadata, in the same order."""
    if request.is_changed is not None:
        return not request.is_changed
    if member.is_partial:
        return all(dict(request.protocols).get(name) == metadata for name, metadata in member.protocols)
    return member.protocols == request.protocols


def _validated(group: Group, request: Request, settings: CoordinatorSettings) -> Error | None:
    is_strict = settings.rules.knows_instances_strictly
    return validate_member(group, request.member_id, request.group_instance_id, is_strict)


def _refused_as_member(group: Group | None, request: Request, settings: CoordinatorSettings) -> Error | None:
    """Check what SyncGroup and Heartbeat have in common: a group, a member of it, and its generation."""
    if group is None:
        return Error.UNKNOWN_MEMBER_ID
    if group.state is DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    refused = _validated(group, request, settings)
    if refused is None and request.generation != group.generation:
        return Error.ILLEGAL_GENERATION
    return refused


def _sync(group: Group | None, request: Request, settings: CoordinatorSettings) -> Judgement:
    refused = _refused_as_member(group, request, settings)
    if refused is not None or group is None:
        return refused or Error.UNKNOWN_MEMBER_ID
    if (request.protocol_type is not None and request.protocol_type != group.protocol_type) or (
        request.protocol is not None and request.protocol != group.protocol
    ):
        return Error.INCONSISTENT_GROUP_PROTOCOL
    if group.state is EMPTY:
        return Error.UNKNOWN_MEMBER_ID
    is_assigning = group.leader == request.member_id and not request.is_unstored
    return Event.LEADER_SYNCED if is_assigning else Event.FOLLOWER_SYNCED


def _heartbeat(group: Group | None, request: Request, settings: CoordinatorSettings) -> Judgement:
    refused = _refused_as_member(group, request, settings)
    if refused is Error.ILLEGAL_GENERATION and settings.rules.heartbeats_await_sync_of_all and group is not None:
        return refused if group.state is not COMPLETING else Error.REBALANCE_IN_PROGRESS
    if refused is not None or group is None:
        return refused or Error.UNKNOWN_MEMBER_ID
    if group.state is EMPTY:
        return Error.UNKNOWN_MEMBER_ID
    if group.state is COMPLETING and settings.rules.heartbeats_await_sync:
        return Error.REBALANCE_IN_PROGRESS
    return Event.HEARTBEAT


def _commit(group: Group | None, request: Request, settings: CoordinatorSettings) -> Judgement:
    is_txn = request.api == "TxnOffsetCommit"
    if request.unknown_topics_only:
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    if group is None:
        return _commit_to_absent(request, settings, is_txn)
    if group.state is DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    if is_txn and not settings.rules.knows_instances_strictly:
        return _commit_in_old_transaction(group, request, settings)
    event = Event.TXN_COMMIT if is_txn else Event.COMMIT
    is_of_tool = request.generation < 0 and not (settings.rules.tools_are_nameless and request.member_id)
    if is_of_tool and group.state is EMPTY:
        return event
    return _refused_commit(group, request, settings, is_txn) or event


def _refused_commit(group: Group, request: Request, settings: CoordinatorSettings, is_txn: bool) -> Error | None:
    """Check who commits (validateOffsetCommit)."""
    if request.generation < 0 and not request.member_id and request.group_instance_id is None:
        refused = None if is_txn else Error.UNKNOWN_MEMBER_ID
    else:
        refused = _validated(group, request, settings)
        if refused is None and request.generation != group.generation:
            refused = Error.ILLEGAL_GENERATION
    if settings.rules.commits_await_sync and group.state is COMPLETING:
        return refused if refused is Error.FENCED_INSTANCE_ID else Error.REBALANCE_IN_PROGRESS
    return refused


def _commit_in_old_transaction(group: Group, request: Request, settings: CoordinatorSettings) -> Judgement:
    """Judge a commit in a transaction as up to 2.8: what it does not say is not checked."""
    if settings.rules.trusts_transactions:
        return Event.TXN_COMMIT
    refused = _validated(group, request, settings)
    if refused is Error.FENCED_INSTANCE_ID or (refused is not None and request.member_id):
        return refused
    if request.generation >= 0 and request.generation != group.generation:
        return Error.ILLEGAL_GENERATION
    return Event.TXN_COMMIT


def _commit_to_absent(request: Request, settings: CoordinatorSettings, is_txn: bool) -> Judgement:
    if is_txn and not settings.rules.knows_instances_strictly:
        return _commit_in_old_transaction(Group(""), request, settings)
    if request.generation < 0:
        return Event.TXN_COMMIT if is_txn else Event.COMMIT
    if is_txn:
        return Error.ILLEGAL_GENERATION if settings.is_java else Error.UNKNOWN_MEMBER_ID
    if settings.is_java and request.api_version >= 9:
        return Error.GROUP_ID_NOT_FOUND
    return Error.ILLEGAL_GENERATION


def _delete(group: Group | None, request: Request, settings: CoordinatorSettings) -> Judgement:
    if group is None or group.state is DEAD:
        return Error.GROUP_ID_NOT_FOUND
    return Event.GROUP_DELETED


def admit_leaver(
    group: Group, leaver: Leaver, settings: CoordinatorSettings, gone: Collection[str] = ()
) -> tuple[str, Event] | Error:
    """Judge one member of a LeaveGroup.

    Args:
        group: what it is judged by.
        leaver: the member.
        settings: the broker's.
        gone: ids that the same request has removed, and the group still has: its coordinator lets go of a member at
            once, and of its instance with it (GroupMetadataManager.removeCurrentMemberFromClassicGroup).

    Returns:
        The id to remove and the event, or the error.
    """
    if not settings.rules.knows_instances_strictly:
        return _admit_old_leaver(group, leaver, gone)
    holder = group.static_members.get(leaver.group_instance_id or "")
    if leaver.member_id in group.pending_joins and leaver.member_id not in gone:
        return leaver.member_id, Event.PENDING_MEMBER_LEFT
    member_id = leaver.member_id or holder
    if member_id is None or holder in gone:
        return Error.UNKNOWN_MEMBER_ID
    refused = validate_member(group, member_id, leaver.group_instance_id)
    if refused is None and member_id in gone:
        refused = Error.UNKNOWN_MEMBER_ID
    return (member_id, Event.MEMBERS_LEFT) if refused is None else refused


def _admit_old_leaver(group: Group, leaver: Leaver, gone: Collection[str]) -> tuple[str, Event] | Error:
    """Judge a leaver as up to 2.8: whoever is known by its id or by its instance goes."""
    current = group.static_members.get(leaver.group_instance_id or "")
    if current in gone:
        current = None
    if leaver.member_id and current is not None and current != leaver.member_id:
        return Error.FENCED_INSTANCE_ID
    member_id = current or leaver.member_id
    if member_id in gone:
        return Error.UNKNOWN_MEMBER_ID
    if leaver.member_id in group.pending_joins:
        return leaver.member_id, Event.PENDING_MEMBER_LEFT
    return (member_id, Event.MEMBERS_LEFT) if member_id in group.members else Error.UNKNOWN_MEMBER_ID


def first_refusal(group: Group | None, leavers: Iterable[Leaver], settings: CoordinatorSettings) -> Error:
    """Return the first error that a LeaveGroup is answered with; NONE if all leave."""
    if group is None:
        return Error.UNKNOWN_MEMBER_ID
    if group.state is DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    gone: list[str] = []
    for leaver in leavers:
        admitted = admit_leaver(group, leaver, settings, gone)
        if isinstance(admitted, Error):
            return admitted
        gone.append(admitted[0])
    return Error.NONE


_ADMISSION = {
    "JoinGroup": _join,
    "SyncGroup": _sync,
    "Heartbeat": _heartbeat,
    "OffsetCommit": _commit,
    "TxnOffsetCommit": _commit,
    "DeleteGroups": _delete,
}
