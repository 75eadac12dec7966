"""What goes on in a storm: the one story that most of its rebalances are part of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from schemas.words import STORM_PATTERNS
from transforms.findings.clients import Client, Key
from transforms.findings.evidence import Evidence
from transforms.findings.stay import OFTEN, Stay
from transforms.findings.stays import Stays
from transforms.findings.storms.causes import FIRST, Cause
from transforms.findings.storms.costs import length_of_union, unstable_intervals
from transforms.findings.storms.kinds import Kind
from transforms.findings.storms.rounds import RETURNS, Round, away_together

MAIN_SHARE = 0.5
"""From this share of the rebalances on a pattern is the storm's."""

_KINDS = {
    "crash_loop": (Kind.CRASH,),
    "lost_session": (Kind.LOST,),
    "crash_or_pause": (Kind.SILENT, Kind.CRASH, Kind.LOST),
    "slow_poll_loop": (Kind.SLOW,),
    "fencing_war": (Kind.FENCED,),
    "subscription_conflict": (Kind.SUBSCRIPTION,),
    "metadata_refresh": (Kind.METADATA,),
    "coordinator_trouble": (Kind.COORDINATOR,),
    "slow_revoker": (Kind.REVOKER,),
}
"""Patterns that are told by the kinds of causes alone; the others depend on who comes and goes, and how often."""

_EITHER = {"crash_or_pause": ("crash_loop", "lost_session")}
"""Patterns that say which of others it may be: told only where the evidence does not make it one of them."""

_LOOPS = ("crash_loop", "lost_session", "crash_or_pause", "slow_poll_loop", "flapping_member")
"""Patterns of what happens again and again: what happened once is none of them."""

_JUST_BACK_MS = 60_000
"""Whoever goes again so soon after it came back goes for the same reason; later, two times may be a coincidence."""

_HELD_UP = "slow_revoker"

HARMLESS = ("rolling_restart", "scaling")
"""Patterns that somebody meant to happen; they harm only if they go on and on."""

_MISHAPS = (Kind.CRASH, Kind.LOST, Kind.SILENT, Kind.SLOW)
_MEANT = (Kind.RESTART, Kind.ARRIVAL, Kind.FOUNDING, Kind.DEPARTURE, Kind.METADATA)
"""What happens in every group now and then: the first for one client, once; the second because somebody means it to."""


@dataclass(frozen=True)
class Pattern:
    """What goes on.

    Attributes:
        name: one of `schemas.words.STORM_PATTERNS`.
        share: part of the rebalances that fit it.
        fitting: for each rebalance the causes of it that fit.
        is_harmless: a restart or a scaling that was done once, things of every day that fell together, or comings and
            goings of which nothing shows that they are more than that.
    """

    name: str
    share: float
    fitting: list[list[Cause]]
    is_harmless: bool = False


def pattern_of(evidence: Evidence, causes: list[list[Cause]], stays: Stays) -> Pattern:
    """Find the pattern of a storm.

    Args:
        evidence: of the storm.
        causes: of each of its rebalances.
        stays: of the group's members around it.
    """
    comings = _Comings(evidence, causes, stays)
    fitting = {name: [[c for c in each if fits(c)] for each in causes] for name, fits in _tests(comings).items()}
    counts = {name: sum(map(bool, each)) for name, each in fitting.items() if _is_whole(name, each, evidence)}
    for either, each in _EITHER.items():
        if max(counts.get(name, 0) for name in each) >= MAIN_SHARE * len(causes):
            counts.pop(either, None)
    main = max(counts, key=lambda name: (counts[name], -STORM_PATTERNS.index(name)))
    is_held_up = _is_held_up(evidence, causes)
    if counts[main] >= MAIN_SHARE * len(causes) and not (is_held_up and main in HARMLESS):
        is_once = comings.rounds == 1 if main == "rolling_restart" else comings.turns <= 1
        return Pattern(main, counts[main] / len(causes), fitting[main], main in HARMLESS and is_once)
    if is_held_up:
        return Pattern(_HELD_UP, counts[_HELD_UP] / len(causes), fitting[_HELD_UP])
    known = [[c for name in fitting for c in fitting[name][number]] for number in range(len(causes))]
    known = [of or [c for c in each if c.kind is Kind.RESTART] for of, each in zip(known, causes, strict=True)]
    share = sum(map(bool, known)) / len(causes)
    if share >= MAIN_SHARE:
        return Pattern("mixed", share, known, comings.are_of_every_day())
    return Pattern("unknown", 1 - share, causes, comings.are_seldom())


def _is_held_up(evidence: Evidence, causes: list[list[Cause]]) -> bool:
    """Whether rebalances that waited for slow members took most of a storm's time, be they few or many."""
    held = [cause.wait for each in causes for cause in each if cause.wait is not None]
    if len(held) < 2:
        return False
    whole_ms = length_of_union(unstable_intervals(evidence.generations, evidence.next_at))
    return sum(wait.of_ms for wait in held) >= MAIN_SHARE * whole_ms


def _is_whole(name: str, fitting: list[list[Cause]], evidence: Evidence) -> bool:
    """Whether what fits a pattern has what makes it one; else it is at most a part of what goes on."""
    if name in _LOOPS:
        return _goes_round(evidence, fitting)
    return name != "scaling" or any(cause.kind is not Kind.RESTART for each in fitting for cause in each)


def _goes_round(evidence: Evidence, fitting: list[list[Cause]]) -> bool:
    """Whether something happened so often that it is no chance: twice may be, unless to a client that was just back."""
    stays = {id(c.stay): c.stay for each in fitting for c in each if c.stay is not None}
    is_often = max(len(stays), *_times(evidence, fitting).values(), 0) >= OFTEN
    return is_often or any(id(stay.before) in stays and _was_short(stay) for stay in stays.values())


def _was_short(stay: Stay) -> bool:
    return stay.joined_at is not None and stay.ended_at is not None and stay.ended_at - stay.joined_at <= _JUST_BACK_MS


def _tests(comings: _Comings) -> dict[str, Callable[[Cause], bool]]:
    """By pattern: whether a cause is part of it."""

    def test_of(kinds: tuple[Kind, ...]) -> Callable[[Cause], bool]:
        return lambda cause: comings.kind_of(cause) in kinds and not comings.is_rolled(cause)

    return {name: test_of(kinds) for name, kinds in _KINDS.items()} | {
        "rolling_restart": comings.is_rolled,
        "flapping_member": lambda cause: not comings.is_rolling and comings.is_flap(cause),
        "scaling": comings.is_scaled,
    }


class _Comings:
    """Who came back in a storm, how often, and in what order.

    A rolling restart takes one client after the other: at any time most of them are there, and none goes again before
    the others had their turn. Deaths can be part of it, by killing; but only once: again and again, they are crashes
    that go round, beside which there may be a restart of those that left in good order.

    Attributes:
        rounds: how many times the group was restarted.
        turns: how often the group's size went over from growing to shrinking, or back.
        is_rolling: returns are a rolling restart.
    """

    def __init__(self, evidence: Evidence, causes: list[list[Cause]], stays: Stays) -> None:
        self._each = causes
        self._all = in_all = [cause for each in causes for cause in each]
        members = max((row.member_count or 0 for row in evidence.generations), default=0)
        rounds = [Round(in_all, kinds, members, stays) for kinds in RETURNS]
        self._round = next((each for each in rounds if each.is_rolling()), rounds[0])
        self.is_rolling = self._round.is_rolling()
        self.rounds = self._round.times
        self._habits = {
            (cause.stay.origin.key, cause.stay.end_cause): cause.kind
            for cause in in_all
            if cause.stay is not None and cause.kind in (*_MISHAPS, Kind.RESTART, Kind.RETURN)
        }
        restarts = [[cause for cause in each if self.kind_of(cause) is Kind.RESTART] for each in causes]
        self._times = _times(evidence, restarts)
        self._away_together = away_together(cause for cause in in_all if cause.kind is Kind.RESTART)
        self.turns = _turns(filter(self.is_scaled, in_all))

    def is_rolled(self, cause: Cause) -> bool:
        """Whether a cause is part of a rolling restart."""
        return self.is_rolling and self._round.has(cause)

    def is_flap(self, cause: Cause) -> bool:
        """Whether a cause is the coming and going of a client that has made a habit of it."""
        is_restart = self.kind_of(cause) is Kind.RESTART
        return is_restart and cause.stay is not None and self._times[cause.stay.origin.key] >= OFTEN

    def is_scaled(self, cause: Cause) -> bool:
        """Whether a cause is part of a scaling: clients that come or go for good, or are away together."""
        if self.kind_of(cause) in (Kind.ARRIVAL, Kind.DEPARTURE):
            return True
        is_restart = cause.kind is Kind.RESTART and not self.is_rolling and not self.is_flap(cause)
        return is_restart and id(cause.stay) in self._away_together

    def are_of_every_day(self) -> bool:
        """Whether all was meant to happen, but for one mishap at most, and nothing was a habit."""
        mishaps = {id(c.stay) for c in self._all if c.kind in _MISHAPS or self._is_death(c)}
        is_known = all(cause.kind in (*_MEANT, *_MISHAPS) for cause in self._all)
        return is_known and len(mishaps) <= 1 and not any(map(self.is_flap, self._all))

    def are_seldom(self) -> bool:
        """Whether somebody came or went in each rebalance, but all together too seldom for a habit.

        Where two are known to have died, paused or been slow, it is not: that is more than falls together by chance.
        """
        goings = {id(c.stay): c for c in self._all if c.stay is not None and c.stay.ended_at is not None}
        mishaps = sum(cause.kind in _MISHAPS or self._is_death(cause) for cause in goings.values())
        is_of_somebody = all(any(cause.stay is not None for cause in each) for each in self._each)
        return is_of_somebody and len(goings) < OFTEN and mishaps <= 1

    @staticmethod
    def _is_death(cause: Cause) -> bool:
        return cause.kind is Kind.DEPARTURE and cause.stay is not None and cause.stay.end_cause == "session_expired"

    def kind_of(self, cause: Cause) -> Kind:
        """Return what a cause is part of: a last going, for good, is part of the goings before."""
        if cause.kind is not Kind.DEPARTURE or cause.stay is None:
            return cause.kind
        return self._habits.get((cause.stay.origin.key, cause.stay.end_cause), cause.kind)


def _times(evidence: Evidence, causes: list[list[Cause]]) -> Counter[Key]:
    """Return by client how often it went, or how often it came; at the founding of a group everybody comes."""
    went: dict[int, Stay] = {}
    came: dict[int, Stay] = {}
    for row, each in zip(evidence.generations, causes, strict=True):
        for cause in each:
            if cause.stay is None:
                continue
            went[id(cause.stay)] = cause.stay
            if cause.stay.after is not None:
                came[id(cause.stay.after)] = cause.stay.after
            if cause.trigger == "member_joined" and row.generation > FIRST:
                came[id(cause.stay)] = cause.stay
    return Counter(stay.origin.key for stay in went.values()) | Counter(stay.origin.key for stay in came.values())


def _turns(causes: Iterable[Cause]) -> int:
    """Return how often those that come were followed by some that go, or the other way round."""
    steps: set[tuple[float, int]] = set()
    for cause in causes:
        stay = cause.stay
        if stay is None:
            continue
        if cause.kind is Kind.ARRIVAL and stay.joined_at is not None:
            steps.add((stay.joined_at, 1))
        if cause.kind is not Kind.ARRIVAL and stay.ended_at is not None:
            steps.add((stay.ended_at, -1))
        if stay.after is not None and stay.after.joined_at is not None:
            steps.add((stay.after.joined_at, 1))
    directions = [step for _, step in sorted(steps)]
    return sum(earlier != later for earlier, later in zip(directions, directions[1:], strict=False))


def clients_of(pattern: Pattern) -> list[list[Client]]:
    """Return the clients behind each rebalance, as far as its causes fit the pattern and they have a name."""
    return [
        list({c.client.key: c.client for c in each if c.client is not None and c.client.client_id is not None}.values())
        for each in pattern.fitting
    ]
