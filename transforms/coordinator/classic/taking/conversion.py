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
from transforms.coordinator.classic.machine.group import Group
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
    _send_back(course, group, cause.at)
    delete(course, cause)


def conversion_failed(course: Course, cause: Cause) -> None:
    """The group was to be converted and could not be: whoever waited was sent to join again before that was noticed.

    So it goes where no assignor was elected yet (ConsumerGroup.fromClassicGroup takes it for granted that one was). The
    group goes on as it was.
    """
    group = course.machine.present
    if group is not None:
        _send_back(course, group, cause.at)


def _send_back(course: Course, group: Group, at: float) -> None:
    """Answer all who wait that they are to join again."""
    for member in list(group.members.values()):
        for token in (member.parked_join, member.parked_sync):
            if token is not None:
                course.machine.answer(token, Error.REBALANCE_IN_PROGRESS, at)
        group.put(replace(member, parked_join=None, parked_sync=None))
