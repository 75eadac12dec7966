"""A consumer group as its records make it: a plain value, and what follows from it.

All that a coordinator knows of a consumer group after a load stands in its records; what it knows beside them is in
`memory`. Source: ConsumerGroup, ModernGroup, GroupMetadataManager.replay (4.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from transforms.coordinator.consumer.reconcile import Standing, is_reconciled
from transforms.coordinator.consumer.records import (
    CURRENT,
    REGEX,
    TOPIC_METADATA,
    TYPES,
    ConsumerRecord,
    CurrentAssignment,
    MemberMetadata,
    ResolvedRegex,
    TopicMetadata,
)
from transforms.coordinator.kafka.states import MemberState, ModernState
from transforms.coordinator.modern.group import LEFT, ModernGroup
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import MemberTarget, partitions_of
from transforms.coordinator.modern.topics import Topic


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


class Group(ModernGroup[Member, Partitions], array_like=True):
    """A consumer group.

    Attributes:
        instances: member id by instance id.
        regexes: resolved regular expressions.
        is_homogeneous: all members had one subscription when that was looked at last.
        topics: the topics that somebody subscribes to, as brokers up to 4.0 wrote of them (type 4); later ones write a
            hash of them instead. None = there is no such record.
        has_new_regexes: a regular expression was resolved since `is_homogeneous` was looked at.
    """

    TYPES: ClassVar = TYPES

    instances: dict[str, str] = field(default_factory=dict)
    regexes: dict[str, ResolvedRegex] = field(default_factory=dict)
    is_homogeneous: bool = True
    topics: tuple[Topic, ...] | None = None
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

    def needed_topics(self) -> Collection[str]:
        """Return the names of the topics that somebody subscribes to."""
        return subscriptions(self.members.values(), self.regexes)

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
        super().put(member)
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id
        if known is None or known.metadata is not member.metadata or self.has_new_regexes:
            self._look_at_subscriptions()

    def remove(self, member_id: str) -> None:
        """Forget a member."""
        member = self.members.get(member_id)
        super().remove(member_id)
        if member is not None and member.instance_id is not None:
            self.instances.pop(member.instance_id, None)
        self._look_at_subscriptions()

    def take(self, record: ConsumerRecord, at: float) -> None:
        """Take a record of the types 3 to 8 and 16 with a value."""
        value, name = record.value, record.name
        if isinstance(value, MemberTarget):
            self.targets[name] = partitions_of(value.topic_partitions)
        elif isinstance(value, MemberMetadata):
            self.put(replace(self.members.get(name) or Member(name), metadata=value))
        elif isinstance(value, CurrentAssignment):
            self.put(replace(self.members.get(name) or Member(name), standing=standing_of(value)))
        elif isinstance(value, ResolvedRegex):
            self.regexes[name], self.has_new_regexes = value, True
        elif isinstance(value, TopicMetadata):
            self.topics = value.described()
        else:
            super().take(record, at)

    def forget(self, record: ConsumerRecord) -> None:
        """Take a tombstone of anything but the group itself."""
        if record.type_id == CURRENT and record.name in self.members:
            member = self.members[record.name]
            self.put(replace(member, standing=Standing(LEFT, LEFT, member.standing.state)))
        elif record.type_id == REGEX:
            self.regexes.pop(record.name, None)
            self.has_new_regexes = True
        elif record.type_id == TOPIC_METADATA:
            self.topics = None
        else:
            super().forget(record)

    def _look_at_subscriptions(self) -> None:
        members = list(self.members.values())
        self.has_new_regexes = False
        self.is_homogeneous = is_homogeneous(subscriptions(members, self.regexes), regexes(members), len(members))


def standing_of(value: CurrentAssignment) -> Standing:
    """Return where a member stands by its record."""
    return Standing(
        value.member_epoch,
        value.previous_member_epoch,
        MemberState(value.state),
        partitions_of(value.assigned_partitions),
        partitions_of(value.partitions_pending_revocation),
        value.target_member_epoch,
    )


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
