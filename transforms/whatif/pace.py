"""The pace of a group's clients: how soon each of them notices a rebalance, joins again, syncs.

A client notices a rebalance by the answer to its next heartbeat, so the time between two heartbeats is most of what a
rebalance takes. A request log shows all of it; without one it is drawn from how long the group's rebalances took.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from random import Random
from statistics import fmean, pstdev

from msgspec import Struct, field

from schemas.client_defaults import HEARTBEAT_INTERVAL_MS
from schemas.rows import GenerationRow
from transforms.coordinator.kafka.answers import Error
from transforms.whatif.evidence import Asked, Evidence
from transforms.whatif.figures import owner_of
from transforms.whatif.stays import by_member

QUICK_MS = 5.0
"""What a step takes that a client does at once, where nothing shows it."""

_FEW = 4
"""Fewer times than that, taken when a client had just been started, are not what it usually takes."""

_MOST_BEATS = 10.0
"""Heartbeats further apart than this many usual ones are a silence, not a beat."""


class Pace(Struct):
    """One client's; times in ms, of which one is drawn each time.

    Attributes:
        beats: from heartbeat to heartbeat; several where they vary.
        rejoins: from a heartbeat that tells of a rebalance to JoinGroup.
        handshakes: from the answer that gives a member id to JoinGroup with it.
        syncs: from JoinGroup's answer to SyncGroup.
        stores: from the leader's SyncGroup to the stored assignment.
        usual: between two heartbeats.
        spread: of them, by standard deviation, against the usual.
    """

    beats: list[float] = field(default_factory=list)
    rejoins: list[float] = field(default_factory=list)
    handshakes: list[float] = field(default_factory=list)
    syncs: list[float] = field(default_factory=list)
    stores: list[float] = field(default_factory=list)
    usual: float = 0.0
    spread: float = 0.0

    def next_beat(self, since: float, after: float, random: Random) -> float:
        """Return when a client that has been heartbeating since a moment sends its first heartbeat after another one.

        Clients that were told of their assignments together go on in step, and drift apart as their beats vary.
        """
        if after <= since:
            return since + random.choice(self.beats)
        return after + (1.0 - self._share(since, after, random)) * random.choice(self.beats)

    def last_beat(self, since: float, before: float, random: Random) -> float:
        """Return when such a client sent its last heartbeat before a moment."""
        return max(since, before - self._share(since, before, random) * random.choice(self.beats))

    def _share(self, since: float, at: float, random: Random) -> float:
        """Return how much of the time between two heartbeats is over at a moment, if they began at another one."""
        beats = (at - since) / self.usual
        drift = random.gauss(0.0, self.spread * (beats + 1.0) ** 0.5)
        return (beats + drift) % 1.0


class Paces(Struct):
    """Those of a group: by owner, and for clients of which too little is seen."""

    common: Pace
    own: Mapping[str, Pace]

    def of(self, owner: str) -> Pace:
        """Return the pace of a client."""
        return self.own.get(owner, self.common)


def paces_of(evidence: Evidence) -> Paces:
    """Measure the pace of a group's clients, as far as requests show it."""
    own: dict[str, Pace] = {}
    common = Pace()
    for asked in by_member(evidence.requests).values():
        first = asked[0]
        owner = owner_of(first.group_instance_id, first.client_id, first.client_host)
        for pace in (own.setdefault(owner, Pace()), common):
            _measure(pace, asked)
    _complete(common, _assumed(evidence))
    for pace in own.values():
        _complete(pace, common)
    return Paces(common, own)


def _assumed(evidence: Evidence) -> Pace:
    """Return what is taken where no request shows it."""
    stores = [
        max(QUICK_MS, row.stable_at - row.completing_at)
        for row in evidence.generations
        if row.stable_at is not None and row.completing_at is not None
    ]
    return Pace([assumed_heartbeat(evidence)], [QUICK_MS], [QUICK_MS], [QUICK_MS], stores or [QUICK_MS])


def assumed_heartbeat(evidence: Evidence) -> float:
    """Guess the time between two heartbeats: the longest that a rebalance took which waited for nobody who was gone."""
    expired = sorted(row.ended_at for row in evidence.sessions if row.end_cause in _WAITED_FOR and row.ended_at)
    took = [
        float(row.rebalance_ms)
        for row, before in zip(evidence.generations[1:], evidence.generations, strict=False)
        if row.rebalance_ms and before.outcome == row.outcome == "stable" and not _any_within(expired, row)
    ]
    return min(max(took), HEARTBEAT_INTERVAL_MS) if took else HEARTBEAT_INTERVAL_MS


_WAITED_FOR = frozenset({"session_expired", "rebalance_timeout", "sync_timeout"})


def _any_within(moments: list[float], row: GenerationRow) -> bool:
    """Whether a sorted moment lies within a generation's rebalance, but not where it begins."""
    begins, ends = row.preparing_at, row.stable_at
    if begins is None or ends is None:
        return True
    after = bisect_right(moments, begins + QUICK_MS)
    return after < len(moments) and moments[after] <= ends


def _complete(pace: Pace, other: Pace) -> None:
    """Take from another pace what is not known of one, and sum up."""
    pace.beats = pace.beats or other.beats
    for name in ("rejoins", "handshakes", "syncs", "stores"):
        seen = getattr(pace, name) or getattr(other, name)
        setattr(pace, name, [*seen, *[QUICK_MS] * (_FEW - len(seen))])
    pace.usual = fmean(pace.beats)
    pace.spread = pstdev(pace.beats) / pace.usual


def _measure(pace: Pace, asked: Iterable[Asked]) -> None:
    """Add what one member id's requests show."""
    heard: Asked | None = None
    joined: Asked | None = None
    beats: list[float] = []
    for each in asked:
        if each.api == "Heartbeat":
            if heard is not None and heard.api == "Heartbeat" and heard.error_code == each.error_code == Error.NONE:
                beats.append(each.at - heard.at)
            heard = each
        elif each.api == "JoinGroup":
            if heard is not None and heard.error_code == Error.REBALANCE_IN_PROGRESS:
                pace.rejoins.append(each.at - heard.answered_at)
            if joined is not None and joined.error_code == Error.MEMBER_ID_REQUIRED:
                pace.handshakes.append(each.at - joined.answered_at)
            heard, joined = None, each
        elif each.api == "SyncGroup" and joined is not None:
            pace.syncs.append(each.at - joined.answered_at)
            if each.error_code == Error.NONE and joined.answered_leader == each.member_id:
                pace.stores.append(each.answered_at - each.at)
            heard, joined = each, None
    usual = sorted(beats)[len(beats) // 2] if beats else 0.0
    pace.beats += [beat for beat in beats if beat < _MOST_BEATS * usual]
