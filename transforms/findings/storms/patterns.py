"""What goes on in a storm: the one story that most of its rebalances are part of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from schemas.words import STORM_PATTERNS
from transforms.findings.clients import Client
from transforms.findings.evidence import Evidence
from transforms.findings.stays import Stay
from transforms.findings.storms.causes import Cause
from transforms.findings.storms.costs import length_of_union, unstable_intervals
from transforms.findings.storms.kinds import Kind

MAIN_SHARE = 0.5
"""From this share of the rebalances on a pattern is the storm's."""

_KINDS = {
    "crash_loop": (Kind.CRASH,),
    "lost_session": (Kind.LOST,),
    "slow_poll_loop": (Kind.SLOW,),
    "fencing_war": (Kind.FENCED,),
    "subscription_conflict": (Kind.SUBSCRIPTION,),
    "metadata_refresh": (Kind.METADATA,),
    "coordinator_trouble": (Kind.COORDINATOR,),
    "slow_revoker": (Kind.REVOKER,),
}
"""Patterns that are told by the kinds of causes alone; the others depend on who comes and goes, and how often."""

_ROLLED_SHARE = 2 / 3
"""From this share of the returns on they are a rolling restart; the others are what happens beside it."""

_LOOPS = ("crash_loop", "lost_session", "slow_poll_loop", "flapping_member")
"""Patterns of what happens again and again: what happened once is none of them."""

_HELD_UP = "slow_revoker"

HARMLESS = ("rolling_restart", "scaling")
"""Patterns that somebody meant to happen; they harm only if they go on and on."""


@dataclass(frozen=True)
class Pattern:
    """What goes on.

    Attributes:
        name: one of `schemas.words.STORM_PATTERNS`.
        share: part of the rebalances that fit it.
        fitting: for each rebalance the causes of it that fit.
        is_repeated: a restart or a scaling that was done more than once.
    """

    name: str
    share: float
    fitting: list[list[Cause]]
    is_repeated: bool = False


def pattern_of(evidence: Evidence, causes: list[list[Cause]]) -> Pattern:
    """Find the pattern of a storm."""
    comings = _Comings(evidence, causes)
    fitting = {name: [[c for c in each if fits(c)] for each in causes] for name, fits in _tests(comings).items()}
    counts = {name: sum(map(bool, each)) for name, each in fitting.items() if _is_whole(name, each)}
    main = max(counts, key=lambda name: (counts[name], -STORM_PATTERNS.index(name)))
    is_held_up = _is_held_up(evidence, causes)
    if counts[main] >= MAIN_SHARE * len(causes) and not (is_held_up and main in HARMLESS):
        is_repeated = (main == "rolling_restart" and comings.rounds > 1) or (main == "scaling" and comings.turns > 1)
        return Pattern(main, counts[main] / len(causes), fitting[main], is_repeated)
    if is_held_up:
        return Pattern(_HELD_UP, counts[_HELD_UP] / len(causes), fitting[_HELD_UP])
    known = [[c for name in fitting for c in fitting[name][number]] for number in range(len(causes))]
    share = sum(map(bool, known)) / len(causes)
    if share >= MAIN_SHARE:
        return Pattern("mixed", share, known)
    return Pattern("unknown", 1 - share, causes)


def _is_held_up(evidence: Evidence, causes: list[list[Cause]]) -> bool:
    """Whether rebalances that waited for slow members took most of a storm's time, be they few or many."""
    held = [cause.wait for each in causes for cause in each if cause.wait is not None]
    whole_ms = length_of_union(unstable_intervals(evidence.generations, evidence.next_at))
    return len(held) > 1 and sum(wait.of_ms for wait in held) >= MAIN_SHARE * whole_ms


def _is_whole(name: str, fitting: list[list[Cause]]) -> bool:
    """Whether what fits a pattern has what makes it one; else it is at most a part of what goes on."""
    if name in _LOOPS:
        return _goes_round(fitting)
    return name != "scaling" or any(cause.kind is not Kind.RESTART for each in fitting for cause in each)


def _goes_round(fitting: list[list[Cause]]) -> bool:
    return len({id(cause.stay) for each in fitting for cause in each}) > 1


def _tests(comings: _Comings) -> dict[str, Callable[[Cause], bool]]:
    """By pattern: whether a cause is part of it."""

    def test_of(kinds: tuple[Kind, ...]) -> Callable[[Cause], bool]:
        return lambda cause: comings.kind_of(cause) in kinds and not comings.is_rolled(cause)

    return {name: test_of(kinds) for name, kinds in _KINDS.items()} | {
        "rolling_restart": comings.is_rolled,
        "flapping_member": lambda cause: not comings.is_rolling and comings.is_flap(cause),
        "scaling": lambda cause: (
            comings.kind_of(cause) in (Kind.ARRIVAL, Kind.DEPARTURE)
            or (not comings.is_rolling and cause.kind is Kind.RESTART and not comings.is_flap(cause))
        ),
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

    def __init__(self, evidence: Evidence, causes: list[list[Cause]]) -> None:
        in_all = [cause for each in causes for cause in each]
        members = max((row.member_count or 0 for row in evidence.generations), default=0)
        rounds = [_Round(in_all, kinds, members) for kinds in _RETURNS]
        self._round = next((each for each in rounds if each.is_rolling()), rounds[0])
        self.is_rolling = self._round.is_rolling()
        self.rounds = self._round.times
        self.turns = _turns(in_all)
        self._returns = rounds[-1].count_of
        self._habits = {
            (cause.stay.origin.key, cause.stay.end_cause): cause.kind
            for cause in in_all
            if cause.stay is not None and cause.kind in (Kind.CRASH, Kind.LOST, Kind.SLOW, Kind.RESTART, Kind.RETURN)
        }

    def is_rolled(self, cause: Cause) -> bool:
        """Whether a cause is part of a rolling restart."""
        return self.is_rolling and self._round.has(cause)

    def is_flap(self, cause: Cause) -> bool:
        """Whether a cause is the coming and going of a client that did it more than once."""
        return self.kind_of(cause) is Kind.RESTART and cause.stay is not None and self._returns(cause.stay) > 1

    def kind_of(self, cause: Cause) -> Kind:
        """Return what a cause is part of: a last going, for good, is part of the goings before."""
        if cause.kind is not Kind.DEPARTURE or cause.stay is None:
            return cause.kind
        return self._habits.get((cause.stay.origin.key, cause.stay.end_cause), cause.kind)


_RETURNS = ((Kind.RESTART, Kind.CRASH, Kind.RETURN), (Kind.RESTART,))
"""What a rolling restart may be made of: what covers most first."""


class _Round:
    """Returns of some kinds, in rounds: in one of them each client goes once.

    What happened to a single client just before or after the others had their turn is no round, and spoils none.

    Attributes:
        times: how often most of those that took part in rounds went.
    """

    def __init__(self, causes: Iterable[Cause], kinds: tuple[Kind, ...], members: int) -> None:
        self._kinds = kinds
        gone = {id(c.stay): c for c in causes if self._is_return(c)}
        self._returned = sorted(gone.values(), key=lambda cause: _ended_at(cause.stay))
        self._times = Counter(_who(cause) for cause in self._returned)
        least = max(2, members / 2)
        ways = (_rounds(self._returned), _rounds(self._returned[::-1]))
        self._rounds = max(
            ([each for each in way if len(each) >= least] for way in ways), key=lambda way: sum(map(len, way))
        )
        self.times = _most_times(_who(cause) for each in self._rounds for cause in each)
        self._rolled = {id(cause.stay) for each in self._rounds for cause in each}

    def _is_return(self, cause: Cause) -> bool:
        """Whether a cause is the return of a client that had gone, or its going."""
        return cause.kind in self._kinds and cause.stay is not None and cause.stay.after is not None

    def has(self, cause: Cause) -> bool:
        """Whether a cause is part of one of the rounds."""
        return self._is_return(cause) and id(cause.stay) in self._rolled

    def count_of(self, stay: Stay) -> int:
        """Return how often the client of a stay went and came back."""
        return self._times[stay.origin.key]

    def is_rolling(self) -> bool:
        """Whether most of the returns are one rolling restart, or several."""
        rolled = [cause for cause in self._returned if id(cause.stay) in self._rolled]
        crashes = [cause for cause in rolled if cause.kind is Kind.CRASH]
        most_away = max((len(each) for each in self._rounds), default=0) // 2
        return (
            bool(rolled)
            and len(rolled) >= _ROLLED_SHARE * len(self._returned)
            and not (crashes and self.times > 1)
            and _away_at_once(cause.stay for cause in rolled) <= max(1, most_away)
        )


def _who(cause: Cause) -> object:
    return None if cause.stay is None else cause.stay.origin.key


def _most_times(names: Iterable[object]) -> int:
    """Return how often at least half of some names are there."""
    counts = sorted(Counter(names).values(), reverse=True)
    return counts[(len(counts) - 1) // 2] if counts else 0


def _rounds(returned: Iterable[Cause]) -> list[list[Cause]]:
    """Part returns into rounds: another one begins when a client goes again."""
    rounds: list[list[Cause]] = []
    seen: set[object] = set()
    for cause in returned:
        if not rounds or _who(cause) in seen:
            rounds.append([])
            seen.clear()
        rounds[-1].append(cause)
        seen.add(_who(cause))
    return rounds


def _ended_at(stay: Stay | None) -> float:
    return 0.0 if stay is None or stay.ended_at is None else stay.ended_at


def _away_at_once(stays: Iterable[Stay | None]) -> int:
    """The most clients that were away at one time."""
    steps: list[tuple[float, int]] = []
    for stay in stays:
        if stay is not None and stay.ended_at is not None and stay.away_ms:
            steps += [(stay.ended_at, 1), (stay.ended_at + stay.away_ms, -1)]
    most = now = 0
    for _, step in sorted(steps):
        now += step
        most = max(most, now)
    return most


def _turns(causes: Iterable[Cause]) -> int:
    steps: list[tuple[float, int]] = []
    for stay in {id(c.stay): c.stay for c in causes if c.stay is not None}.values():
        if stay.joined_at is not None and stay.before is None:
            steps.append((stay.joined_at, 1))
        if stay.ended_at is not None:
            steps.append((stay.ended_at, -1))
        if stay.after is not None and stay.after.joined_at is not None:
            steps.append((stay.after.joined_at, 1))
    directions = [step for _, step in sorted(steps)]
    return sum(earlier != later for earlier, later in zip(directions, directions[1:], strict=False))


def clients_of(pattern: Pattern) -> list[list[Client]]:
    """Return the clients behind each rebalance, as far as its causes fit the pattern and they have a name."""
    return [
        list({c.client.key: c.client for c in each if c.client is not None and c.client.client_id is not None}.values())
        for each in pattern.fitting
    ]
