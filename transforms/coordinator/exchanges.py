"""Takes a request, and later its answer.

The machine judges the request by what came before it; that is the prediction that the audit compares. The broker's
own answer is used for what follows only: a successful JoinGroup shows that its join phase is over, a successful
SyncGroup that the assignment is stored. Answers of heartbeats, commits and leaves prove nothing.
"""

from __future__ import annotations

from dataclasses import replace as with_setting
from functools import partial

from transforms.coordinator import observe
from transforms.coordinator.answers import Error
from transforms.coordinator.audit import (
    WHY_BROKER,
    WHY_HELD,
    WHY_MODERN,
    WHY_NOT_COORDINATOR,
    WHY_OTHER_COPY,
    WHY_OWN_ANSWER,
    WHY_SETTING,
    WHY_UNKNOWN,
    Verdict,
    view,
)
from transforms.coordinator.conversion import become_modern
from transforms.coordinator.events import REFUSALS, Cause, Event
from transforms.coordinator.evidence import MODERN_HEARTBEATS, STORE_MS, Exchange
from transforms.coordinator.replaying import Replay
from transforms.coordinator.resync import bring_to, end_join, members_of
from transforms.coordinator.states import GroupState

BROKER_REFUSALS = frozenset({24, 29, 30, 35, 42, 100})
"""Errors that a broker answers without asking the coordinator (invalid, not authorized, unsupported)."""

UNCHANGING_APIS = frozenset({"Heartbeat", "OffsetCommit", "TxnOffsetCommit"})
"""Requests that leave state and members of a group as they are."""


def take(replay: Replay, exchange: Exchange, was_held: bool) -> None:
    """Let the machine handle a request, and begin its row of the audit."""
    if exchange.request.api in MODERN_HEARTBEATS:
        _take_modern(replay, exchange)
        return
    group = replay.machine.present
    verdict = Verdict(exchange, None if group is None else group.state)
    replay.audit.verdicts[exchange.request.token] = verdict
    if _is_refused(replay, verdict) or _is_of_other_group(replay, verdict):
        return
    if exchange.request.leavers:
        _note_reasons(replay, exchange)
    if not replay.is_known:
        verdict.why = WHY_UNKNOWN
        _learn_unpredicted(replay, exchange)
        return
    if was_held and exchange.request.api == "JoinGroup":
        verdict.why = WHY_HELD
    if exchange.request.api == "JoinGroup" and replay.audit.is_refused_in_a_race(verdict, replay.machine):
        return
    if exchange.observed_error == Error.GROUP_MAX_SIZE_REACHED and not replay.brokers.are_settings_printed:
        _learn_max_size(replay, verdict)
    _handle(replay, exchange)


def _is_refused(replay: Replay, verdict: Verdict) -> bool:
    """Whether the group never saw the request; says what was to be expected, where lines show it."""
    exchange = verdict.exchange
    if exchange.observed_error in BROKER_REFUSALS:
        verdict.why = WHY_BROKER
        return True
    observed, ownership, broker = exchange.observed_error, replay.brokers.ownership, exchange.row["broker"]
    is_told = observed in REFUSALS
    if not is_told and ownership.is_settled(broker, exchange.handled_at, exchange.answered_at):
        return False
    answers = ownership.answers(broker, exchange.request.api, exchange.handled_at, exchange.answered_at)
    if is_told and answers[:1] == [None] and observed in answers and exchange.parked_ms and _waits(exchange):
        return False  # the group took it, and gave it back when it moved
    if not is_told and (None in answers or (Error.NOT_COORDINATOR in answers and observed not in answers)):
        return False  # the group may have answered itself; or lines are missing, and it did
    expected = [answer for answer in answers if answer is not None]
    verdict.predicted_error = observed if observed in expected else next(iter(expected), None)
    verdict.why = WHY_NOT_COORDINATOR if verdict.predicted_error is None else None
    return True


def _waits(exchange: Exchange) -> bool:
    """Whether a request may wait for the group, rather than the group for it."""
    return exchange.request.api in ("JoinGroup", "SyncGroup")


def _take_modern(replay: Replay, exchange: Exchange) -> None:
    """A heartbeat of a newer protocol that is let in shows that the group speaks it."""
    if exchange.observed_error == Error.NONE:
        become_modern(replay, Cause(exchange.handled_at))
        replay.take_note(exchange.handled_at, None)


def _is_of_other_group(replay: Replay, verdict: Verdict) -> bool:
    """Whether another group answered than the one that is replayed: of a newer protocol, or the old coordinator's.

    A broker may not have given the group up yet while another coordinates it already.
    """
    broker = verdict.exchange.row["broker"]
    if replay.is_modern:
        verdict.why = WHY_MODERN
    elif replay.coordinator not in (None, broker) and broker in replay.brokers.ownership.changes:
        verdict.why = WHY_OTHER_COPY
    return verdict.why is not None


def _note_reasons(replay: Replay, exchange: Exchange) -> None:
    """Keep the reasons of leavers under the ids that they go by in the group."""
    group = replay.machine.present
    for leaver in exchange.request.leavers:
        member_id = leaver.member_id
        if not member_id and group is not None:
            member_id = group.static_members.get(leaver.group_instance_id or "", "")
        if leaver.reason and member_id:
            replay.leave_reasons[member_id] = leaver.reason


def _handle(replay: Replay, exchange: Exchange) -> None:
    request, at = exchange.request, exchange.handled_at
    if request.api in UNCHANGING_APIS and replay.machine.present is not None:
        replay.machine.handle(request, at)
        replay.take_note(at, None)
        return
    if request.api == "SyncGroup":
        replay.assigning[request.token] = exchange
    was_absent = replay.machine.present is None
    group = replay.machine.present
    if request.api == "JoinGroup" and group is not None and exchange.parked_ms > STORE_MS:
        told = exchange.observed_generation
        request.is_unstored = told is None or told > group.generation
    before = view(group)
    replay.machine.handle(request, at)
    # It took effect at the latest when it was answered, or began to wait; a SyncGroup when what it waits for is done.
    waited = 0.0 if request.api == "SyncGroup" else exchange.parked_ms
    replay.take_note(at, before, max(at, exchange.answered_at - waited), exchange)
    if was_absent and replay.machine.present is not None:
        replay.born_at = at


def _learn_max_size(replay: Replay, verdict: Verdict) -> None:
    """Nothing but the first refusal of a join shows what group.max.size is."""
    group = replay.machine.present
    if group is not None:
        size = group.awaiting_join if group.state is GroupState.PREPARING else len(group.members)
        if size < replay.machine.settings.max_size:
            replay.machine.settings = with_setting(replay.machine.settings, max_size=size)
            verdict.why = WHY_SETTING


def _learn_unpredicted(replay: Replay, exchange: Exchange) -> None:
    """Where the members are not known, all that a request can show is that somebody who was one has left."""
    group = replay.machine.present
    if group is None or exchange.request.api != "LeaveGroup" or exchange.observed_error != Error.NONE:
        return
    for leaver in exchange.request.leavers:
        if leaver.member_id in group.members:
            cause = Cause(exchange.handled_at, None, (leaver.member_id,))
            replay.step(exchange.handled_at, partial(replay.machine.apply, Event.MEMBERS_LEFT, cause))


def learn_from_answer(replay: Replay, exchange: Exchange) -> None:
    """Take what a successful JoinGroup or SyncGroup proves, at the time its answer was sent."""
    if replay.is_modern:
        return
    if exchange.request.api == "JoinGroup":
        _join_answered(replay, exchange)
    else:
        _sync_answered(replay, exchange)


def _join_answered(replay: Replay, exchange: Exchange) -> None:
    generation = exchange.observed_generation
    if generation is None:
        return
    group = replay.machine.present
    if group is not None and group.state is GroupState.PREPARING and group.generation + 1 == generation:
        _mark_own_answer(replay, exchange)
        end_join(replay.machine, exchange.answered_at, "answer")
    elif exchange.row["answered_members"] and (not replay.has_other_evidence or not replay.is_known):
        _resync_to_answer(replay, exchange, generation)
    life = replay.life_of(generation)
    row = replay.timeline.generation(life, generation)
    row.facts.learn("answer", joined_by=exchange.answered_at)
    if exchange.row["answered_members"]:
        observe.leader_told(row, exchange)


def _resync_to_answer(replay: Replay, exchange: Exchange, generation: int) -> None:
    """With nothing else to go by, a leader's answer shows the whole group."""
    group = replay.machine.present
    if group is not None and group.is_known and group.generation >= generation:
        return
    record = {
        "protocol": exchange.row["answered_protocol"],
        "members": [
            {
                "member_id": entry["member_id"],
                "group_instance_id": entry["group_instance_id"],
                "client_id": None,
                "client_host": None,
                "session_timeout_ms": exchange.request.session_timeout_ms,
                "rebalance_timeout_ms": exchange.request.rebalance_timeout_ms,
                "subscription": entry["metadata"],
                "assignment": b"",
            }
            for entry in exchange.row["answered_members"]
        ],
    }
    cause = Cause(exchange.answered_at, source="answer")
    bring_to(replay.machine, GroupState.COMPLETING, generation, cause, members_of(record))
    group = replay.machine.group
    group.leader, group.protocol = exchange.row["answered_leader"], exchange.row["answered_protocol"]
    group.protocol_type = exchange.request.protocol_type
    replay.forget_parked()


def _sync_answered(replay: Replay, exchange: Exchange) -> None:
    generation, group = exchange.request.generation, replay.machine.present
    if group is not None and group.generation == generation and group.state is GroupState.COMPLETING:
        _mark_own_answer(replay, exchange)
        group.pending_syncs.pop(exchange.request.member_id, None)
        replay.machine.apply(Event.ASSIGNMENT_STORED, Cause(exchange.answered_at, source="answer"))
    row = replay.timeline.generation(replay.life_of(generation), generation)
    observe.member_told(row, exchange)


def _mark_own_answer(replay: Replay, exchange: Exchange) -> None:
    verdict = replay.audit.verdicts.get(exchange.request.token)
    if verdict is not None and verdict.predicted_error is None:
        verdict.why = WHY_OWN_ANSWER
