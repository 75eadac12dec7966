"""Which partition of `__consumer_offsets` a group lives in.

A group is sought in another partition once the topic was expanded. Its coordinator there knows nothing of it, and what
goes on in the old partition, where it is left to expire, is not its history.
"""

from __future__ import annotations

from functools import partial

from schemas.rows import CoordinatorEventRow
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.evidence.sources import BROKER_LOG, Source


def is_at_home(course: Course, partition: int | None, at: float, source: Source) -> bool:
    """Whether evidence is of the partition that the group lives in; to one that it was not seen in before it moves."""
    presence = course.presence
    if partition is None or (presence.homes and presence.homes[-1] == partition):
        return True
    if partition in presence.homes:
        return False
    presence.homes.append(partition)
    is_another = course.ownership.move_to(partition)
    if len(presence.homes) == 1:
        if is_another:  # lines about another partition had been taken for lines about the group's
            presence.coordinator, presence.is_absence_known = None, False
    else:
        if course.machine.present is not None:
            course.let(at, partial(course.machine.apply, Event.GROUP_UNLOADED, Cause(at, source=source)))
        course.lives.begin(at, source)
        presence.coordinator, presence.last_record, presence.is_absence_known = None, None, True
    return True


def is_line_at_home(course: Course, line: CoordinatorEventRow, at: float) -> bool:
    """Whether a line is of that partition; where it is of a coordinator as a whole, the group does not move by it."""
    if line.group_id is None:
        return course.ownership.is_of(line)
    return is_at_home(course, line.topic_partition_of_group, at, BROKER_LOG)
