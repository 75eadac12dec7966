"""A group goes over to the consumer protocol (KIP-848), and perhaps comes back.

The classic group ends there, with a tombstone like a deleted one; members that still speak the classic protocol go on
as members of another kind of group, whose answers this state machine does not know. Whoever waits is sent to join
again. A group that comes back begins a new life, with the epoch it had as its generation.

Source: GroupMetadataManager.convertToConsumerGroup and convertToClassicGroup (Java).
"""

from __future__ import annotations

from msgspec.structs import replace

from schemas.rows import CoordinatorEventRow
from transforms.coordinator.classic.machine.events import Cause
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.records import delete
from transforms.coordinator.kafka.answers import Error

CLASSIC_TYPES = frozenset({"classic", "generic"})
"""What the Java coordinator calls a classic group; the second word up to 3.6."""


def converted(course: Course, line: CoordinatorEventRow, cause: Cause) -> None:
    """Take the line about a conversion, in either direction."""
    if (line.attributes or {}).get("to") in CLASSIC_TYPES:
        course.presence.is_modern = False
    else:
        become_modern(course, cause)


def become_modern(course: Course, cause: Cause) -> None:
    """The group does not speak the classic protocol any more."""
    course.presence.is_modern = True
    group = course.machine.present
    if group is None or course.lives.is_deletion_known(cause.at, cause.source):
        return
    for member in list(group.members.values()):
        for token in (member.parked_join, member.parked_sync):
            if token is not None:
                course.machine.answer(token, Error.REBALANCE_IN_PROGRESS, cause.at)
        group.put(replace(member, parked_join=None, parked_sync=None))
    delete(course, cause)
