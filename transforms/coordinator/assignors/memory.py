"""What a member remembers: the partitions it had, and the generation that gave them to it.

A consumer forgets its membership when its coordinator does, but not all of what it was assigned: sticky assignors keep
it for as long as the consumer object lives, and some libraries send the generation with any assignor (seen: franz-go).
So what a member brings along as it comes tells whether it was there before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from schemas.records.fields import ArrayOf, Field, Scalar, int32s, struct
from transforms.coordinator.assignors.subscriptions import NO_GENERATION, MemberSubscription, TopicPartition
from transforms.errors import DecodeError
from transforms.wire.consumer_protocol import read_subscription
from transforms.wire.primitives import read_int32
from transforms.wire.walk import walk_while_readable

_PREVIOUS = ArrayOf(struct(Field("topic", Scalar.STRING), int32s("partitions")))
STICKY_USER_DATA = struct(Field("previous_assignment", _PREVIOUS), Field("generation", Scalar.INT32, since=1))
"""User data of StickyAssignor. The bytes do not say their version: 0 is what ends before the generation."""

_GENERATION_SIZE = 4
"""Bytes of the user data of Java's CooperativeStickyAssignor: a generation, and nothing else."""


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


@lru_cache(maxsize=4096)
def remembered_generation(protocol: str | None, subscription: bytes | None) -> int | None:
    """Return the generation of the last assignment that a member knows of as it joins.

    Args:
        protocol: the group's assignor, by name.
        subscription: what the member sent for it.

    Returns:
        -1 if it knows of none, although its assignor would have kept it: Java's cooperative-sticky writes so, and
        librdkafka's writes no user data then. None if it does not say. Source: subscriptionUserData of
        CooperativeStickyAssignor and StickyAssignor; rdkafka_sticky_assignor.c.
    """
    if not subscription or protocol is None:
        return None
    sent = read_subscription(subscription)
    if sent.problem is not None:
        return None
    if sent.generation is not None and sent.generation > 0:
        return sent.generation
    told = sent.user_data or b""
    if protocol == "cooperative-sticky" and not told:
        return NO_GENERATION if sent.generation == NO_GENERATION else None
    if protocol == "cooperative-sticky" and len(told) == _GENERATION_SIZE:
        generation, _ = read_int32(told, 0)
    elif protocol in ("sticky", "cooperative-sticky"):
        generation = sticky_memory(MemberSubscription(user_data=told)).generation or 0
    else:
        return None
    is_known = generation > 0 or (generation == NO_GENERATION and len(told) == _GENERATION_SIZE)
    return generation if is_known else None  # 0 = no assignment, and no generation: franz-go's first word
