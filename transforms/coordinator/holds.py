"""What is put off because its cause has not turned up yet.

Moments are estimates, off by a few ms. So an effect can stand before its cause in the order: a heartbeat of a
generation that the group has not reached, a line about a rebalance whose request is a line later, the end of a join
phase in which somebody is still missing. Each waits a few ms, a few times; then it is taken as it is.
"""

from __future__ import annotations

from transforms.coordinator.answers import Error
from transforms.coordinator.audit import REFUSALS_OF_JOIN
from transforms.coordinator.effects import JOIN_TIMER
from transforms.coordinator.evidence import Exchange, Item, Kind, Row
from transforms.coordinator.replaying import Replay
from transforms.coordinator.states import GroupState

HOLD_MS = 5.0
MOST_HOLDS = 10

HOLDS_OF_A_JOIN = 2
"""How often a JoinGroup is put off: the estimate of when it was handled is off by no more than 5 ms or so."""

JOIN_TIMER_LAG_MS = 3.0
"""How late the machine's own join timer runs out, so that what shows the end of the join phase comes first."""

TRIGGERS_OF_TIMERS = frozenset({"session_expired", "sync_timeout", "group_over_capacity", "assignment_store_failed"})
"""Rebalances that no request causes."""


def comes_too_early(replay: Replay, item: Item) -> bool:
    """Whether what this piece of evidence shows cannot have happened yet."""
    if not replay.is_known:
        return False
    if item.kind is Kind.LINE and item.row is not None and item.row["event"] == "preparing_rebalance":
        return _line_comes_too_early(replay, item.row)
    group = replay.machine.present
    if group is None:
        return False
    if item.kind is Kind.REQUEST and item.exchange is not None:
        return _request_comes_too_early(replay, item.exchange, item.holds)
    if item.kind is Kind.LINE and item.row is not None and item.row["event"] == "group_empty":
        return replay.hears_at(item.at) and group.generation < item.row["generation"] and not group.all_joined
    if item.kind is Kind.LINE and item.row is not None and item.row["event"] == "stabilized":
        return _completion_comes_too_early(replay, item.row, item.at)
    if group.state is not GroupState.PREPARING:
        return False
    if item.kind is Kind.ANSWER and item.exchange is not None and item.exchange.request.api == "JoinGroup":
        told = item.exchange.row["answered_members"]
        ends = item.exchange.observed_generation == group.generation + 1
        return ends and not _can_complete(replay, item.at, len(told) if told else None)
    return False


def _request_comes_too_early(replay: Replay, exchange: Exchange, holds: int) -> bool:
    group, request = replay.machine.group, exchange.request
    if request.api == "JoinGroup":
        return _join_comes_too_early(replay, exchange, holds)
    return group.state is GroupState.PREPARING and request.generation == group.generation + 1


def _join_comes_too_early(replay: Replay, exchange: Exchange, holds: int) -> bool:
    """Whether a JoinGroup was answered as in a rebalance that has not come yet, or with room that is not there yet."""
    group, told = replay.machine.group, exchange.observed_generation
    if told is not None and told > group.generation + 1:
        # It waits for one join phase at the most, so the one before has ended by now.
        return holds < HOLDS_OF_A_JOIN and replay.removals.was_completed(told, exchange.answered_at)
    foreseen = replay.machine.foresee(exchange.request)
    waits = told == group.generation + 1 and exchange.parked_ms > 0 and group.state is not GroupState.PREPARING
    if waits and foreseen == Error.NONE:
        return True
    observed = exchange.observed_error
    is_let_in = told is not None or observed == Error.MEMBER_ID_REQUIRED
    if is_let_in:
        return foreseen in REFUSALS_OF_JOIN and holds < HOLDS_OF_A_JOIN
    return observed == Error.GROUP_MAX_SIZE_REACHED != foreseen and not holds


def _line_comes_too_early(replay: Replay, line: Row) -> bool:
    """Whether a rebalance is told of whose request, which the request log has, was not handled yet."""
    group = replay.machine.present
    begun = group is not None and (group.generation > line["generation"] or group.state is GroupState.PREPARING)
    trigger = (line["attributes"] or {}).get("trigger")
    return replay.hears_at(line["logged_at"]) and not begun and trigger not in TRIGGERS_OF_TIMERS


def _completion_comes_too_early(replay: Replay, line: Row, at: float) -> bool:
    """Whether the end of a join phase is told of that was not begun yet, or in which somebody is missing."""
    group = replay.machine.group
    if line["generation"] != group.generation + 1:
        return False
    if group.state is not GroupState.PREPARING:
        return replay.hears_at(line["logged_at"])
    return not _can_complete(replay, at, line["member_count"])


def _can_complete(replay: Replay, at: float, member_count: int | None) -> bool:
    """Whether the join phase can be over: everybody has joined, or its time is up.

    If neither, somebody's join, leave or expiry of the same moment has not been handled yet.
    """
    group = replay.machine.group
    timer = group.timers.get(JOIN_TIMER)
    if timer is not None and timer.due <= at + JOIN_TIMER_LAG_MS:
        return True
    if member_count is not None and group.awaiting_join < member_count:
        return False
    return all(member.parked_join is not None for member in group.members.values())
