"""A consumer group as its records make it: a plain value, and what follows from it.

All that a coordinator knows of a consumer group after a load stands in its records; what it knows beside them is in
`memory`. Source: ConsumerGroup, ModernGroup, GroupMetadataManager.replay (4.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from transforms.coordinator.consumer.reconcile import Standing, is_reconciled
from transforms.coordinator.consumer.records import (
    CURRENT,
    EPOCH,
    MEMBER,
    REGEX,
    TARGET,
    TARGET_EPOCH,
    TOPIC_METADATA,
    ConsumerRecord,
    CurrentAssignment,
    MemberMetadata,
    ResolvedRegex,
)
from transforms.coordinator.kafka.java_collections import TIMELINE_MIN_SLOTS, slots_for, timeline_order
from transforms.coordinator.kafka.states import MemberState, ModernState
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import GroupEpoch, MemberTarget, TargetEpoch, partitions_of

LEFT = -1
LEFT_FOR_A_WHILE = -2


class Member(Struct, frozen=True, gc=False, array_like=True):
    """One member.

    Attributes:
        metadata: who it is and what it asks for.
        standing: where it stands.
    """

    member_id: str
    metadata: MemberMetadata = MemberMetadata()
    standing: Standing = Standing()

    @property
    def epoch(self) -> int:
        """Its epoch."""
        return self.standing.epoch

    @property
    def instance_id(self) -> str | None:
        """The instance that it is, if it is a static member."""
        return self.metadata.instance_id

    @property
    def is_classic(self) -> bool:
        """Whether it speaks the classic protocol."""
        return self.metadata.classic_member_metadata is not None

    @property
    def regex(self) -> str:
        """The regular expression that it subscribes to; "" = none."""
        return self.metadata.subscribed_topic_regex or ""


class Group(Struct, array_like=True):
    """A consumer group.

    Attributes:
        epoch: the group's epoch.
        metadata_hash: hash of the topics that it subscribes to.
        assignment_epoch: epoch of the targets; -1 = they were deleted.
        members: by id, in the order in which they came.
        slots: slots of the map in which Kafka keeps them, which decide its order.
        instances: member id by instance id.
        targets: what each member is to have.
        regexes: resolved regular expressions.
        is_homogeneous: all members had one subscription when that was looked at last.
        has_topic_metadata: there is a record of type 4, as brokers up to 4.0 wrote it.
        has_new_regexes: a regular expression was resolved since `is_homogeneous` was looked at.
    """

    epoch: int = 0
    metadata_hash: int = 0
    assignment_epoch: int = 0
    members: dict[str, Member] = field(default_factory=dict)
    slots: int = TIMELINE_MIN_SLOTS
    instances: dict[str, str] = field(default_factory=dict)
    targets: dict[str, Partitions] = field(default_factory=dict)
    regexes: dict[str, ResolvedRegex] = field(default_factory=dict)
    is_homogeneous: bool = True
    has_topic_metadata: bool = False
    has_new_regexes: bool = False

    # --- what follows from it --------------------------------------------------------------------------------------

    @property
    def state(self) -> ModernState:
        """The group's state (ConsumerGroup.maybeUpdateGroupState)."""
        if not self.members:
            return ModernState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ModernState.ASSIGNING
        if all(is_reconciled(member.standing, self.assignment_epoch) for member in self.members.values()):
            return ModernState.STABLE
        return ModernState.RECONCILING

    def in_order(self) -> list[str]:
        """Return the member ids in the order in which Kafka goes through them."""
        return timeline_order(self.members, self.slots)

    def static_member(self, instance_id: str | None) -> Member | None:
        """Return the member that an instance is."""
        member_id = None if instance_id is None else self.instances.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def is_held(self, topic: str, number: int) -> bool:
        """Whether some member holds a partition, or was told to give it up and has not shown that it did."""
        return any(
            number in member.standing.assigned.get(topic, ()) or number in member.standing.revoking.get(topic, ())
            for member in self.members.values()
        )

    def subscribers_of(self, regex: str) -> int:
        """Return how many members subscribe to a regular expression."""
        return sum(member.regex == regex for member in self.members.values())

    # --- records ---------------------------------------------------------------------------------------------------

    def put(self, member: Member) -> None:
        """Add a member or replace what is known of it."""
        known = self.members.get(member.member_id)
        self.slots = slots_for(len(self.members), self.slots)
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id
        if known is None or known.metadata is not member.metadata or self.has_new_regexes:
            self._look_at_subscriptions()

    def remove(self, member_id: str) -> None:
        """Forget a member."""
        member = self.members.pop(member_id, None)
        if member is not None and member.instance_id is not None:
            self.instances.pop(member.instance_id, None)
        self._look_at_subscriptions()

    def _look_at_subscriptions(self) -> None:
        members = list(self.members.values())
        self.has_new_regexes = False
        self.is_homogeneous = is_homogeneous(subscriptions(members, self.regexes), regexes(members), len(members))


def apply(group: Group | None, record: ConsumerRecord) -> Group | None:
    """Take a record to a group.

    Args:
        group: the group before, which is used up; None = there is none.
        record: a record of the types 3 to 8 and 16.

    Returns:
        The group after it; None if the record deleted it, or is a tombstone for a group that is not there.
    """
    if record.value is None:
        return group and _delete(group, record)
    group = Group() if group is None else group
    value, name = record.value, record.name
    if isinstance(value, GroupEpoch):
        group.epoch, group.metadata_hash = value.epoch, value.metadata_hash
    elif isinstance(value, TargetEpoch):
        group.assignment_epoch = value.assignment_epoch
    elif isinstance(value, MemberTarget):
        group.targets[name] = partitions_of(value.topic_partitions)
    elif isinstance(value, MemberMetadata):
        group.put(replace(group.members.get(name) or Member(name), metadata=value))
    elif isinstance(value, CurrentAssignment):
        group.put(replace(group.members.get(name) or Member(name), standing=standing_of(value)))
    elif isinstance(value, ResolvedRegex):
        group.regexes[name], group.has_new_regexes = value, True
    else:
        group.has_topic_metadata = True
    return group


def standing_of(value: CurrentAssignment) -> Standing:
    """Return where a member stands by its record."""
    return Standing(
        value.member_epoch,
        value.previous_member_epoch,
        MemberState(value.state),
        partitions_of(value.assigned_partitions),
        partitions_of(value.partitions_pending_revocation),
    )


def _delete(group: Group, record: ConsumerRecord) -> Group | None:
    name = record.name
    if record.type_id == EPOCH:
        return None
    if record.type_id == TARGET_EPOCH:
        group.assignment_epoch = LEFT
    elif record.type_id == TARGET:
        group.targets.pop(name, None)
    elif record.type_id == MEMBER:
        group.remove(name)
    elif record.type_id == CURRENT and name in group.members:
        member = group.members[name]
        group.put(replace(member, standing=Standing(LEFT, LEFT, member.standing.state)))
    elif record.type_id == REGEX:
        group.regexes.pop(name, None)
        group.has_new_regexes = True
    elif record.type_id == TOPIC_METADATA:
        group.has_topic_metadata = False
    return group


# --- subscriptions ---------------------------------------------------------------------------------------------


class Count(Struct, gc=False):
    """How often a topic is subscribed to: by members that name it, and by regular expressions that match it."""

    by_name: int = 0
    by_regex: int = 0


def subscriptions(members: Iterable[Member], resolved: dict[str, ResolvedRegex]) -> dict[str, Count]:
    """Return how often each topic is subscribed to."""
    counts: dict[str, Count] = {}
    for member in members:
        for name in set(member.metadata.subscribed_topic_names):
            counts.setdefault(name, Count()).by_name += 1
    for regex in resolved.values():
        for name in set(regex.topics):
            counts.setdefault(name, Count()).by_regex += 1
    return counts


def regexes(members: Iterable[Member]) -> Counter[str]:
    """Return how many members subscribe to each regular expression."""
    return Counter(member.regex for member in members if member.regex)


def is_homogeneous(names: dict[str, Count], expressions: Counter[str], size: int) -> bool:
    """Whether all members have one subscription (ConsumerGroup.subscriptionType).

    Args:
        names: how often each topic is subscribed to.
        expressions: how many members subscribe to each regular expression.
        size: number of the members.
    """
    if not expressions:
        return all(count.by_name == size for count in names.values())
    return next(iter(expressions.values())) == size and all(
        count.by_regex == 1 and not count.by_name for count in names.values()
    )
