"""Whose result are a consumer group's targets? Compares them with what each of the broker's assignors gives.

What the broker knew and no record tells is met half-way. The partition counts are those that the targets show, old and
new, for Kafka's assignors give every partition away. Members and topics that share a bucket of a hash map may stand in
any order there: a result that one of these orders gives is the assignor's, and only what none of them gives is custom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, permutations
from math import perm
from typing import Final

from transforms.coordinator.assignors.classify import CUSTOM
from transforms.coordinator.assignors.server.assign import assign_homogeneous_before_4_1, assign_uniform
from transforms.coordinator.assignors.server.heterogeneous import assign_heterogeneous
from transforms.coordinator.assignors.server.ranges import assign_ranges
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec, MemberSpec
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.kafka.java_collections import copied_capacity, grown_capacity, table_orders, uuid_hash
from transforms.coordinator.kafka.java_hashing import string_hash
from transforms.coordinator.modern.orders import as_loaded
from transforms.coordinator.modern.partitions import Partitions, each, of_numbers
from transforms.coordinator.modern.topics import Topic, Topics

MOST_PARTITIONS: Final = 5_000
"""Targets beyond this many partitions are not worked out anew."""

MOST_ORDERS: Final = 128
"""So many orders of members and topics are tried; where there are more, nothing is called custom. Likewise of names."""

_MOST_GIVEN: Final = 100_000
"""So many partitions are given in all these tries; it takes a good part of a second."""


def assignor_of(
    group: Group, had: Mapping[str, Partitions], names: Mapping[str, str], elected: str | None = None
) -> str | None:
    """Return the assignor whose result a group's targets equal, or "custom".

    Several may agree, most of all in small groups; then it is the elected one, else uniform, the default.

    Args:
        group: the group right after its targets were computed.
        had: what each member was to have before, or the member whose place it took; who is new is not there.
        names: names of topics by their ids, as far as they are known.
        elected: the assignor that the log or the members' wishes name.

    Returns:
        None where it cannot be told: nothing was given, or a partition to two members; a leader of the classic
        protocol gave it; topics of members whose subscriptions differ have no names. In place of "custom" also for
        brokers up to 4.0, whose records tell no hash of the topics and whose assignors went on changing.
    """
    given = {member_id: group.targets.get(member_id, {}) for member_id in group.members}
    owners = Counter(part for target in given.values() for part in each(target))
    if _is_taken_over(group, had) or not owners or len(owners) > MOST_PARTITIONS or max(owners.values()) > 1:
        return None
    counts = _shown_counts(given, had)
    names = _all_names(names, counts, group)
    most = max(1, min(MOST_ORDERS, _MOST_GIVEN // len(owners)))
    for name in sorted(_ASSIGNORS, key=lambda name: name != elected):
        specs = list(islice(_specs(group, had, counts, names, is_ordered=name != "range"), most))
        if any(_is_given(assign(spec), given) for assign in _ASSIGNORS[name] for spec in specs):
            return name
    is_told_of = all(topic in names for topic in counts) or (group.is_homogeneous and not _has_regex(group))
    orders = islice(_specs(group, had, counts, names), most + 1)
    is_certain = group.metadata_hash != 0 and is_told_of and sum(1 for _ in orders) <= most
    return CUSTOM if is_certain else None


def _is_taken_over(group: Group, had: Mapping[str, Partitions]) -> bool:
    """Whether the group was a classic one right before: all that were in it have the epoch before and the same now."""
    return not had and all(each.epoch == each.standing.previous_epoch for each in group.members.values())


def _uniform_before_4_1(group: GroupSpec) -> Assigned:
    return assign_homogeneous_before_4_1(group) if group.is_homogeneous else assign_heterogeneous(group)


_ASSIGNORS: Mapping[str, Sequence[Callable[[GroupSpec], Assigned]]] = {
    "uniform": (assign_uniform, _uniform_before_4_1),
    "range": (assign_ranges,),
}
"""The assignors that consumer groups are given by, each as the releases of Kafka have it."""


def _is_given(assigned: Assigned, given: Mapping[str, Partitions]) -> bool:
    return all(of_numbers(assigned.get(member_id, {})) == target for member_id, target in given.items())


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
    subscriptions = {member_id: _topic_names(group, member) for member_id, member in group.members.items()}
    # the coordinator looks whether subscriptions are the same before it knows what a regular expression matches
    for is_homogeneous in (group.is_homogeneous, not group.is_homogeneous)[: 2 if _has_regex(group) else 1]:
        if not is_homogeneous and any(topic not in names for topic in counts):
            continue
        members = {
            member_id: MemberSpec(
                member_id,
                [topic for topic in counts if topic not in names or names[topic] in subscriptions[member_id]],
                as_loaded(had.get(member_id, {})),
                member.instance_id,
            )
            for member_id, member in group.members.items()
        }
        for member_ids in _member_orders(group, had) if is_ordered else [list(members)]:
            first = members[member_ids[0]].topics if is_homogeneous else ()
            capacity = copied_capacity(len(subscriptions[member_ids[0]]), 16)
            in_order = [members[member_id] for member_id in member_ids]
            for topics in table_orders(first, uuid_hash, capacity, MOST_ORDERS + 1) if is_ordered else [list(first)]:
                yield GroupSpec(in_order, counts, is_homogeneous, topics)


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
