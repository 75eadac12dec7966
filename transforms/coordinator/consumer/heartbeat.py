"""What a heartbeat, or a classic member's join, does in a consumer group, in Kafka's order.

Source: GroupMetadataManager.consumerGroupHeartbeat, classicGroupJoinToConsumerGroup, maybeReconcile (4.2).
"""

from __future__ import annotations

from msgspec.structs import replace

from transforms.coordinator.consumer.bumps import RegexChange, refresh_metadata, update_member, update_regex
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.joining import check_size, speaker
from transforms.coordinator.consumer.reconcile import Goal, is_reconciled, reconcile
from transforms.coordinator.consumer.reconcile_early import reconcile_by_target
from transforms.coordinator.consumer.requests import JOIN, HeartbeatRequest
from transforms.coordinator.consumer.targets import update_targets
from transforms.coordinator.consumer.turn import TimerKind, Turn
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.states import MemberState
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.requests import Answer, Caller
from transforms.coordinator.modern.topics import Topics
from transforms.coordinator.modern.turn import Deadline
from transforms.coordinator.modern.world import Refused


def heartbeat(turn: Turn, request: HeartbeatRequest, caller: Caller, given_id: str = "") -> Answer:
    """Handle a heartbeat of a member that joins or is there; up to version 0 it may be given its id."""
    check_size(turn.group, request.member_id, turn.world.settings)
    request = request if request.member_id else replace(request, member_id=given_id)
    member = speaker(turn, request)
    updated = _updated(member, request, caller)
    names_changed = update_member(turn, member, updated)
    regex_change = update_regex(turn, member, updated)
    bumps = turn.group.epoch == 0 or names_changed or regex_change is RegexChange.RESOLVED
    epoch, target = next_target(turn, member, updated, bumps)
    subscription_changed = names_changed or regex_change is not RegexChange.NONE
    after = lead_on(turn, updated, epoch, target, subscription_changed, request.owned)
    due = turn.world.now + turn.world.settings.session_timeout_ms
    turn.memory.arm(TimerKind.SESSION, updated.member_id, Deadline(due))
    return answer_of(request, member, after, turn.world.settings.rules)


def answer_of(request: HeartbeatRequest, before: Member, after: Member, rules: ModernRules) -> Answer:
    """Return what a heartbeat is answered that was not refused, by the member before and after it."""
    is_told = request.member_epoch == JOIN or request.is_full or before.standing.assigned != after.standing.assigned
    if rules.tells_owners:
        is_told |= request.topic_partitions is not None or before.standing != after.standing
    return Answer(Error.NONE, after.member_id, after.epoch, after.standing.assigned if is_told else None)


def _updated(member: Member, request: HeartbeatRequest, caller: Caller) -> Member:
    """Return a member with what a heartbeat says of it; what it does not say stays."""
    old = member.metadata
    names = request.subscribed_topic_names
    regex = request.subscribed_topic_regex
    said = replace(
        old,
        instance_id=old.instance_id if request.instance_id is None else request.instance_id,
        rack_id=old.rack_id if request.rack_id is None else request.rack_id,
        client_id=caller.client_id,
        client_host=caller.client_host,
        subscribed_topic_names=old.subscribed_topic_names if names is None else tuple(sorted(set(names))),
        subscribed_topic_regex=old.subscribed_topic_regex if regex is None else regex,
        rebalance_timeout_ms=old.rebalance_timeout_ms
        if request.rebalance_timeout_ms == -1
        else request.rebalance_timeout_ms,
        server_assignor=old.server_assignor if request.server_assignor is None else request.server_assignor,
        classic_member_metadata=None,
    )
    return replace(member, metadata=said)


def next_target(turn: Turn, member: Member, updated: Member, bumps: bool) -> tuple[int, Partitions]:
    """Bump the group's epoch and compute new targets if that is due; return the targets' epoch and a member's own."""
    group = turn.group
    epoch, homogeneous = group.epoch, group.is_homogeneous
    if bumps or turn.memory.must_refresh:
        epoch, homogeneous = refresh_metadata(turn, bumps, member, updated)
    is_heir = group.static_member(updated.instance_id) is not None and updated.member_id not in group.members
    if epoch > group.assignment_epoch or (is_heir and turn.world.settings.rules.heirs_have_no_target):
        return epoch, update_targets(turn, epoch, member, updated, homogeneous)
    return group.assignment_epoch, _target(group, updated)


def _target(group: Group, member: Member) -> Partitions:
    """Return what a member is to have. One with an instance id goes by it, also where it has only just said so."""
    if member.instance_id is None:
        return group.targets.get(member.member_id, {})
    holder = group.instances.get(member.instance_id)
    return {} if holder is None else group.targets.get(holder, {})


def lead_on(
    turn: Turn, member: Member, epoch: int, target: Partitions, subscription_changed: bool, owned: Partitions | None
) -> Member:
    """Lead a member on towards its target, and return it as it stands then."""
    if not subscription_changed and is_reconciled(member.standing, epoch):
        return member
    topics, group = turn.world.topics, turn.group
    rules = turn.world.settings.rules
    goal = Goal(epoch, target, lambda _: True, group.is_held, False, owned, False, rules.awaits_others_alone)
    if rules.reconciles_by_subscription:
        subscribed = _subscribed_ids(group, member, topics)
        goal = Goal(epoch, target, subscribed.__contains__, group.is_held, subscription_changed, owned)
    is_early = rules.reconciles_by_targets
    standing = reconcile_by_target(member.standing, goal) if is_early else reconcile(member.standing, goal)
    if standing is None:
        raise Refused(Error.FENCED_MEMBER_EPOCH)
    if standing == member.standing:
        return member
    turn.write_standing(member.member_id, standing)
    if not member.is_classic:
        _time_revocation(turn, replace(member, standing=standing))
    return replace(member, standing=standing)


def _time_revocation(turn: Turn, member: Member) -> None:
    """Give a member its rebalance timeout to give up what it was told to."""
    if member.standing.state is MemberState.UNREVOKED_PARTITIONS:
        due = turn.world.now + member.metadata.rebalance_timeout_ms
        turn.memory.arm(TimerKind.REBALANCE, member.member_id, Deadline(due, member.epoch))
    else:
        turn.memory.disarm(member.member_id, TimerKind.REBALANCE)


def _subscribed_ids(group: Group, member: Member, topics: Topics) -> set[str]:
    """Return the ids of the topics that a member subscribes to; an unresolved regular expression matches none."""
    resolved = group.regexes.get(member.regex) if member.regex else None
    names = {*member.metadata.subscribed_topic_names, *(resolved.topics if resolved else ())}
    ids = (topics.id_of(name) for name in names)
    return {topic_id for topic_id in ids if topic_id is not None}
