"""Walks one group's evidence through the state machine.

The replay walks the evidence in its order and lets the machine's own timers run out in between. What the machine
answers becomes the audit; where the group went becomes the timeline. Rules, each bought with a wrong timeline:

* A request is judged by what came before it. Its own answer only ends a wait (a successful JoinGroup of generation n
  shows that the join phase of n is over), and where it did the audit's row says so.
* Estimates of time can put an effect before its cause. A request of a generation that the group has not reached yet,
  and the end of a join phase in which somebody is still missing, are held for a few ms until the cause turns up.
* A record confirms, and where it does not it is right: the machine goes where the record is, backwards too.
* Nothing here raises on data.
"""

from __future__ import annotations

from functools import partial

from transforms.coordinator import exchanges, lines, records
from transforms.coordinator.audit import view
from transforms.coordinator.effects import JOIN_TIMER
from transforms.coordinator.evidence import Item, Kind
from transforms.coordinator.group import Timer
from transforms.coordinator.holds import JOIN_TIMER_LAG_MS, MOST_HOLDS, comes_too_early
from transforms.coordinator.homes import is_at_home
from transforms.coordinator.replaying import Replay
from transforms.coordinator.takeovers import SOURCE
from transforms.coordinator.waiting import Waiting

MEMBER_TIMER_LAG_MS = 1.0
"""How late a timer that removes a member runs out, so that a heartbeat of the same moment comes first."""

TIMER_LATE_MS = 5.0
"""How much later than its deadline a broker's timer may run out: until then the state before still answers."""


def walk(replay: Replay, items: list[Item]) -> None:
    """Walk the evidence, which is in order. Timers due after the last of it do not run out: nobody saw them."""
    waiting = Waiting(items)
    while (item := waiting.pop()) is not None:
        while _let_timer_run_out(replay, item.at):
            pass
        if item.holds < MOST_HOLDS and comes_too_early(replay, item):
            waiting.put_off(item)
        else:
            _take(replay, item)


def _let_timer_run_out(replay: Replay, before: float) -> bool:
    """Let the next timer run out if it is due."""
    timer = replay.machine.next_timer(before) if replay.hears_at(before) else None
    if timer is None:
        return False
    due, key = timer
    if due < replay.heard_from:
        _start_listening(replay)
        return True
    if due + (JOIN_TIMER_LAG_MS if key == JOIN_TIMER else MEMBER_TIMER_LAG_MS) > before:
        return False
    is_drawn_out = key == JOIN_TIMER and replay.machine.draws_out_join()
    ran_out = due if is_drawn_out else replay.removals.moment(key, due)
    if ran_out is None:
        del replay.machine.group.timers[key]
        return True
    if ran_out > due:
        replay.machine.group.timers[key] = Timer(ran_out)
        return True
    before_firing = view(replay.machine.present)
    replay.machine.fire(key)
    replay.take_note(due, before_firing, due + TIMER_LATE_MS)
    return True


def _start_listening(replay: Replay) -> None:
    """The request log begins: every session starts afresh, what should have happened before has."""
    group = replay.machine.group
    group.timers.clear()
    for member in group.members.values():
        replay.machine.reset_session(member, replay.heard_from)


def _take(replay: Replay, item: Item) -> None:
    exchange, row = item.exchange, item.row
    if exchange is not None and item.kind is Kind.REQUEST:
        exchanges.take(replay, exchange, item.holds > 0)
    elif exchange is not None:
        replay.step(exchange.answered_at, partial(exchanges.learn_from_answer, replay, exchange))
    elif row is not None and item.kind is Kind.RECORD:
        if is_at_home(replay, row["topic_partition_of_record"], row["recorded_at"], "offsets"):
            replay.step(row["recorded_at"], partial(records.take, replay, row))
    elif row is not None:
        partition = None if row["group_id"] is None else row["topic_partition_of_group"]
        if is_at_home(replay, partition, row["logged_at"], SOURCE):
            replay.step(row["logged_at"], partial(lines.take, replay, row))
