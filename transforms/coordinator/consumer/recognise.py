"""Whose result are a consumer group's targets? Compares them with what each of the broker's assignors gives.

What the broker knew and no record tells is met half-way. Brokers up to 4.0 write down the topics of a group; of later
ones the partition counts are those that the targets show, old and new, for Kafka's assignors give every partition away.
Members and topics that share a bucket of a hash map may stand in any order there: a result that one of these orders
gives is the assignor's, and only what none of them gives is custom. Likewise of the releases that may have computed it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, permutations
from math import perm
from typing import Final

from transforms.coordinator.assignors.classify import CUSTOM
from transforms.coordinator.assignors.server.assign import Assigner, assigners_of
from transforms.coordinator.assignors.server.ranges import assign_ranges
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec, MemberSpec
from transforms.coordinator.assignors.subscriptions import NoAssignment, NotPredicted
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.kafka.java_collections import copied_capacity, grown_capacity, table_orders, uuid_hash
from transforms.coordinator.kafka.java_hashing import string_hash
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.rules import Release
from transforms.coordinator.modern.orders import as_loaded
from transforms.coordinator.modern.partitions import Partitions, each, of_numbers
from transforms.coordinator.modern.topics import Topic, Topics

MOST_PARTITIONS: Final = 5_000
"""Targets beyond this many partitions are not worked out anew."""

MOST_ORDERS: Final = 128
"""So many orders of members and topics are tried; where there are more, nothing is called custom. Likewise of names."""

_MOST_GIVEN: Final = 100_000
"""So many partitions are given in all these tries; it takes a good part of a second."""

_MOST_ORDERS_ONE_BY_ONE: Final = 8
"""So many orders are tried of members that subscribe differently where a broker up to 3.9 may have computed it: that
takes long, and the orders hardly matter to it."""


def assignor_of(
    group: Group,
    had: Mapping[str, Partitions],
    names: Mapping[str, str],
    elected: str | None = None,
    releases: Collection[Release] = (),
) -> str | None:
    """Return the assignor whose result a group's targets equal, or "custom".

    Several may agree, most of all in small groups; then it is the elected one, else uniform, the default.

    Args:
        group: the group right after its targets were computed.
        had: what each member was to have before, or the member whose place it took; who is new is not there.
        names: names of topics by their ids, as far as they are known.
        elected: the assignor that the log or the members' wishes name.
        releases: those of the brokers, as far as they tell.

    Returns:
        None where it cannot be told: nothing was given, or a partition to two members; a leader of the classic
        protocol gave it; topics of members whose subscriptions differ have no names. In place of "custom" also where
        nothing tells that the partitions were all, or an assignor of Kafka's is not worked out for such a group.
    """
    given = {member_id: group.targets.get(member_id, {}) for member_id in group.members}
    owners = Counter(part for target in given.values() for part in each(target))
    if _is_taken_over(group, had) or not owners or len(owners) > MOST_PARTITIONS or max(owners.values()) > 1:
        return None
    if _lists_topics(group):
        counts, names = _listed(group)
        if any(number >= counts.get(topic, 0) for topic, number in owners):
            return None  # of other topics than those that are listed
    else:
        counts = _shown_counts(given, had)
        names = _all_names(names, counts, group)
    if sum(counts.values()) > MOST_PARTITIONS:
        return None  # however few of them are given
    possible = _releases(group, releases)
    most = max(1, min(MOST_ORDERS, _MOST_GIVEN // len(owners)))
    if not group.is_homogeneous and not all(ModernRules(release).balances_by_level for release in possible):
        most = min(most, _MOST_ORDERS_ONE_BY_ONE)
    is_left_open = False
    for name in sorted(_NAMES, key=lambda name: name != elected):
        assigners = assigners_of(name, possible)
        specs = list(islice(_specs(group, had, counts, names, is_ordered=assigners != [assign_ranges]), most))
        for assign in assigners:
            try:
                if any(_gives(assign, spec, given) for spec in specs):
                    return name
            except NotPredicted:
                is_left_open = True
    is_told_of = all(topic in names for topic in counts) or (group.is_homogeneous and not _has_regex(group))
    orders = islice(_specs(group, had, counts, names), most + 1)
    are_topics_told = group.metadata_hash != 0 or _lists_topics(group)
    is_certain = are_topics_told and is_told_of and not is_left_open and sum(1 for _ in orders) <= most
    return CUSTOM if is_certain else None


def _lists_topics(group: Group) -> bool:
    """Whether the group's topics are told of by a broker up to 4.0."""
    return group.topics is not None and group.metadata_hash == 0


def _is_taken_over(group: Group, had: Mapping[str, Partitions]) -> bool:
    """Whether the group was a classic one right before: all that were in it have the epoch before and the same now."""
    return not had and all(each.epoch == each.standing.previous_epoch for each in group.members.values())


_NAMES: Final = ("uniform", "range")
"""The assignors that consumer groups are given by."""

_RELEASES: Final[tuple[Release, ...]] = ((4, 2), (4, 1), (4, 0, 1), (4, 0), (3, 9), (3, 8), (3, 7))
"""One of each kind, as far as assignors go, the likeliest first."""

_LATEST_THAT_LISTS_TOPICS: Final = (4, 0)


def _releases(group: Group, told: Collection[Release]) -> Sequence[Release]:
    """Return the releases that may have computed a group's targets: those that are told, if the records allow them.

    What lists the group's topics (record 4) is of 4.0 or before; what has a hash of them of 4.1 or later.
    """
    lists_topics = _lists_topics(group)
    allowed = [
        release
        for release in (*told, *_RELEASES)
        if (release[:2] <= _LATEST_THAT_LISTS_TOPICS) == lists_topics or not (lists_topics or group.metadata_hash)
    ]
    return [release for release in allowed if release in told] or allowed


def _gives(assign: Assigner, spec: GroupSpec, given: Mapping[str, Partitions]) -> bool:
    """Whether an assignor gives a group just this; where Kafka's own fails, it gives nothing."""
    try:
        return _is_given(assign(spec), given)
    except NotPredicted:
        raise
    except NoAssignment:
        return False


def _is_given(assigned: Assigned, given: Mapping[str, Partitions]) -> bool:
    return all(of_numbers(assigned.get(member_id, {})) == target for member_id, target in given.items())


def _listed(group: Group) -> tuple[dict[str, int], dict[str, str]]:
    """Return the partitions and the names of the topics that a group's record lists."""
    topics = Topics(group.topics or ())
    return topics.partition_counts(), {topic_id: topic.name for topic_id, topic in topics.by_id.items()}


def _shown_counts(given: Mapping[str, Partitions], had: Mapping[str, Partitions]) -> dict[str, int]:
    """Return the partitions of each topic that is given: up to the highest that is, or was before."""
    counts: dict[str, int] = {}
    for topic, number in (part for target in given.values() for part in each(target)):
        counts[topic] = max(counts.get(topic, 0), number + 1)
    for topic, number in (part for target in had.values() for part in each(target)):
        if topic in counts:
            counts[topic] = max(counts[topic], number + 1)
    return counts


def _all_names(names: Mapping[str, str], counts: Mapping[str, int], group: Group) -> Mapping[str, str]:
    """Return names of topics by their ids, with those that nobody tells, as far as they follow.

    The names that are left go with the ids that are left so that the group's hash of its topics comes out (4.1; it
    does not where replicas have racks, of which nothing is known), and one that is left with the one that is left.
    """
    subscribed = {name for member in group.members.values() for name in _topic_names(group, member)}
    unnamed = [topic for topic in counts if topic not in names]
    left = sorted(subscribed - {names[topic] for topic in counts if topic in names})
    if not unnamed or perm(len(left), len(unnamed)) > MOST_ORDERS:
        return names
    for given in permutations(left, len(unnamed)):
        found = {**names, **dict(zip(unnamed, given, strict=True))}
        topics = Topics(Topic(found[topic], topic, count) for topic, count in counts.items())
        if topics.hash_of(subscribed) == group.metadata_hash:
            return found
    return {**names, unnamed[0]: left[0]} if len(unnamed) == len(left) == 1 else names


# --- what an assignor may have been given --------------------------------------------------------------------------


def _specs(
    group: Group,
    had: Mapping[str, Partitions],
    counts: Mapping[str, int],
    names: Mapping[str, str],
    *,
    is_ordered: bool = True,
) -> Iterator[GroupSpec]:
    """Yield what an assignor may have been given, the likeliest first.

    Args:
        group: see `assignor_of`.
        had: likewise.
        counts: partitions by topic id.
        names: likewise.
        is_ordered: it matters in which order members and topics stand.
    """
    sizes = {member_id: len(_topic_names(group, member)) for member_id, member in group.members.items()}
    racks = {topic.topic_id: topic.racks for topic in group.topics or ()}
    # the coordinator looks whether subscriptions are the same before it knows what a regular expression matches
    for is_homogeneous in (group.is_homogeneous, not group.is_homogeneous)[: 2 if _has_regex(group) else 1]:
        if not is_homogeneous and any(topic not in names for topic in counts):
            continue
        for all_topics in _topic_orders(counts) if is_ordered and not is_homogeneous else [list(counts)]:
            members = _members(group, had, all_topics, names)
            for member_ids in _member_orders(group, had) if is_ordered else [list(members)]:
                first = list(members[member_ids[0]].topics if is_homogeneous else ())
                capacity = copied_capacity(sizes[member_ids[0]], 16)
                orders = table_orders(first, uuid_hash, capacity, MOST_ORDERS + 1)
                in_order = [members[member_id] for member_id in member_ids]
                for topics in orders if is_ordered else [first]:
                    yield GroupSpec(in_order, counts, is_homogeneous, topics, racks=racks)


def _members(
    group: Group, had: Mapping[str, Partitions], topics: Sequence[str], names: Mapping[str, str]
) -> dict[str, MemberSpec]:
    """Return the members as an assignor is given them, with those of some topics that they subscribe to.

    A topic without a name is taken to be everybody's.
    """
    members: dict[str, MemberSpec] = {}
    for member_id, member in group.members.items():
        subscribed = _topic_names(group, member)
        theirs = [topic for topic in topics if topic not in names or names[topic] in subscribed]
        target = as_loaded(had.get(member_id, {}))
        members[member_id] = MemberSpec(member_id, theirs, target, member.instance_id, member.metadata.rack_id)
    return members


def _topic_orders(counts: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield the orders in which topics may stand to whom they are all one."""
    return table_orders(counts, uuid_hash, grown_capacity(len(counts)), MOST_ORDERS + 1)


def _member_orders(group: Group, had: Mapping[str, Partitions]) -> Iterator[list[str]]:
    """Yield the orders that the members may stand in; a map in which one took another's place held one more."""
    known = [member_id for member_id in group.in_order() if member_id in had]
    new = [member_id for member_id in group.members if member_id not in had]
    size = len(group.members)
    for capacity in dict.fromkeys((grown_capacity(size), grown_capacity(size + 1))):
        yield from table_orders([*known, *new], string_hash, capacity, MOST_ORDERS + 1)


def _topic_names(group: Group, member: Member) -> set[str]:
    resolved = group.regexes.get(member.regex) if member.regex else None
    return {*member.metadata.subscribed_topic_names, *(resolved.topics if resolved else ())}


def _has_regex(group: Group) -> bool:
    return any(member.regex for member in group.members.values())
