"""Lets somebody join, or join again, of whom a line alone tells: its broker was gone before it could answer."""

from __future__ import annotations

from msgspec.structs import replace

from schemas.client_defaults import MAX_POLL_INTERVAL_MS
from schemas.rows import CoordinatorEventRow
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.group import Group
from transforms.coordinator.classic.machine.moves import create
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.observe import CONSUMER
from transforms.coordinator.classic.taking.triggers import BY_EVENT
from transforms.coordinator.evidence.items import token_of
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.kafka.requests import Request

_REJOINS = {BY_EVENT[event]: event for event in (Event.LEADER_REJOINED, Event.METADATA_CHANGED)}
"""What a member does that joins again, by the trigger of the rebalance that follows."""


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


def is_unanswered_rejoin(course: Course, line: CoordinatorEventRow, at: float) -> bool:
    """Whether a line tells of a rebalance because a member joined again, and no answer to that is known."""
    group, trigger = course.machine.present, (line.attributes or {}).get("trigger")
    if trigger not in _REJOINS or group is None or line.member_id not in group.members:
        return False
    return group.is_known and course.presence.hears_at(at) and course.state.joiners.is_unanswered(line, at)


def rejoin_unanswered(course: Course, line: CoordinatorEventRow, at: float) -> None:
    """Let the member that a line names join again with what it has; its request waits for good.

    No join phase begins by it where something before it is not known.
    """
    member = course.machine.group.members[line.member_id or ""]
    request = Request(
        token_of((line.source_file, line.line_number, line.seq)),
        "JoinGroup",
        member.join_version,
        member.member_id,
        member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        protocols=member.protocols,
    )
    event = _REJOINS[(line.attributes or {})["trigger"]]
    course.machine.apply(event, Cause(at, request, (member.member_id,), Source.BROKER_LOG))


def _guessed(group: Group, line: CoordinatorEventRow, token: int) -> Request:
    return Request(
        token,
        "JoinGroup",
        member_id=line.member_id or "",
        group_instance_id=line.group_instance_id,
        rebalance_timeout_ms=group.rebalance_timeout_ms or MAX_POLL_INTERVAL_MS,
        protocol_type=group.protocol_type or CONSUMER,
    )
