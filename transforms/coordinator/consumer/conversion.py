"""How a classic group becomes a consumer group, and a consumer group a classic one.

Source: GroupMetadataManager.convertToConsumerGroup, convertToClassicGroup, validateOnlineUpgrade,
validateOnlineDowngrade…, ConsumerGroup.fromClassicGroup, ClassicGroup.fromConsumerGroup (4.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.reconcile import Standing
from transforms.coordinator.consumer.records import ClassicMember, MemberMetadata
from transforms.coordinator.consumer.turn import TimerKind, Turn
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.java_hashing import map_order, vote_order
from transforms.coordinator.modern.partitions import Partitions, of_numbers
from transforms.coordinator.modern.records import CLASSIC_GROUP, Record
from transforms.coordinator.modern.turn import Deadline
from transforms.coordinator.modern.world import Refused, World
from transforms.wire.consumer_protocol import read_assignment, read_subscription

CONSUMER_PROTOCOL: Final = "consumer"


class ClassicMemberBefore(Struct, frozen=True, gc=False):
    """A member of a classic group that is to become a consumer group."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    classic: ClassicMember
    assignment: bytes = b""


class ClassicBefore(Struct, frozen=True, gc=False):
    """A classic group that is to become a consumer group.

    Attributes:
        protocol: the assignor that was elected; None = none was yet.
        members: in the order in which Kafka goes through them.
    """

    generation: int
    protocol_type: str
    protocol: str | None
    members: Sequence[ClassicMemberBefore] = ()


class ClassicAfter(Struct, frozen=True, gc=False):
    """A classic group that a consumer group becomes: the value of its record of type 2.

    Attributes:
        generation: the epoch of the consumer group.
        assigned: what each member is to have, by member id.
        must_rebalance: it rebalances at once.
    """

    generation: int
    protocol: str
    assigned: dict[str, Partitions]
    must_rebalance: bool = True


def upgrade(turn: Turn, classic: ClassicBefore) -> None:
    """Write the records by which a classic group becomes a consumer group; the turn goes on with that.

    Raises:
        Refused: GROUP_ID_NOT_FOUND, as the group may not be, or cannot be, converted; UNKNOWN_SERVER_ERROR.
    """
    settings = turn.world.settings
    is_convertible = classic.protocol_type == CONSUMER_PROTOCOL and len(classic.members) <= settings.max_size
    if not settings.can_upgrade or not is_convertible:
        raise Refused(Error.GROUP_ID_NOT_FOUND)
    if classic.protocol is None:  # Kafka takes it for granted that one was elected
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    turn.records.append(Record(CLASSIC_GROUP))
    group = Group(classic.generation, 0, classic.generation)
    for before in classic.members:
        member, target = _converted(before, classic, turn.world)
        group.targets[member.member_id] = target
        group.put(member)
    names = {name for each in group.members.values() for name in each.metadata.subscribed_topic_names}
    group.metadata_hash = turn.world.topics.hash_of(names) if settings.rules.upgrades_with_topics else 0
    ids = group.in_order()
    for member_id in ids:
        turn.write_member(group.members[member_id])
    turn.write_epoch(group.epoch, group.metadata_hash)
    for member_id in ids:
        turn.write_target(member_id, group.targets[member_id])
    turn.write_target_epoch(group.epoch)
    for member_id in ids:
        turn.write_standing(member_id, group.members[member_id].standing)
    for before in classic.members:
        due = turn.world.now + before.classic.session_timeout_ms
        turn.memory.arm(TimerKind.SESSION, before.member_id, Deadline(due))
    turn.group = group


def _converted(before: ClassicMemberBefore, classic: ClassicBefore, world: World) -> tuple[Member, Partitions]:
    """Return a member as the consumer group has it, and what it has."""
    assignment = read_assignment(before.assignment)
    if assignment.user_data and world.settings.rules.refuses_user_data:
        raise Refused(Error.GROUP_ID_NOT_FOUND)
    known = ((world.topics.id_of(each["topic"]), each["partitions"]) for each in assignment.assigned or ())
    assigned = of_numbers({topic_id: numbers for topic_id, numbers in known if topic_id is not None})
    offered = {each.name: each.metadata for each in before.classic.supported_protocols}
    subscription = read_subscription(offered.get(classic.protocol or "", b""))
    if subscription.topics is None:
        raise Refused(Error.GROUP_ID_NOT_FOUND)
    metadata = MemberMetadata(
        before.group_instance_id,
        subscription.rack_id,
        before.client_id,
        before.client_host,
        tuple(sorted(set(subscription.topics))),
        "",
        before.rebalance_timeout_ms,
        None,
        before.classic,
    )
    return Member(
        before.member_id, metadata, Standing(classic.generation, classic.generation, assigned=assigned)
    ), assigned


def can_downgrade(turn: Turn, leaving: Collection[Member]) -> bool:
    """Whether the group becomes a classic one when some members go: only members of that protocol are left then."""
    ids = {member.member_id for member in leaving}
    left = [member for member in turn.group.members.values() if member.member_id not in ids]
    settings = turn.world.settings
    return (
        bool(left)
        and all(member.is_classic for member in left)
        and settings.can_downgrade
        and len(left) <= settings.classic_max_size
    )


def can_downgrade_by(turn: Turn, replaced: Member | None) -> bool:
    """Whether the group becomes a classic one when a static member is replaced by one of the classic protocol."""
    members = turn.group.members.values()
    settings = turn.world.settings
    return (
        replaced is not None
        and not replaced.is_classic
        and all(member.is_classic for member in members if member.member_id != replaced.member_id)
        and settings.can_downgrade
        and settings.rules.downgrades_by_heirs
        and len(turn.group.members) <= settings.classic_max_size
    )


def downgrade(turn: Turn, leaving: Collection[Member]) -> None:
    """Write the records by which the group becomes a classic one, without some members."""
    turn.forget_group()
    ids = {member.member_id for member in leaving}
    group = turn.group
    left = {each: group.members[each] for each in group.in_order() if each not in ids}
    _write_classic(turn, left, {each: group.targets.get(each, {}) for each in left}, must_rebalance=True)


def downgrade_by(turn: Turn, replaced: Member, heir: Member, must_rebalance: bool) -> None:
    """Write the same where a static member was replaced by an heir that speaks the classic protocol."""
    position = len(turn.records)
    turn.forget_group()
    turn.records[position:] = [
        replace(record, name=heir.member_id) if record.name == replaced.member_id else record
        for record in turn.records[position:]
    ]
    group = turn.group
    left = {each: group.members[each] for each in group.in_order() if each != replaced.member_id}
    left[heir.member_id] = heir
    targets = {each: group.targets.get(each, {}) for each in left}
    targets[heir.member_id] = group.targets.get(replaced.member_id, {})
    _write_classic(turn, left, targets, must_rebalance)


def _write_classic(
    turn: Turn, members: dict[str, Member], targets: dict[str, Partitions], must_rebalance: bool
) -> None:
    ordered = [members[each] for each in map_order(members, len(members), "java")]
    protocol = _vote(ordered)
    turn.records.append(Record(CLASSIC_GROUP, "", ClassicAfter(turn.group.epoch, protocol, targets, must_rebalance)))


def _vote(members: Sequence[Member]) -> str:
    """Return the assignor that all members support and most prefer (ClassicGroup.selectProtocol)."""
    offers = [
        [each.name for each in member.metadata.classic_member_metadata.supported_protocols]
        for member in members
        if member.metadata.classic_member_metadata is not None
    ]
    votes = Counter(next((name for name in offer if all(name in other for other in offers)), "") for offer in offers)
    return max(vote_order(votes, "java"), key=lambda name: votes[name], default="")
