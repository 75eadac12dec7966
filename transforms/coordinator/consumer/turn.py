"""One request's turn at a consumer group: the group as it is, and the records that the request is about to write.

A coordinator looks at the group as it was before the request until all its records are there, and only then takes
them to the group. So the functions that work on a turn read `group` and write `records`, and never change the group.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, field

from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.reconcile import Standing
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
    ResolvedRegex,
)
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import GroupEpoch, MemberTarget, Record, TargetEpoch, listed
from transforms.coordinator.modern.world import World


class TimerKind(str, Enum):
    """What a timer of a member waits for; the values are how Kafka's keys begin."""

    SESSION = "session-timeout"
    REBALANCE = "rebalance-timeout"
    JOIN = "consumer-group-join"
    SYNC = "consumer-group-sync"

    __hash__ = str.__hash__


class Deadline(Struct, frozen=True, gc=False, array_like=True):
    """When a member is fenced, unless something happens before; and the epoch that it had then."""

    at: float
    epoch: int = 0


class Memory(Struct, array_like=True):
    """What a coordinator knows of a group beside its records, and forgets when it goes.

    Attributes:
        must_refresh: topics of the group may have changed: the next heartbeat looks.
        resolving: regular expressions that are being resolved; None = none are.
        deadlines: by kind and member id.
    """

    must_refresh: bool = True
    resolving: tuple[str, ...] | None = None
    deadlines: dict[tuple[TimerKind, str], Deadline] = field(default_factory=dict)

    def arm(self, kind: TimerKind, member_id: str, deadline: Deadline) -> None:
        """Start a timer, afresh if it runs."""
        self.deadlines[kind, member_id] = deadline

    def arm_if_idle(self, kind: TimerKind, member_id: str, deadline: Deadline) -> None:
        """Start a timer unless it runs."""
        self.deadlines.setdefault((kind, member_id), deadline)

    def disarm(self, member_id: str, *kinds: TimerKind) -> None:
        """Stop timers of a member; without kinds, all."""
        for kind in kinds or TimerKind:
            self.deadlines.pop((kind, member_id), None)


class Turn(Struct, gc=False):
    """One request's turn.

    Attributes:
        group: the group before; a new one, without a record yet, has epoch 0.
        records: what is to be written, in order.
    """

    group: Group
    world: World
    memory: Memory
    records: list[ConsumerRecord] = field(default_factory=list)

    def write_member(self, member: Member) -> None:
        """Write who a member is."""
        self.records.append(Record(MEMBER, member.member_id, member.metadata))

    def write_epoch(self, epoch: int, metadata_hash: int) -> None:
        """Write the group's epoch."""
        self.records.append(Record(EPOCH, value=GroupEpoch(epoch, metadata_hash)))

    def write_target(self, member_id: str, target: Partitions) -> None:
        """Write what a member is to have."""
        self.records.append(Record(TARGET, member_id, MemberTarget(listed(target))))

    def write_target_epoch(self, epoch: int) -> None:
        """Write the epoch of the targets."""
        self.records.append(Record(TARGET_EPOCH, value=TargetEpoch(epoch)))

    def write_standing(self, member_id: str, standing: Standing) -> None:
        """Write where a member stands."""
        value = CurrentAssignment(
            standing.epoch,
            standing.previous_epoch,
            int(standing.state),
            listed(standing.assigned),
            listed(standing.revoking),
        )
        self.records.append(Record(CURRENT, member_id, value))

    def write_regex(self, regex: str, resolved: ResolvedRegex) -> None:
        """Write what a regular expression matches."""
        self.records.append(Record(REGEX, regex, resolved))

    def forget_member(self, member_id: str) -> None:
        """Delete what is written of a member."""
        self.records += [Record(CURRENT, member_id), Record(TARGET, member_id), Record(MEMBER, member_id)]

    def forget_regex(self, regex: str) -> None:
        """Delete what a regular expression matches."""
        self.records.append(Record(REGEX, regex))

    def forget_group(self) -> None:
        """Delete all that is written of the group (ConsumerGroup.createGroupTombstoneRecords)."""
        members = self.group.in_order()
        self.records += [Record(CURRENT, member_id) for member_id in members]
        self.records += [Record(TARGET, member_id) for member_id in members]
        self.records.append(Record(TARGET_EPOCH))
        self.records += [Record(MEMBER, member_id) for member_id in members]
        self.records += [Record(REGEX, regex) for regex in self.group.regexes]
        self.records += [Record(TOPIC_METADATA), Record(EPOCH)]
