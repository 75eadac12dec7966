"""Lets somebody join of whom a line alone tells: the broker was gone before it answered, and logged no request."""

from __future__ import annotations

from msgspec.structs import replace

from schemas.rows import CoordinatorEventRow
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.group import Group
from transforms.coordinator.classic.machine.moves import create
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.evidence.items import token_of
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.kafka.requests import Request

_CONSUMER = "consumer"
_REBALANCE_TIMEOUT_MS = 300_000
"""max.poll.interval.ms of a client that sets none."""


def join_unanswered(course: Course, line: CoordinatorEventRow, at: float) -> None:
    """Add the member that a line names, whose request waits from then on, for good.

    Whoever joins with an id that was given out brings what it brought when it asked for that; of others nothing is
    known but that they fit the group. An id that was a group of another type, too, is left to what its records tell.
    """
    if not course.is_known or course.presence.has_spoken_modern:
        return
    group, member_id = course.machine.present or create(course.machine), line.member_id or ""
    if member_id in group.members:
        return
    asked = group.pending_joins.get(member_id)
    token = token_of((line.source_file, line.line_number, line.seq))
    request = _guessed(group, line, token) if asked is None else replace(asked, token=token, member_id=member_id)
    course.machine.apply(Event.MEMBER_ADDED, Cause(at, request, (member_id,), Source.BROKER_LOG))
    member = course.machine.group.members.get(member_id)
    if member is not None and asked is None:
        course.machine.group.put(replace(member, is_partial=True))


def _guessed(group: Group, line: CoordinatorEventRow, token: int) -> Request:
    return Request(
        token,
        "JoinGroup",
        member_id=line.member_id or "",
        group_instance_id=line.group_instance_id,
        rebalance_timeout_ms=group.rebalance_timeout_ms or _REBALANCE_TIMEOUT_MS,
        protocol_type=group.protocol_type or _CONSUMER,
    )
