"""What is put off because its cause has not turned up yet.

Moments are estimates, off by a few ms. So an effect can stand before its cause in the order: a heartbeat of a
generation that the group has not reached, a line about a rebalance whose request is a line later, the end of a join
phase in which somebody is still missing. Each waits a few ms, a few times; then it is taken as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.coordinator.answers import Error
from transforms.coordinator.effects import JOIN_TIMER
from transforms.coordinator.evidence import Exchange, Item, Kind, Row
from transforms.coordinator.states import GroupState

if TYPE_CHECKING:
    from transforms.coordinator.walk import Replay

HOLD_MS = 5.0
MOST_HOLDS = 10

JOIN_TIMER_LAG_MS = 3.0
"""How late the machine's own join timer runs out, so that what shows the end of the join phase comes first."""

TRIGGERS_OF_TIMERS = frozenset({"session_expired", "sync_timeout", "group_over_capacity", "assignment_store_failed"})
"""Rebalances that no request causes."""


def comes_too_early(replay: Replay, item: Item) -> bool:
    """Whether what this piece of evidence shows cannot have happened yet."""
    group = replay.machine.present
    if group is None or not group.is_known:
        return False
    if item.kind is Kind.REQUEST and item.exchange is not None:
        return _request_comes_too_early(replay, item.exchange)
    if item.kind is Kind.LINE and item.row is not None and item.row["event"] == "preparing_rebalance":
        return _line_comes_too_early(replay, item.row)
    if item.kind is Kind.LINE and item.row is not None and item.row["event"] == "group_empty":
        return replay.hears_at(item.at) and group.generation < item.row["generation"] and not group.all_joined
    if group.state is not GroupState.PREPARING:
        return False
    if item.kind is Kind.ANSWER and item.exchange is not None and item.exchange.request.api == "JoinGroup":
        told = item.exchange.row["answered_members"]
        ends = item.exchange.observed_generation == group.generation + 1
        return ends and not _can_complete(replay, item.at, len(told) if told else None)
    if item.kind is Kind.LINE and item.row is not None and item.row["event"] == "stabilized":
        return item.row["generation"] == group.generation + 1 and not _can_complete(
            replay, item.at, item.row["member_count"]
        )
    return False


def _request_comes_too_early(replay: Replay, exchange: Exchange) -> bool:
    group, request = replay.machine.group, exchange.request
    if group.state is GroupState.PREPARING and request.generation == group.generation + 1:
        return True
    waited = exchange.parked_ms > 0 and exchange.observed_generation == group.generation + 1
    if request.api == "JoinGroup" and waited and group.state is not GroupState.PREPARING:
        return replay.machine.foresee(request) == Error.NONE
    return False


def _line_comes_too_early(replay: Replay, line: Row) -> bool:
    """Whether a rebalance is told of whose request, which the request log has, was not handled yet."""
    group = replay.machine.group
    begun = group.generation > line["generation"] or group.state is GroupState.PREPARING
    trigger = (line["attributes"] or {}).get("trigger")
    return replay.hears_at(line["logged_at"]) and not begun and trigger not in TRIGGERS_OF_TIMERS


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
