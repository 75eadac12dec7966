"""What is put off because its cause has not turned up yet.

Moments are estimates, off by a few ms. So an effect can stand before its cause in the order: a heartbeat of a
generation that the group has not reached, a line about a rebalance whose request is a line later, the end of a join
phase in which somebody is still missing. Each waits a few ms, a few times, or to the moment that a line tells; then it
is taken as it is.
"""

from __future__ import annotations

from schemas.rows import CoordinatorEventRow, GroupRequestRow
from transforms.coordinator.classic.machine.foresight import foresee
from transforms.coordinator.classic.machine.group import JOIN_TIMER, Group
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.unanswered import is_unanswered_rejoin
from transforms.coordinator.evidence.exchanges import Exchange, observed_error
from transforms.coordinator.evidence.items import ANSWER, Item
from transforms.coordinator.evidence.tolerances import (
    HOLD_MS,
    HOLDS_OF_A_REQUEST,
    JOIN_TIMER_LAG_MS,
    LINE_DELAY_MS,
    MOST_HOLDS,
    RACE_WINDOW_MS,
    STORE_MS,
)
from transforms.coordinator.kafka.answers import REFUSALS, REFUSALS_OF_JOIN, Error
from transforms.coordinator.kafka.states import COMPLETING, EMPTY, PREPARING, STABLE

TRIGGERS_OF_TIMERS = frozenset(
    {"session_expired", "sync_timeout", "group_over_capacity", "assignment_store_failed", "protocol_downgraded"}
)
"""Rebalances that no request to a classic group causes."""

_REBALANCING_APIS = frozenset({"JoinGroup", "LeaveGroup"})

_TOO_EARLY_PERHAPS = frozenset({"preparing_rebalance", "group_empty", "stabilized"})
"""Lines about what a request can have caused that has not been handled yet."""


def waits_ms(course: Course, item: Item) -> float:
    """Return for how long a piece of evidence is put off, as what it shows cannot have happened yet; 0 = not at all."""
    row, line = item.request, item.line
    if row is None:
        return HOLD_MS if line is not None and _line_comes_too_early(course, item, line) else 0.0
    if item.kind is ANSWER:
        return HOLD_MS if row.api == "JoinGroup" and _answer_comes_too_early(course, item, row) else 0.0
    if not item.holds:
        wait_ms = _behind_the_load(course, item, row) - item.at
        if wait_ms > 0:
            return wait_ms
    group = course.machine.present
    if group is None or not group.is_known:
        return 0.0
    if _request_comes_too_early(course, group, item, row):
        return HOLD_MS
    if group.state is not COMPLETING or row.api not in _REBALANCING_APIS or item.holds >= HOLDS_OF_A_REQUEST:
        return 0.0
    return max(0.0, _behind_the_assignment(course, group, item.handled_at) - item.at)


def _line_comes_too_early(course: Course, item: Item, line: CoordinatorEventRow) -> bool:
    if item.holds >= MOST_HOLDS:
        return False
    if line.event == "group_deleted":
        return not item.holds and _is_there_yet(course, line)
    is_of_round = line.event in _TOO_EARLY_PERHAPS and course.is_known
    return is_of_round and _round_comes_too_early(course, item, line)


def _request_comes_too_early(course: Course, group: Group, item: Item, row: GroupRequestRow) -> bool:
    at, holds = item.handled_at, item.holds
    if row.api == "JoinGroup":
        return holds < MOST_HOLDS and _join_comes_too_early(course, group, course.exchange_of(item), holds)
    if row.api == "SyncGroup" and group.state is COMPLETING and holds < HOLDS_OF_A_REQUEST:
        return _assignment_comes_too_late(course, group, row, at)
    is_of_next = group.state is PREPARING and row.generation == group.generation + 1
    if not is_of_next or holds >= MOST_HOLDS or _is_made_up(course, row, at):
        return False
    return holds < HOLDS_OF_A_REQUEST or not course.witnesses.denies_completion(group.generation + 1, at)


def _is_there_yet(course: Course, line: CoordinatorEventRow) -> bool:
    """Whether a group that is told to be deleted is there, while the request log has every DeleteGroups."""
    return course.machine.present is not None and course.presence.hears_at(line.logged_at or 0.0)


def _is_made_up(course: Course, row: GroupRequestRow, at: float) -> bool:
    """Whether nobody can have been told of a generation yet, by the lines, and its request was refused for it."""
    completed = course.witnesses.tells_of(COMPLETING, row.generation or 0, at)
    is_early = completed is not None and at < completed - RACE_WINDOW_MS
    return is_early and observed_error(row) == Error.ILLEGAL_GENERATION


def _behind_the_load(course: Course, item: Item, row: GroupRequestRow) -> float:
    """Return when the broker has certainly loaded the group that it answered for, by the lines; 0 = any time."""
    begun = course.ownership.begins_to_ask(row.broker, item.handled_at, row.answered_at)
    return 0.0 if begun is None or observed_error(row) in REFUSALS else begun + 2 * LINE_DELAY_MS


def _behind_the_assignment(course: Course, group: Group, at: float) -> float:
    """Return when the leader's assignment is in for sure that a request comes behind, by the lines; 0 = any time.

    An assignment is received while the round is being completed, and so before the rebalance that ends that.
    """
    witnesses = course.witnesses
    if witnesses.tells_of(PREPARING, group.generation, at) is None:
        return 0.0
    assigned = witnesses.tells_of(STABLE, group.generation, at)
    return 0.0 if assigned is None or at >= assigned else assigned + 2 * LINE_DELAY_MS


def _assignment_comes_too_late(course: Course, group: Group, row: GroupRequestRow, at: float) -> bool:
    """Whether lines tell of a rebalance at the moment of a leader's SyncGroup, and of no assignment before it."""
    witnesses = course.witnesses
    if row.member_id != group.leader or row.generation != group.generation:
        return False
    is_left = witnesses.tells_of(PREPARING, group.generation, at) is not None
    return is_left and witnesses.denies_assignment(group.generation, at)


def _answer_comes_too_early(course: Course, item: Item, row: GroupRequestRow) -> bool:
    """Whether an answer tells of the end of a join phase in which somebody is still missing."""
    group = course.machine.present
    if group is None or group.state is not PREPARING or row.answered_generation != group.generation + 1:
        return False
    if not group.is_known or item.holds >= MOST_HOLDS:
        return False
    count = len(row.answered_members) if row.answered_members else None
    return not _can_complete(group, item.at, count, item.holds)


def _join_comes_too_early(course: Course, group: Group, exchange: Exchange, holds: int) -> bool:
    """Whether a JoinGroup was answered as in a rebalance that has not come yet, or with room that is not there yet."""
    told, may_wait = exchange.observed_generation, holds < HOLDS_OF_A_REQUEST
    if told is not None and told > group.generation + 1:
        # It waits for one join phase at the most, so the one before has ended by now.
        return may_wait and course.witnesses.was_completed(told - 1, exchange.handled_at)
    if may_wait and _is_overtaken(course, group, exchange):
        return True
    if told == group.generation + 1 and group.state is PREPARING:
        return may_wait and _would_end_it(group, exchange) and _does_not_end_it(course, group, exchange)
    foreseen = foresee(group, exchange.request, course.machine.settings)
    if told == group.generation + 1 and foreseen == Error.NONE:
        return exchange.parked_ms > 0 or may_wait
    if exchange.request.member_id and told is None and exchange.parked_ms > STORE_MS and group.state is not PREPARING:
        return foreseen == Error.NONE and may_wait  # it waited for a rebalance, and in vain
    observed = exchange.observed_error
    is_let_in = told is not None or observed == Error.MEMBER_ID_REQUIRED
    if is_let_in:
        return foreseen in REFUSALS_OF_JOIN and may_wait
    if observed == Error.UNKNOWN_MEMBER_ID != foreseen:
        return course.witnesses.failed_within(exchange.request.member_id, exchange.handled_at, exchange.answered_at)
    is_fenced = observed == Error.FENCED_INSTANCE_ID and not _can_wait(group, exchange)  # else perhaps while it waited
    return (observed == Error.GROUP_MAX_SIZE_REACHED or is_fenced) and observed != foreseen and not holds


def _can_wait(group: Group, exchange: Exchange) -> bool:
    """Whether a JoinGroup can have waited for others, and not for its turn alone."""
    return exchange.parked_ms > 0 and not (group.state is PREPARING and _would_end_it(group, exchange))


def _is_overtaken(course: Course, group: Group, exchange: Exchange) -> bool:
    """Whether a static member comes back in the place of one that itself is yet to come back, as lines tell."""
    request = exchange.request
    instance_id = request.group_instance_id
    if not instance_id or request.member_id or not course.witnesses.replacements:
        return False
    before = course.witnesses.replaced_by(instance_id, request.joiner_id, exchange.handled_at)
    return before is not None and before not in group.members and before in course.state.joiners.given


def _would_end_it(group: Group, exchange: Exchange) -> bool:
    """Whether a JoinGroup is the last one that a join phase waits for; it did not wait, if it is."""
    joiner = exchange.request.member_id
    for name, member in group.members.items():
        if member.parked_join is None and name != joiner:
            return False
    return group.pending_joins.keys() <= {joiner} and group.previous_state is not EMPTY


def _does_not_end_it(course: Course, group: Group, exchange: Exchange) -> bool:
    """Whether the join phase did not end by a JoinGroup: it waited longer, or so says the line about the end."""
    has_waited = exchange.parked_ms > MOST_HOLDS * HOLD_MS  # for more than a coordinator that is slow
    joined = len(group.members.keys() | {exchange.request.member_id})
    return has_waited or course.witnesses.denies_completion(group.generation + 1, exchange.handled_at, joined)


def _round_comes_too_early(course: Course, item: Item, line: CoordinatorEventRow) -> bool:
    if line.event == "preparing_rebalance":
        return _begin_comes_too_early(course, line)
    group, generation = course.machine.present, line.generation or 0
    if group is None:
        return False
    hears = _may_hear(course, line)
    if line.event == "group_empty":
        return hears and group.generation < generation and not group.all_joined
    if generation != group.generation + 1 or not hears:
        return False
    return group.state is not PREPARING or not _can_complete(group, item.at, line.member_count, item.holds)


def _begin_comes_too_early(course: Course, line: CoordinatorEventRow) -> bool:
    """Whether a rebalance is told of whose request, which the request log has, was not handled yet."""
    group = course.machine.present
    begun = group is not None and (group.generation > (line.generation or 0) or group.state is PREPARING)
    trigger = (line.attributes or {}).get("trigger")
    is_by_request = _may_hear(course, line) and trigger not in TRIGGERS_OF_TIMERS
    return is_by_request and not begun and not is_unanswered_rejoin(course, line, line.logged_at or 0.0)


def _may_hear(course: Course, line: CoordinatorEventRow) -> bool:
    """Whether the request log has what a line is about; its first request, too, can stand behind what it brought."""
    return course.presence.hears_at((line.logged_at or 0.0) + MOST_HOLDS * HOLD_MS)


def _can_complete(group: Group, at: float, member_count: int | None, holds: int) -> bool:
    """Whether the join phase can be over: everybody has joined, or its time is up.

    If neither, somebody's join, leave or expiry of the same moment has not been handled yet. Nor has what ended it
    where all have joined, for else it would be over; but that may be a timer, so it is waited for less long.
    """
    timer = group.timers.get(JOIN_TIMER)
    if timer is not None and timer.due <= at + JOIN_TIMER_LAG_MS:
        return True
    waiting = group.awaiting_join
    if waiting < len(group.members) or (member_count is not None and waiting < member_count):
        return False
    return holds >= HOLDS_OF_A_REQUEST
