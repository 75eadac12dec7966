"""What a member of a sticky group remembers: the partitions it had, and the generation that gave them to it."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.records.fields import ArrayOf, Field, Scalar, int32s, struct
from transforms.coordinator.assignors.subscriptions import NO_GENERATION, MemberSubscription, TopicPartition
from transforms.errors import DecodeError
from transforms.wire.primitives import read_int32
from transforms.wire.walk import walk_while_readable

_PREVIOUS = ArrayOf(struct(Field("topic", Scalar.STRING), int32s("partitions")))
STICKY_USER_DATA = struct(Field("previous_assignment", _PREVIOUS), Field("generation", Scalar.INT32, since=1))
"""User data of StickyAssignor. The bytes do not say their version: 0 is what ends before the generation."""


@dataclass(frozen=True, slots=True)
class Memory:
    """AbstractStickyAssignor.MemberData; generation None = the member names none."""

    partitions: tuple[TopicPartition, ...] = ()
    generation: int | None = None


def sticky_memory(member: MemberSubscription) -> Memory:
    """Read what StickyAssignor put into the user data; an eager member owns nothing when it joins.

    Source: StickyAssignor.memberData; what cannot be read counts as nothing owned.
    """
    if not member.user_data:
        return Memory()
    values, _ = walk_while_readable(STICKY_USER_DATA, member.user_data, 0, version=1)
    if "previous_assignment" not in values:
        return Memory(generation=NO_GENERATION)
    partitions = (
        (entry["topic"], partition) for entry in values["previous_assignment"] for partition in entry["partitions"]
    )
    return Memory(tuple(partitions), values.get("generation"))


def cooperative_memory(member: MemberSubscription) -> Memory:
    """Take the owned partitions of the subscription; before its version 2 the generation is in the user data.

    Source: CooperativeStickyAssignor.memberData.
    """
    if member.generation is not None:
        return Memory(member.owned, member.generation)
    if member.user_data is None:
        return Memory(member.owned)
    try:
        generation, _ = read_int32(member.user_data, 0)
    except DecodeError:
        generation = NO_GENERATION
    return Memory(member.owned, generation)
