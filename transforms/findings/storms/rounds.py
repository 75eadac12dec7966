"""Rolling restarts: returns of clients in rounds, in each of which every client goes once, one after the other.

Nobody tells that a restart was meant. What shows it is that everybody had a turn, or so many, and nobody a second one,
that it is no chance. Where it is known how they went, three clients will do; by records alone a member that lost its
session to a coordinator that moved looks as if it had been restarted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod

from transforms.findings.stay import OFTEN, Stay
from transforms.findings.stays import Stays
from transforms.findings.storms.causes import Cause
from transforms.findings.storms.kinds import Kind

_DEATHS = (Kind.CRASH, Kind.SILENT)

RETURNS = ((Kind.RESTART, *_DEATHS, Kind.RETURN), (Kind.RESTART,))
"""What a rolling restart may be made of: what covers most first."""

_ROLLED_SHARE = 2 / 3
"""From this share of the returns on they are a rolling restart; the others are what happens beside it."""


_CHANCE = 0.1
"""Up to this likelihood it is no chance that nobody went twice."""


class Round:
    """Returns of some kinds, in rounds: in one of them each client goes once.

    What happened to a single client just before or after the others had their turn, or meanwhile, is no round, and
    spoils none.

    Args:
        causes: of the storm.
        kinds: what rounds may be made of.
        members: the most that the group had.
        stays: of all its members.
    """

    def __init__(self, causes: Iterable[Cause], kinds: tuple[Kind, ...], members: int, stays: Stays) -> None:
        self._kinds, self._stays = kinds, stays
        gone = {id(c.stay): c for c in causes if self._is_return(c)}
        self._returned = _in_order(gone.values())
        self._least = max(2, members / 2)
        self._rounds = max(map(self._whole, (self._returned, self._returned[::-1])), key=lambda way: sum(map(len, way)))
        if not self.is_rolling() and all(cause.kind is Kind.RESTART for cause in self._returned):
            self._rounds = self._whole(_without_those_beside(self._returned))
        self._rolled = {id(cause.stay) for each in self._rounds for cause in each}

    @property
    def times(self) -> int:
        """How often most of those that took part in rounds went."""
        return _most_times(_who(cause) for each in self._rounds for cause in each)

    def _is_return(self, cause: Cause) -> bool:
        """Whether a cause is the return of a client that had gone, or its going."""
        return cause.kind in self._kinds and cause.stay is not None and cause.stay.after is not None

    def _whole(self, returned: Iterable[Cause]) -> list[list[Cause]]:
        """The rounds that most of the group took part in."""
        return [each for each in _rounds(returned) if len(each) >= self._least]

    def has(self, cause: Cause) -> bool:
        """Whether a cause is part of one of the rounds."""
        return self._is_return(cause) and id(cause.stay) in self._rolled

    def is_rolling(self) -> bool:
        """Whether most of the returns are one rolling restart, or several."""
        rolled = [cause for each in self._rounds for cause in each]
        crashes = sum(cause.kind in _DEATHS for cause in rolled)
        most_away = max(map(len, self._rounds), default=0) // 2
        return (
            bool(rolled)
            and len(rolled) >= _ROLLED_SHARE * len(self._returned)
            and 2 * crashes != len(rolled)  # who went by half died and half left: not by one deed
            and not (crashes and self.times > 1)
            and _away_at_once(cause.stay for cause in rolled) <= max(1, most_away)
            and self._is_of_all(rolled)
        )

    def _is_of_all(self, rolled: Sequence[Cause]) -> bool:
        """Whether everybody had a turn, or so many that it is no chance."""
        who, stayed = set(map(_who, rolled)), self._stayed(rolled)
        if not stayed or (len(who) >= OFTEN and all(cause.kind is not Kind.RETURN for cause in rolled)):
            return True
        among = len(who) + stayed
        return prod((among - number) / among for number in range(len(who))) <= _CHANCE

    def _stayed(self, rolled: Sequence[Cause]) -> int:
        """How many clients were there before the first one went, and until all were back."""
        first, last = min(_ended_at(c.stay) for c in rolled), max(_back_at(c.stay) for c in rolled)
        went = set(map(_who, rolled))
        there = {
            stay.origin.key
            for stay in self._stays
            if (stay.joined_at is None or stay.joined_at < first)
            and (stay.end_cause is None or (stay.ended_at is not None and stay.ended_at > last))
        }
        return len(there - went)


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


def _in_order(gone: Iterable[Cause]) -> list[Cause]:
    """Return goings in order; of those in one moment first whoever went less often by then."""
    times = Counter[object]()
    dated: list[tuple[float, int, Cause]] = []
    for cause in sorted(gone, key=lambda cause: _ended_at(cause.stay)):
        dated.append((_ended_at(cause.stay), times[_who(cause)], cause))
        times[_who(cause)] += 1
    return [cause for _, _, cause in sorted(dated, key=lambda entry: entry[:2])]


def _without_those_beside(returned: Sequence[Cause]) -> list[Cause]:
    """Leave out what is more than the others' share of those who went more often: what fell in another's time first."""
    extra = Counter(map(_who, returned))
    extra.subtract(dict.fromkeys(extra, _most_times(map(_who, returned))))
    beside, alone = away_together(returned), list[Cause]()
    for cause in returned:
        if extra[_who(cause)] > 0 and id(cause.stay) in beside:
            extra[_who(cause)] -= 1
        else:
            alone.append(cause)
    return alone


def away_together(returned: Iterable[Cause]) -> set[int]:
    """Return the ids of the stays after which a client was away while another was."""
    together: set[int] = set()
    last: Stay | None = None
    for stay in sorted({id(c.stay): c.stay for c in returned if c.stay is not None}.values(), key=_ended_at):
        if last is not None and _ended_at(stay) < _back_at(last):
            together |= {id(last), id(stay)}
        if last is None or _back_at(stay) > _back_at(last):
            last = stay
    return together


def _ended_at(stay: Stay | None) -> float:
    return 0.0 if stay is None or stay.ended_at is None else stay.ended_at


def _back_at(stay: Stay | None) -> float:
    return _ended_at(stay) + (0.0 if stay is None else stay.away_ms or 0.0)


def _away_at_once(stays: Iterable[Stay | None]) -> int:
    """The most clients that were away at one time.

    Those that went and were back in one moment were away together with all others that went in it: records have one
    moment for all that a rebalance saw. Who had gone before, and came back in it, was not.
    """
    steps: list[tuple[float, int, int]] = []
    for stay in stays:
        if stay is not None and stay.ended_at is not None and stay.away_ms is not None:
            steps += [(stay.ended_at, 1, 1), (_back_at(stay), 2 if stay.away_ms == 0 else 0, -1)]
    most = now = 0
    for _, _, step in sorted(steps):
        now += step
        most = max(most, now)
    return most
