"""One draw: what the evidence leaves open is decided by lot, the change is made, and the group lives through it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from transforms.whatif.change import Change
from transforms.whatif.client import Client
from transforms.whatif.evidence import Evidence
from transforms.whatif.figures import Window
from transforms.whatif.pace import Paces
from transforms.whatif.processes import Life, Process
from transforms.whatif.simulation import Course, Simulation
from transforms.whatif.stays import Silence

JITTER_MS = 40.0
"""How far two runs of one plan of starts and stops lie apart; measured with real brokers and clients."""

WARM_UP_MS = 30_000.0
"""Members that were there before the evidence begins join that long before, and the initial delay."""

RUN_OUT_MS = 10_000.0
"""Beyond the end of the evidence and a session, so that it shows when the last deaths are noticed."""

EXTERNAL = frozenset(
    {
        "subscription_changed",
        "topic_metadata_changed",
        "leader_rejoined",
        "assignment_store_failed",
        "protocol_downgraded",
        "coordinator_failover",
    }
)
"""Triggers that no process' coming and going explains: they come about in the changed run as they did."""


class Nudge(Struct, frozen=True):
    """A rebalance that came from outside: when, and by whose member id, where that is known."""

    at: float
    member_id: str | None


class History(Struct):
    """All that a run is made of.

    Attributes:
        window: what counts.
        begins_at: where the evidence begins.
        ends_at: where it ends.
        counts: partitions by topic at a moment.
    """

    evidence: Evidence
    processes: list[Process]
    paces: Paces
    nudges: list[Nudge]
    window: Window
    begins_at: float
    ends_at: float
    counts: Callable[[float], Mapping[str, int]]


def live_through(history: History, change: Change, seed: str, wakes: float) -> Course:
    """Let the group live through its history once.

    Args:
        history: the group's.
        change: what is otherwise.
        seed: of what is left to chance; what happened is decided alike for all changes.
        wakes: how likely a process of which only the coordinator's view is known was asleep rather than dead.
    """
    random, open_question = Random(seed), Random(f"{seed}/what happened")
    evidence = history.evidence
    settings = evidence.settings
    if change.initial_delay_ms is not None:
        settings = replace(settings, initial_delay_ms=change.initial_delay_ms)
    group_id = evidence.generations[0].group_id if evidence.generations else ""
    simulation = Simulation(group_id, settings, history.counts, history.window, random)
    by_member: dict[str, Client] = {}
    for number, process in enumerate(history.processes):
        pace = history.paces.of(process.owner)
        client = Client(simulation, pace, number, process, _instance(process, change), change.strategy)
        simulation.add(client)
        by_member |= {member_id: client for life in process.lives for member_id in life.member_ids}
        _Script(simulation, client, history, change, random).write(_decided(process.lives, open_question, wakes))
    for nudge in history.nudges:
        client_or_none = by_member.get(nudge.member_id or "")
        simulation.later(nudge.at, lambda now, who=client_or_none: simulation.subscription_changes(who, now))  # type: ignore[misc]
    sessions = [life.session_timeout_ms for process in history.processes for life in process.lives]
    return simulation.run(history.ends_at + max([*sessions, change.session_timeout_ms or 0]) + RUN_OUT_MS)


def _instance(process: Process, change: Change) -> str | None:
    if process.group_instance_id is not None or not change.is_static:
        return process.group_instance_id
    return process.owner + (f"#{process.number}" if process.number else "")


def _decided(lives: list[Life], random: Random, wakes: float) -> list[Life]:
    """Decide which of two lives are one, with a silence between them."""
    decided: list[Life] = []
    for life in lives:
        before = decided[-1] if decided else None
        if before is not None and before.may_go_on and before.ends_at is not None and random.random() < wakes:
            sleeps_from, next_sign = before.ends_at.earliest, life.begins_at or before.ends_at.latest
            sleep = Silence(sleeps_from, min(before.removed_at or next_sign, next_sign), next_sign)
            decided[-1] = replace(
                life,
                begins_at=before.begins_at,
                silences=[*before.silences, sleep, *life.silences],
                stalls=[*before.stalls, *life.stalls],
                member_ids=[*before.member_ids, *life.member_ids],
            )
        else:
            decided.append(life)
    return decided


class _Script:
    """Writes a client's lives into a simulation."""

    def __init__(
        self, simulation: Simulation, client: Client, history: History, change: Change, random: Random
    ) -> None:
        self._simulation = simulation
        self._client = client
        self._change = change
        self._random = random
        self._window = history.window
        delay = change.initial_delay_ms or history.evidence.settings.initial_delay_ms
        self._before = history.begins_at - WARM_UP_MS - delay

    def write(self, lives: list[Life]) -> None:
        """Write them all."""
        for life in lives:
            self._write(life)

    def _write(self, life: Life) -> None:
        later, client = self._simulation.later, self._client
        session = self._change.session_timeout_ms or life.session_timeout_ms
        patience = self._change.max_poll_interval_ms or life.rebalance_timeout_ms
        lived = replace(life, session_timeout_ms=session, rebalance_timeout_ms=patience)
        begins_at = self._shaken(life.begins_at) if life.begins_at is not None else self._before
        later(begins_at, lambda now: client.start(lived, now))
        for silence in life.silences:
            self._at(self._after(silence.last_sign, silence.next_sign), client.fall_silent)
            self._at(self._random.uniform(silence.woke_at, silence.next_sign), client.wake_as_member)
            self._at(silence.next_sign, client.wake)
        for stall in life.stalls:
            self._at(stall.polled_at, lambda _: client.stop_polling())
            if stall.polled_at + patience < stall.polls_at:
                self._at(stall.polled_at + patience, client.give_up)
            self._at(stall.polls_at, client.poll)
        if life.ends_at is not None and life.ended == "left":
            later(max(begins_at, self._shaken(life.ends_at.latest)), client.leave)
        elif life.ends_at is not None:
            later(max(begins_at, self._after(life.ends_at.earliest, life.ends_at.latest)), client.die)

    def _at(self, at: float, act: Callable[[float], None]) -> None:
        self._simulation.later(max(at, self._before), act)

    def _after(self, last_sign: float, latest: float) -> float:
        """Choose when a process fell silent whose last heartbeat is known."""
        return self._random.uniform(last_sign, min(latest, last_sign + self._client.beat_ms))

    def _shaken(self, at: float) -> float:
        """Move a moment a little, but not out of the window, nor into it."""
        moved = at + self._random.uniform(-JITTER_MS, JITTER_MS)
        return moved if self._window.holds(moved) == self._window.holds(at) else at
