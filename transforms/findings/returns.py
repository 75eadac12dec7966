"""Which stay of a member is the return of which: whoever came back after it had gone."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from transforms.findings.clients import Key
from transforms.findings.stay import Stay


def tie_returns(in_order: Sequence[Stay], session_ms: int) -> None:
    """Tie each stay to the latest one of its client that had ended by then, or whose client must have been dead.

    A client that is seen the first time stands in for one of its kind: for none that came back itself.

    Args:
        in_order: stays, in the order in which they began.
        session_ms: for how long a client may have been silent when its session runs out.
    """
    gone = _gone_by_client(in_order, session_ms)
    first: dict[Key, Stay] = {}
    for stay in in_order:
        if stay.joined_at is not None:
            first.setdefault(stay.client.own, stay)
            _tie(stay, stay.joined_at, gone.get(stay.client.own))
    for stay in first.values():
        for kind in stay.client.kinds:
            if stay.joined_at is not None and stay.before is None:
                _tie(stay, stay.joined_at, gone.get(kind))
    for stay in in_order:
        if stay.before is not None:  # which began earlier
            stay.origin = stay.before.origin


def _gone_by_client(stays: Iterable[Stay], session_ms: int) -> dict[Key, _Gone]:
    """Return the stays that have ended, by their client and by what it has in common with others of its kind."""
    ended: dict[Key, list[Stay]] = defaultdict(list)
    for stay in stays:
        if stay.ended_at is not None and stay.end_cause not in (None, "group_ended"):
            for key in (stay.client.own, *stay.client.kinds):
                ended[key].append(stay)
    return {key: _Gone(of_key, session_ms) for key, of_key in ended.items()}


def _tie(stay: Stay, joined_at: float, gone: _Gone | None) -> None:
    before = None if gone is None else gone.last_before(joined_at)
    if before is not None:
        stay.before, before.after = before, stay


class _Gone:
    """Stays of one client, or of those of its kind, to each of which one stay returns; asked in order of time.

    Args:
        ended: the stays; each has ended.
        session_ms: for how long a client may have been silent when its session runs out.
    """

    def __init__(self, ended: Sequence[Stay], session_ms: int) -> None:
        moments = [(_gone_at(stay, session_ms), place) for place, stay in enumerate(ended)]
        self._ended, self._coming = ended, deque(sorted(moments))
        self._gone: list[tuple[float, int]] = []

    def last_before(self, moment: float) -> Stay | None:
        """Return the stay that ended last of those that began and were over by a moment, and nobody returned to yet."""
        while self._coming and self._coming[0][0] <= moment:
            place = self._coming.popleft()[1]
            heappush(self._gone, (-(self._ended[place].ended_at or 0.0), place))
        found, too_young = None, []
        while self._gone and found is None:
            latest = heappop(self._gone)
            stay = self._ended[latest[1]]
            if stay.joined_at is not None and stay.joined_at >= moment:
                too_young.append(latest)
            elif stay.after is None:
                found = stay
        for latest in too_young:
            heappush(self._gone, latest)
        return found


def _gone_at(stay: Stay, session_ms: int) -> float:
    """When a stay was over, or its client had fallen silent: the coordinator notices that a session later."""
    return (stay.ended_at or 0.0) - (session_ms if stay.end_cause == "session_expired" else 0)
