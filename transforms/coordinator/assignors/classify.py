"""Whose result is this? Compares what a leader sent with what each of Kafka's client-side assignors would have sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain

from transforms.coordinator.assignors.eager import assign_range, assign_roundrobin
from transforms.coordinator.assignors.sticky import assign_cooperative, assign_sticky
from transforms.coordinator.assignors.subscriptions import Assignment, NoAssignment, Subscriptions, TopicPartition

CUSTOM = "custom"

Assignor = Callable[[Subscriptions, Mapping[str, int]], Assignment]

ASSIGNORS: dict[str, tuple[Assignor, ...]] = {
    "range": (assign_range,),
    "roundrobin": (assign_roundrobin,),
    "sticky": (assign_sticky, partial(assign_sticky, is_before_3_7_1=True)),
    "cooperative-sticky": (assign_cooperative, partial(assign_cooperative, is_before_3_7_1=True)),
}
"""Assignors by the protocol name that members send, each as the releases of Kafka's client have it."""


def classify(
    subscriptions: Subscriptions,
    partition_counts: Mapping[str, int],
    sent: Mapping[str, Iterable[TopicPartition]],
    elected: str | None = None,
) -> str:
    """Name the assignor whose result the leader's assignment equals.

    Several may agree, most of all in small groups; then it is the elected protocol, else the first in `ASSIGNORS`.
    The order of a member's partitions does not count.

    Args:
        subscriptions: members as the leader saw them, in the order of the JoinGroup answer.
        partition_counts: partitions by topic, as the leader knew them.
        sent: partitions by member id; a member without an entry got nothing.
        elected: protocol that the group elected.

    Returns:
        A protocol name of `ASSIGNORS`, or "custom": an assignor of someone's own, a client in another language that
        breaks sticky's ties its own way (librdkafka does), an assignor that looked at racks (KIP-881), or a leader
        that knew other partition counts.
    """
    wanted = _comparable(sent)
    for name in sorted(ASSIGNORS, key=lambda name: name != elected):
        if any(_comparable(_attempt(assign, subscriptions, partition_counts)) == wanted for assign in ASSIGNORS[name]):
            return name
    return CUSTOM


def shown_counts(subscriptions: Subscriptions, sent: Mapping[str, Iterable[TopicPartition]]) -> dict[str, int]:
    """Return the partition counts that an assignment itself shows: up to the highest partition given or still held.

    Kafka's assignors give every partition away, or withhold it because a member still owns it. So these are the
    leader's counts wherever one of them was at work; no record and no log line holds the counts of that moment.
    """
    counts: dict[str, int] = {}
    given = (partition for partitions in sent.values() for partition in partitions)
    held = (partition for member in subscriptions.values() for partition in member.owned)
    for topic, number in chain(given, held):
        if counts.get(topic, 0) <= number:
            counts[topic] = number + 1
    return counts


def _attempt(assign: Assignor, subscriptions: Subscriptions, partition_counts: Mapping[str, int]) -> Assignment | None:
    try:
        return assign(subscriptions, partition_counts)
    except NoAssignment:
        return None


def _comparable(
    assignment: Mapping[str, Iterable[TopicPartition]] | None,
) -> dict[str, list[TopicPartition]] | None:
    if assignment is None:
        return None
    given = {member_id: sorted(partitions) for member_id, partitions in assignment.items()}
    return {member_id: partitions for member_id, partitions in given.items() if partitions}
