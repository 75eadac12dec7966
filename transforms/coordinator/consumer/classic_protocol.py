"""How members of the classic protocol live in a consumer group: their joins, syncs and heartbeats.

There is no join barrier: a join is answered at once, with the member's epoch for a generation.
Source: GroupMetadataManager.classicGroup…ToConsumerGroup (4.2).
"""

from __future__ import annotations

from msgspec.structs import replace

from transforms.coordinator.consumer.bumps import RegexChange, refresh_metadata, update_member, update_regex
from transforms.coordinator.consumer.conversion import CONSUMER_PROTOCOL, can_downgrade_by, downgrade_by
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.heartbeat import lead_on, next_target
from transforms.coordinator.consumer.joining import check_size, joiner, known_member
from transforms.coordinator.consumer.records import ClassicMember, ClassicProtocol
from transforms.coordinator.consumer.turn import TimerKind, Turn
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.states import MemberState
from transforms.coordinator.modern.partitions import Partitions, each, of_numbers
from transforms.coordinator.modern.requests import Answer, Caller, ClassicHeartbeatRequest, JoinRequest, SyncRequest
from transforms.coordinator.modern.topics import Topics
from transforms.coordinator.modern.turn import Deadline
from transforms.coordinator.modern.world import Refused
from transforms.wire.consumer_protocol import Subscription, read_subscription

_ID_FIRST = 4
"""Version of JoinGroup since which a dynamic joiner without an id is sent back for one."""


def join(turn: Turn, request: JoinRequest, caller: Caller, given_id: str) -> Answer:
    """Handle a JoinGroup to a consumer group that has members.

    Args:
        turn: the turn.
        request: the request.
        caller: who sent it.
        given_id: the id that the broker makes up for a joiner without one.
    """
    member_id = request.member_id or given_id
    check_size(turn.group, member_id, turn.world.settings)
    if not _supports(turn.group, request):
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
    if not request.member_id and request.group_instance_id is None and caller.api_version >= _ID_FIRST:
        return Answer(Error.MEMBER_ID_REQUIRED, member_id)
    if request.group_instance_id is not None and request.member_id:
        member = known_member(turn.group, member_id, request.group_instance_id)
    else:
        member = joiner(turn, member_id, request.group_instance_id, is_classic=True)
    subscription = read_subscription(request.protocols[0].metadata)
    after = _take_in(turn, request, caller, member, subscription)
    return Answer(Error.NONE, member_id, after.epoch, protocol=request.protocols[0].name)


def _take_in(turn: Turn, request: JoinRequest, caller: Caller, member: Member, subscription: Subscription) -> Member:
    """Take in what a joiner says, and lead it on; the group may become a classic one by it."""
    replaced = turn.group.static_member(request.group_instance_id)
    turns_classic = can_downgrade_by(turn, replaced)
    updated = _updated(member, request, caller, subscription, turn.world.settings.rules)
    names_changed = update_member(turn, member, updated)
    bumps = names_changed
    if turn.world.settings.rules.drops_regex_of_classic:
        bumps |= update_regex(turn, member, updated) is not RegexChange.NONE or bool(member.regex)
    owned = _owned(subscription, turn.world.topics)
    if replaced is not None and turns_classic and turn.world.settings.rules.rebalances_for_heirs:
        if bumps or turn.memory.must_refresh:
            refresh_metadata(turn, bumps, member, updated)
        after = updated
        if not bumps:
            target = turn.group.targets.get(replaced.member_id, {})
            after = lead_on(turn, updated, turn.group.assignment_epoch, target, bumps, owned)
        downgrade_by(turn, replaced, after, must_rebalance=bumps)
        return after
    epoch, target = next_target(turn, member, updated, bumps)
    after = lead_on(turn, updated, epoch, target, bumps, owned)
    if replaced is not None and turns_classic:
        downgrade_by(turn, replaced, after, must_rebalance=False)
        return after
    now, memory = turn.world.now, turn.memory
    memory.disarm(after.member_id, TimerKind.JOIN)
    memory.arm(TimerKind.SESSION, after.member_id, Deadline(now + request.session_timeout_ms))
    memory.arm(TimerKind.SYNC, after.member_id, Deadline(now + request.rebalance_timeout_ms))
    return after


def _supports(group: Group, request: JoinRequest) -> bool:
    """Whether a joiner has a protocol that all members of the classic protocol have (supportsClassicProtocols)."""
    offers = [
        {protocol.name for protocol in member.metadata.classic_member_metadata.supported_protocols}
        for member in group.members.values()
        if member.metadata.classic_member_metadata is not None
    ]
    return request.protocol_type == CONSUMER_PROTOCOL and any(
        all(protocol.name in offer for offer in offers) for protocol in request.protocols
    )


def _updated(
    member: Member, request: JoinRequest, caller: Caller, subscription: Subscription, rules: ModernRules
) -> Member:
    """Return a member with what its join says of it."""
    old = member.metadata
    protocols = tuple(ClassicProtocol(protocol.name, protocol.metadata) for protocol in request.protocols)
    said = replace(
        old,
        instance_id=old.instance_id if request.group_instance_id is None else request.group_instance_id,
        rack_id=subscription.rack_id or old.rack_id,
        client_id=caller.client_id,
        client_host=caller.client_host,
        subscribed_topic_names=tuple(sorted(set(subscription.topics or ()))),
        subscribed_topic_regex="" if rules.drops_regex_of_classic else old.subscribed_topic_regex,
        rebalance_timeout_ms=(
            old.rebalance_timeout_ms if request.rebalance_timeout_ms == -1 else request.rebalance_timeout_ms
        ),
        classic_member_metadata=ClassicMember(request.session_timeout_ms, protocols),
    )
    return replace(member, metadata=said)


def _owned(subscription: Subscription, topics: Topics) -> Partitions:
    """Return what a joiner says that it holds, of topics that exist; a version without a word of it says: nothing."""
    named = ((topics.id_of(entry["topic"]), entry["partitions"]) for entry in subscription.owned or ())
    return of_numbers({topic_id: numbers for topic_id, numbers in named if topic_id is not None})


def sync(turn: Turn, request: SyncRequest) -> Answer:
    """Handle a SyncGroup: the member is told what it may use."""
    member = _classic_member(turn, request.member_id, request.group_instance_id, request.generation_id)
    classic = member.metadata.classic_member_metadata
    protocol = classic.supported_protocols[0].name if classic is not None and classic.supported_protocols else ""
    if request.protocol_type not in (None, CONSUMER_PROTOCOL) or request.protocol_name not in (None, protocol):
        raise Refused(Error.INCONSISTENT_GROUP_PROTOCOL)
    if turn.group.epoch > member.epoch and member.standing.state is not MemberState.UNREVOKED_PARTITIONS:
        _await_join(turn, member)
        raise Refused(Error.REBALANCE_IN_PROGRESS)
    turn.memory.disarm(member.member_id, TimerKind.SYNC)
    _keep_alive(turn, member)
    return Answer(assignment=member.standing.assigned)


def keep_alive(turn: Turn, request: ClassicHeartbeatRequest) -> Answer:
    """Handle a Heartbeat of a member of the classic protocol: it is told to join again where it has something to do."""
    member = _classic_member(turn, request.member_id, request.group_instance_id, request.generation_id)
    _keep_alive(turn, member)
    state = member.standing.state
    must_join = (
        member.epoch < turn.group.epoch
        or state is MemberState.UNREVOKED_PARTITIONS
        or (state is MemberState.UNRELEASED_PARTITIONS and not _waits_for_others(turn.group, member))
    )
    if must_join:
        _await_join(turn, member)
        return Answer(Error.REBALANCE_IN_PROGRESS)
    return Answer()


def _classic_member(turn: Turn, member_id: str, instance_id: str | None, generation: int) -> Member:
    member = known_member(turn.group, member_id, instance_id)
    if not member.is_classic:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    if member.epoch != generation:
        raise Refused(Error.ILLEGAL_GENERATION)
    return member


def _waits_for_others(group: Group, member: Member) -> bool:
    """Whether something of a member's target is held by somebody else still."""
    assigned = member.standing.assigned
    return any(
        number not in assigned.get(topic, ()) and group.is_held(topic, number)
        for topic, number in each(group.targets.get(member.member_id, {}))
    )


def _keep_alive(turn: Turn, member: Member) -> None:
    classic = member.metadata.classic_member_metadata
    if classic is not None:
        due = turn.world.now + classic.session_timeout_ms
        turn.memory.arm(TimerKind.SESSION, member.member_id, Deadline(due))


def _await_join(turn: Turn, member: Member) -> None:
    due = turn.world.now + member.metadata.rebalance_timeout_ms
    turn.memory.arm_if_idle(TimerKind.JOIN, member.member_id, Deadline(due))
