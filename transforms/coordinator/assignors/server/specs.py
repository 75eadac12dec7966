"""What an assignor of the broker is given of a group: members, topics, and the orders in which it meets them.

All that is in some order here decides ties. The callers that stand in for Kafka bring them in Kafka's own orders
(`transforms.coordinator.modern.targets`); a test or a what-if may bring any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

Partitions = Mapping[str, Sequence[int]]
"""Partition numbers by topic id, both in the order in which an assignor meets them."""

Assigned = dict[str, dict[str, list[int]]]
"""Partition numbers by member id and topic id; a topic of which a member has nothing is not there."""


class MemberSpec(Struct, frozen=True, gc=False):
    """One member (MemberSubscriptionAndAssignmentImpl).

    Attributes:
        topics: ids of the topics that it subscribes to and that exist, in the order of its subscription.
        target: what it was to have so far.
        instance_id: of a static member.
        rack_id: where it is; only 3.7 looks at it.
    """

    member_id: str
    topics: Sequence[str] = ()
    target: Partitions = {}
    instance_id: str | None = None
    rack_id: str | None = None


class GroupSpec(Struct, frozen=True, gc=False):
    """A group (GroupSpecImpl).

    Attributes:
        members: the members, in the order of the map that holds them.
        partition_counts: partitions by topic id, of the topics that exist.
        is_homogeneous: the coordinator takes all members to have one subscription, that of the first.
        topic_order: topics of the first member in the order of the HashSet that an assignor makes of them.
        assignable: where given, the only partitions that may be assigned (share groups).
        racks: by topic id, the racks of each partition's replicas, as far as they are known; only 3.7 looks at them.
    """

    members: Sequence[MemberSpec]
    partition_counts: Mapping[str, int]
    is_homogeneous: bool = True
    topic_order: Sequence[str] = ()
    assignable: Mapping[str, frozenset[int]] | None = None
    racks: Mapping[str, Sequence[Sequence[str]]] = {}

    def has_owner(self) -> set[tuple[str, int]]:
        """Return all partitions that are in some member's target."""
        return {
            (topic, partition)
            for member in self.members
            for topic, partitions in member.target.items()
            for partition in partitions
        }
