"""What an assignor is given of a consumer group, in the orders in which Kafka's collections have it.

Source: TargetAssignmentBuilder, TopicIds, UnionSet, ConsumerGroup.computePreferredServerAssignor (4.2).
"""

from __future__ import annotations

from collections import Counter

from transforms.coordinator.assignors.server.assign import assigner_of, attempt
from transforms.coordinator.assignors.server.specs import GroupSpec, MemberSpec
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.turn import Turn
from transforms.coordinator.kafka.java_collections import (
    TIMELINE_MIN_SLOTS,
    copied_capacity,
    slots_for,
    string_set_order,
    table_order,
    timeline_order,
    uuid_set_order,
)
from transforms.coordinator.kafka.java_hashing import string_hash
from transforms.coordinator.modern.group import copied
from transforms.coordinator.modern.orders import as_loaded, assignor_order, ids_of
from transforms.coordinator.modern.partitions import Partitions, of_numbers
from transforms.coordinator.modern.topics import Topics


def update_targets(turn: Turn, epoch: int, member: Member, updated: Member, homogeneous: bool) -> Partitions:
    """Write new targets of all members, and return that of one.

    What an assignor gives that is not Kafka's own cannot be foreseen: then the targets stay as they are, and so they do
    where Kafka's own fails.

    Args:
        turn: the turn.
        epoch: the group's epoch, which becomes that of the targets.
        member: the member of the request before it.
        updated: the same after it.
        homogeneous: all members have one subscription.
    """
    group = turn.group
    members = _members(group, updated)
    first = next(iter(members.values()))
    topics = turn.world.topics
    names = _topic_names(group, first)
    spec = GroupSpec(
        [_spec(group, each, topics) for each in members.values()],
        topics.partition_counts(),
        homogeneous,
        uuid_set_order(ids_of(names, topics), len(names)),
        racks={topic.topic_id: topic.racks for topic in topics.by_id.values()},
    )
    name = preferred_assignor(group, member, updated) or turn.world.settings.assignors[0]
    assign = assigner_of(name, turn.world.settings.rules)
    given = None if assign is None else attempt(assign, spec)
    if given is None:
        turn.write_target_epoch(epoch)
        return group.targets.get(updated.member_id, {})
    assigned = {member_id: of_numbers(each) for member_id, each in given.items()}
    for member_id in members:
        if group.targets.get(member_id) != (target := assigned.get(member_id, {})):
            turn.write_target(member_id, target)
    turn.write_target_epoch(epoch)
    return assigned.get(updated.member_id, {})


def fails_for_topics(turn: Turn) -> bool:
    """Whether a turn computes targets in vain, as one member subscribes to nothing, another to topics that there are.

    Which there are, the group's own records tell up to 4.0, as of when its epoch was bumped last.
    """
    group, rules = turn.group, turn.world.settings.rules
    is_computed = any(record.type_id == group.TYPES.target_epoch for record in turn.records)
    if not is_computed or not rules.needs_topics or group.topics is None:
        return False
    after = copied(group)
    for record in turn.records:
        if record.value is not None:
            after.take(record, turn.world.now)
    nobody = Member("")
    if (preferred_assignor(after, nobody, nobody) or turn.world.settings.assignors[0]) != "uniform":
        return False
    there = {topic.name for topic in group.topics}
    wishes = [member.metadata.subscribed_topic_names for member in after.members.values()]
    return not all(wishes) and any(there.intersection(names) for names in wishes)


def preferred_assignor(group: Group, member: Member, updated: Member) -> str | None:
    """Return the assignor that most members wish for; of several, the first that Kafka's map has."""
    counts = Counter(each.metadata.server_assignor for each in group.members.values() if each.metadata.server_assignor)
    names = timeline_order(counts, slots_for(len(counts), TIMELINE_MIN_SLOTS))
    capacity = copied_capacity(len(names)) if names else 16
    if member.metadata.server_assignor:
        counts[member.metadata.server_assignor] -= 1
    wish = updated.metadata.server_assignor
    if wish:
        counts[wish] += 1
        if wish not in names or counts[wish] == 1:
            names = [wish, *(name for name in names if name != wish)]
    in_order = table_order([name for name in names if counts[name] > 0], string_hash, capacity)
    return max(in_order, key=lambda name: counts[name], default=None)


def _members(group: Group, updated: Member) -> dict[str, Member]:
    """Return the members as an assignor meets them: the one of the request stands for its forerunner."""
    forerunner = group.static_member(updated.instance_id)
    is_replaced = forerunner is not None and forerunner.member_id != updated.member_id
    ids = assignor_order(
        group.in_order(), updated.member_id, forerunner.member_id if forerunner and is_replaced else None
    )
    return {member_id: updated if member_id == updated.member_id else group.members[member_id] for member_id in ids}


def _spec(group: Group, member: Member, topics: Topics) -> MemberSpec:
    target = group.targets.get(member.member_id, {})
    forerunner = group.static_member(member.instance_id)
    if forerunner is not None and group.members.get(member.member_id) is not member:
        target = group.targets.get(forerunner.member_id, {})
    names = _topic_names(group, member)
    rack_id = member.metadata.rack_id
    return MemberSpec(member.member_id, ids_of(names, topics), as_loaded(target), member.instance_id, rack_id)


def _topic_names(group: Group, member: Member) -> list[str]:
    """Return what a member subscribes to, by name and by its regular expression: the larger set first."""
    names = string_set_order(member.metadata.subscribed_topic_names)
    resolved = group.regexes.get(member.regex) if member.regex else None
    if resolved is None or not resolved.topics:
        return names
    matched = string_set_order(resolved.topics)
    large, small = (names, matched) if len(names) > len(matched) else (matched, names)
    return [*large, *(name for name in small if name not in large)]
