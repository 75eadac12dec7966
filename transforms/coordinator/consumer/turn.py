"""One request's turn at a consumer group: the group as it is, and the records that the request is about to write."""

from __future__ import annotations

from enum import Enum

from msgspec import field

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
    CurrentAssignment,
    ResolvedRegex,
)
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import GroupEpoch, MemberTarget, Record, listed
from transforms.coordinator.modern.turn import Deadline, ModernMemory, ModernTurn


class TimerKind(str, Enum):
    """What a timer of a member waits for; the values are how Kafka's keys begin."""

    SESSION = "session-timeout"
    REBALANCE = "rebalance-timeout"
    JOIN = "consumer-group-join"
    SYNC = "consumer-group-sync"

    __hash__ = str.__hash__


class Memory(ModernMemory, array_like=True):
    """What a coordinator knows of a consumer group beside its records.

    Attributes:
        resolving: regular expressions that are being resolved; None = none are.
        deadlines: by kind and member id.
    """

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


class Turn(ModernTurn[Group, Memory], gc=False):
    """One request's turn."""

    def write_member(self, member: Member) -> None:
        """Write who a member is."""
        self.records.append(Record(MEMBER, member.member_id, member.metadata))

    def write_epoch(self, epoch: int, metadata_hash: int) -> None:
        """Write the group's epoch."""
        self.records.append(Record(EPOCH, value=GroupEpoch(epoch, metadata_hash)))

    def write_target(self, member_id: str, target: Partitions) -> None:
        """Write what a member is to have."""
        self.records.append(Record(TARGET, member_id, MemberTarget(listed(target))))

    def write_standing(self, member_id: str, standing: Standing) -> None:
        """Write where a member stands."""
        value = CurrentAssignment(
            standing.epoch,
            standing.previous_epoch,
            int(standing.state),
            listed(standing.assigned),
            listed(standing.revoking),
            standing.target_epoch,
        )
        self.records.append(Record(CURRENT, member_id, value))

    def write_regex(self, regex: str, resolved: ResolvedRegex) -> None:
        """Write what a regular expression matches."""
        self.records.append(Record(REGEX, regex, resolved))

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
