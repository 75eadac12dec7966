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
from transforms.coordinator.evidence.tolerances import RECORD_DELAY_MS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.timeline.lives import Lives

CLASSIC_TYPES = frozenset({"classic", "generic"})
"""What the Java coordinator calls a classic group; the second word up to 3.6."""


def converted(course: Course, line: CoordinatorEventRow, cause: Cause) -> None:
    """Take the line about a conversion, in either direction."""
    if (line.attributes or {}).get("to") in CLASSIC_TYPES:
        course.presence.is_modern = False
    elif cause.at > course.presence.unconverted_until:
        become_modern(course, cause)


def become_modern(course: Course, cause: Cause) -> None:
    """The group does not speak the classic protocol any more."""
    course.presence.is_modern = True
    group = course.machine.present
    if group is None or _is_known(course.lives, cause):
        return
    _send_back(course, group, cause.at)
    delete(course, cause)


def _is_known(lives: Lives, cause: Cause) -> bool:
    """Whether another witness has told of it; for a group that has come back may be converted again soon."""
    is_near = lives.died_at is not None and abs(cause.at - lives.died_at) <= RECORD_DELAY_MS
    return is_near and lives.is_deletion_known(cause.at, cause.source)


def conversion_failed(course: Course, cause: Cause, until: float) -> None:
    """The group was to be converted and could not be: whoever waited was sent to join again before that was noticed.

    So it goes where no assignor was elected yet (ConsumerGroup.fromClassicGroup takes it for granted that one was), and
    where the joiner is refused by the group that it was made. The group goes on as it was, though a line may have told
    that it was converted.

    Args:
        course: the replay.
        cause: why.
        until: when that was over.
    """
    course.presence.unconverted_until = until
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
