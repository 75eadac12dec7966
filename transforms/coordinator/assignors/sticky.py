"""StickyAssignor and CooperativeStickyAssignor: one algorithm, two memories, and what cooperation withholds.

Ties that Kafka breaks by the order of its hash maps are broken here in the same order, which follows from the member
ids and, where two fall into one bucket, from the order of the JoinGroup answer. Not known to anyone but the leader is
the highest generation it ever saw in its own life as a leader (AbstractStickyAssignor.maxGeneration): here it is the
highest among the members, which is the same unless the members with the highest one have all gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from transforms.coordinator.assignors.claims import settle_claims
from transforms.coordinator.assignors.constrained import Constrained
from transforms.coordinator.assignors.general import General
from transforms.coordinator.assignors.memory import Memory, cooperative_memory, sticky_memory
from transforms.coordinator.assignors.subscriptions import (
    Assignment,
    MemberSubscription,
    Subscriptions,
    TopicPartition,
    known_counts,
)


def assign_sticky(
    subscriptions: Subscriptions, partition_counts: Mapping[str, int], *, is_before_3_7_1: bool = False
) -> Assignment:
    """Assign as StickyAssignor, which reads what members had before out of their user data.

    Args:
        subscriptions: the members, in the order of the JoinGroup answer.
        partition_counts: partitions by topic.
        is_before_3_7_1: the leader is a client of 3.5 to 3.7.0: see `Constrained`.

    Raises:
        NoAssignment: Kafka's assignor throws.
        NotPredicted: subscriptions differ, and a member owns a partition that is gone or the balancing never ends.
    """
    return _assign(subscriptions, partition_counts, sticky_memory, is_before_3_7_1)[0]


def assign_cooperative(
    subscriptions: Subscriptions, partition_counts: Mapping[str, int], *, is_before_3_7_1: bool = False
) -> Assignment:
    """Assign as CooperativeStickyAssignor: what another member still has to give up is withheld for one rebalance.

    Arguments and errors are those of `assign_sticky`.
    """
    assignment, transferring = _assign(subscriptions, partition_counts, cooperative_memory, is_before_3_7_1)
    if transferring is None:
        transferring = _changing_hands(subscriptions, assignment)
    for partition, member_id in transferring.items():
        assignment[member_id].remove(partition)
    return assignment


def _assign(
    subscriptions: Subscriptions,
    partition_counts: Mapping[str, int],
    memory: Callable[[MemberSubscription], Memory],
    is_before_3_7_1: bool,
) -> tuple[Assignment, dict[TopicPartition, str] | None]:
    """Return the assignment, and by new owner what changes hands where the algorithm itself knows that."""
    if not subscriptions:
        return {}, None
    counts = known_counts(subscriptions, partition_counts)
    claims = settle_claims(subscriptions, counts, memory)
    if not claims.are_equal:
        return General(subscriptions, claims, counts).run(), None
    constrained = Constrained(claims, counts, is_before_3_7_1).run()
    return constrained.assignment, constrained.transferring


def _changing_hands(subscriptions: Subscriptions, assignment: Assignment) -> dict[TopicPartition, str]:
    """Return the partitions, by new owner, that someone else says it holds and is not given again."""
    added: dict[TopicPartition, str] = {}
    revoked: set[TopicPartition] = set()
    for member_id, given in assignment.items():
        owned = set(subscriptions[member_id].owned)
        added.update((partition, member_id) for partition in given if partition not in owned)
        revoked |= owned.difference(given)
    return {partition: member_id for partition, member_id in added.items() if partition in revoked}
