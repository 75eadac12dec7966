"""Members and partitions as drawn histories write them, and the bytes that stand for them on the wire.

    a-1             a member of client "a"; Kafka's own ids are the client's name and a UUID, here the UUID is a number
    a-1(i)          the same, with group.instance.id "i"
    (i)             an instance alone: a static member that brings no id, or one that an administrator removes
    a-1[t u]        a member that subscribes to the topics t and u; without brackets it is t
    t-0 t-1 u-0     partitions, in the order of the wire: a topic whose partitions are apart is there twice
    a-1: t-0; b-1:  members and what they are assigned

Subscriptions and assignments are those of the consumer protocol.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from itertools import groupby

from schemas.records.consumer_protocol import ASSIGNMENT, SUBSCRIPTION
from tests.support.record_writer import body_bytes

CLIENT_HOST = "/10.0.0.1"
TOPICS = "t"

_WHO = r"(?!generation\b)(?P<id>[\w.-]*)(?:\((?P<instance>[^)]*)\))?(?:\[(?P<topics>[^\]]*)\])?"
_MEMBER = re.compile(_WHO)


@dataclass(frozen=True)
class Who:
    """A member as it is written; the id is "" where it has none yet."""

    member_id: str
    group_instance_id: str | None
    topics: tuple[str, ...]

    @property
    def client_id(self) -> str:
        """Client that the id was made from."""
        return self.member_id.rpartition("-")[0]

    @property
    def subscription(self) -> bytes:
        """ConsumerProtocolSubscription, version 1, of a member that owns nothing."""
        body = {"topics": list(self.topics), "userData": None, "ownedPartitions": []}
        return struct.pack(">h", 1) + body_bytes(SUBSCRIPTION, body, 1, flexible=False)


def who(text: str) -> Who:
    """Read one member."""
    match = _MEMBER.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a member: {text!r}")
    return Who(match["id"], match["instance"], tuple((match["topics"] or TOPICS).split()))


def members(text: str) -> list[Who]:
    """Read members one after the other."""
    return [who(match.group()) for match in _MEMBER.finditer(text) if match.group()]


def assignments(text: str) -> list[tuple[Who, bytes]]:
    """Read members with what each is assigned."""
    pairs = (part.partition(":") for part in text.split(";"))
    return [(who(member), assignment(partitions)) for member, _, partitions in pairs]


def assignment(partitions: str) -> bytes:
    """ConsumerProtocolAssignment, version 1, of partitions such as "t-0 t-1"."""
    pairs = [part.rpartition("-") for part in partitions.split()]
    topics = [
        {"topic": topic, "partitions": [int(number) for _, _, number in run]}
        for topic, run in groupby(pairs, key=lambda pair: pair[0])
    ]
    body = {"assignedPartitions": topics, "userData": None}
    return struct.pack(">h", 1) + body_bytes(ASSIGNMENT, body, 1, flexible=False)
