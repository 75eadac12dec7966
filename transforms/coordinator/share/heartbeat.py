"""What a heartbeat does in a share group, in Kafka's order.

Source: GroupMetadataManager.shareGroupHeartbeat (4.2; earlier ones by `modern_rules`).
"""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from transforms.coordinator.assignors.server.assign import assigner_of, attempt
from transforms.coordinator.assignors.server.specs import GroupSpec, MemberSpec
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.java_collections import string_set_order
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.modern.orders import as_loaded, assignor_order, ids_of
from transforms.coordinator.modern.partitions import Partitions, of_topics
from transforms.coordinator.modern.records import GroupEpoch, MemberTarget, Record, listed
from transforms.coordinator.modern.requests import Answer, Caller
from transforms.coordinator.modern.world import Refused
from transforms.coordinator.share.group import Group, Member, Standing, subscriptions
from transforms.coordinator.share.initialising import ask_for_new
from transforms.coordinator.share.records import (
    CURRENT,
    EPOCH,
    MEMBER,
    TARGET,
    CurrentAssignment,
)
from transforms.coordinator.share.requests import JOIN, HeartbeatRequest
from transforms.coordinator.share.turn import Turn


def heartbeat(turn: Turn, request: HeartbeatRequest, caller: Caller) -> Answer:
    """Handle a heartbeat of a member that joins or is there."""
    group = turn.group
    member = _speaker(turn, request)
    updated = _updated(member, request, caller)
    if updated != member:
        turn.records.append(Record(MEMBER, updated.member_id, updated.metadata))
    rules = turn.world.settings.rules
    bumps = set(updated.topics) != set(member.topics) or (rules.initialises_shares and group.awaits_targets())
    epoch, subscribed, homogeneous, bumps = _look_at_topics(turn, member, updated, bumps)
    if epoch > group.assignment_epoch:
        target = _update_targets(turn, epoch, updated, homogeneous)
    else:
        epoch, target = group.assignment_epoch, group.targets.get(updated.member_id, {})
    after = _take_target(turn, updated, epoch, target, bumps)
    turn.memory.deadlines[updated.member_id] = turn.world.now + turn.world.settings.session_timeout_ms
    if rules.initialises_shares:
        ask_for_new(turn, subscribed)
    return answer_of(request, member, after, rules)


def answer_of(request: HeartbeatRequest, before: Member, after: Member, rules: ModernRules) -> Answer:
    """Return what a heartbeat is answered that was not refused, by the member before and after it."""
    is_full = request.subscribed_topic_names is not None and rules.tells_share_subscribers
    is_told = request.member_epoch == JOIN or is_full or before.standing.assigned != after.standing.assigned
    return Answer(Error.NONE, after.member_id, after.epoch, after.standing.assigned if is_told else None)


def _speaker(turn: Turn, request: HeartbeatRequest) -> Member:
    """Return the member that a heartbeat is of, who is in the group from now on; or refuse it."""
    group = turn.group
    member = group.members.get(request.member_id)
    if member is None and len(group.members) >= turn.world.settings.share_max_size:
        raise Refused(Error.GROUP_MAX_SIZE_REACHED)
    if request.member_epoch == JOIN and member is None:
        member = Member(request.member_id)
        group.put(member)  # Kafka does so before there is a record, unlike in the other groups: it decides orders
    if member is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    rules = turn.world.settings.rules
    if request.member_epoch == JOIN and rules.lets_rejoin:
        return member
    epoch, standing = request.member_epoch, member.standing
    is_one_behind = epoch < standing.epoch and (epoch == standing.previous_epoch or not rules.fences_old_share_epochs)
    if epoch != standing.epoch and not is_one_behind:
        raise Refused(Error.FENCED_MEMBER_EPOCH)
    return member


def _updated(member: Member, request: HeartbeatRequest, caller: Caller) -> Member:
    old, names = member.metadata, request.subscribed_topic_names
    said = replace(
        old,
        rack_id=old.rack_id if request.rack_id is None else request.rack_id,
        client_id=caller.client_id,
        client_host=caller.client_host,
        subscribed_topic_names=old.subscribed_topic_names if names is None else tuple(sorted(set(names))),
    )
    return replace(member, metadata=said)


def _look_at_topics(turn: Turn, member: Member, updated: Member, bumps: bool) -> tuple[int, Counter[str], bool, bool]:
    """Bump the epoch if that is due.

    Returns:
        The epoch; how many members subscribe to each topic; whether all subscribe alike; whether it was bumped.
    """
    group = turn.group
    subscribed, size = subscriptions(group.members.values()), len(group.members)
    if not bumps and not turn.memory.must_refresh:
        return group.epoch, subscribed, all(count == size for count in subscribed.values()), False
    subscribed.subtract(set(member.topics))
    subscribed.update(set(updated.topics))
    subscribed = +subscribed
    metadata_hash = turn.world.topics.hash_of(subscribed)
    bumps |= metadata_hash != group.metadata_hash
    if bumps:
        turn.records.append(Record(EPOCH, value=GroupEpoch(group.epoch + 1, metadata_hash)))
    turn.memory.must_refresh = False
    is_homogeneous = all(count == size for count in subscribed.values())
    return group.epoch + bumps, subscribed, is_homogeneous, bumps


def _update_targets(turn: Turn, epoch: int, updated: Member, homogeneous: bool) -> Partitions:
    """Write new targets of all members, and return that of the member of the request.

    Where the assignor fails, the targets stay as they are.
    """
    group, topics = turn.group, turn.world.topics
    members = {**group.members, updated.member_id: updated}
    ids = assignor_order(group.in_order(), updated.member_id)
    specs = [
        MemberSpec(
            each,
            ids_of(string_set_order(members[each].topics), topics),
            as_loaded(group.targets.get(each, {})),
        )
        for each in ids
    ]
    state = group.share_state
    ready = {topic: frozenset(numbers) for topic, numbers in (state.initialized if state else {}).items()}
    spec = GroupSpec(specs, topics.partition_counts(), homogeneous, specs[0].topics, ready)
    assign = assigner_of("simple", turn.world.settings.rules)
    assigned = None if assign is None else attempt(assign, spec)
    if assigned is None:
        turn.write_target_epoch(epoch)
        return group.targets.get(updated.member_id, {})
    targets = {each: {topic: tuple(sorted(of)) for topic, of in assigned.get(each, {}).items()} for each in ids}
    for each, target in targets.items():
        if group.targets.get(each) != target:
            turn.records.append(Record(TARGET, each, MemberTarget(listed(target))))
    turn.write_target_epoch(epoch)
    return targets[updated.member_id]


def _take_target(turn: Turn, member: Member, epoch: int, target: Partitions, subscription_changed: bool) -> Member:
    """Give a member its target, as far as it subscribes to it."""
    if member.epoch == epoch and not subscription_changed:
        return member
    subscribed = set(ids_of(member.topics, turn.world.topics))
    if not turn.world.settings.rules.reconciles_by_subscription:
        if member.epoch == epoch:
            return member
        subscribed = set(target)
    previous = member.standing.previous_epoch if member.epoch == epoch else member.epoch
    standing = Standing(epoch, previous, of_topics(target, subscribed.__contains__))
    if standing == member.standing:
        return member
    value = CurrentAssignment(standing.epoch, standing.previous_epoch, 0, listed(standing.assigned))
    turn.records.append(Record(CURRENT, member.member_id, value))
    return replace(member, standing=standing)


def fence(turn: Turn, member_id: str) -> None:
    """Remove a member."""
    group: Group = turn.group
    if member_id not in group.members:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    left = [member for member in group.members.values() if member.member_id != member_id]
    turn.forget_member(member_id)
    metadata_hash = turn.world.topics.hash_of(subscriptions(left))
    turn.records.append(Record(EPOCH, value=GroupEpoch(group.epoch + 1, metadata_hash)))
    turn.memory.deadlines.pop(member_id, None)
