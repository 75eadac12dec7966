"""Plans of starts, stops, deaths, pauses and busy poll loops, drawn from a seed, and what is changed in each pair.

A pair is one plan that two groups live through: one with the settings as they are, one with the change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

END_S = 60.0
"""At the end of the plan all that are still there go; what happens from then on does not count."""

Span = tuple[float, float]


@dataclass(frozen=True)
class PlannedLife:
    """One life of a member, s from the plan's begin; `is_crash`: it ends without a word."""

    client: str
    begin: float
    end: float
    is_crash: bool = False
    stalls: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Lives, and pauses by client: its process is stopped, and goes on."""

    lives: tuple[PlannedLife, ...]
    pauses: dict[str, tuple[Span, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rules:
    """Settings of the members of a group; times in ms. `initial_delay_ms` is the broker's."""

    session_ms: int
    strategy: str = "range"
    poll_ms: int = 300_000
    is_static: bool = False
    initial_delay_ms: int | None = None


@dataclass(frozen=True)
class Pair:
    """A plan with rules and with changed rules; `asked` is the change as it is asked about."""

    name: str
    plan: Plan
    before: Rules
    after: Rules
    asked: tuple[str, ...]
    heartbeat_ms: int


def _steady(random: Random, names: str, count: int) -> list[PlannedLife]:
    return [PlannedLife(f"{names}{index}", random.uniform(0.1, 1.5), END_S) for index in range(count)]


def _rolling(random: Random, is_crash: bool) -> Plan:
    lives = []
    for life in _steady(random, "r", 4):
        stop = 11.0 + 9.5 * int(life.client[1:]) + random.uniform(0.0, 2.0)
        lives.append(replace(life, end=stop, is_crash=is_crash))
        lives.append(PlannedLife(life.client, stop + random.uniform(2.0, 4.0), END_S))
    return Plan(tuple(lives))


def _flapping(random: Random) -> Plan:
    lives = _steady(random, "f", 2)
    at = random.uniform(3.0, 5.0)
    while at < END_S - 8.0:
        end = at + random.uniform(5.0, 8.0)
        lives.append(PlannedLife("f2", at, end, is_crash=random.random() < 0.5))
        at = end + random.uniform(2.0, 3.5)
    return Plan(tuple(lives))


def _dying(random: Random) -> Plan:
    lives = _steady(random, "d", 5)
    lives[1] = replace(lives[1], end=random.uniform(14.0, 20.0), is_crash=True)
    lives[3] = replace(lives[3], end=random.uniform(30.0, 38.0), is_crash=True)
    return Plan(tuple(lives))


def _pausing(random: Random) -> Plan:
    def pause(about: float) -> Span:
        begin = about + random.uniform(-1.5, 1.5)
        return begin, begin + random.uniform(5.0, 6.8)

    return Plan(tuple(_steady(random, "p", 3)), {"p1": (pause(13.0), pause(29.0), pause(46.0)), "p2": (pause(21.0),)})


def _mixed(random: Random) -> Plan:
    lives = _steady(random, "m", 4)
    for index, is_crash in ((0, False), (1, True)):
        stop = random.uniform(10.0, 14.0) + 22.0 * index
        lives[index] = replace(lives[index], end=stop, is_crash=is_crash)
        lives.append(PlannedLife(f"m{index}", stop + random.uniform(2.0, 3.5), END_S))
    begin = random.uniform(22.0, 26.0)
    return Plan(tuple(lives), {"m2": ((begin, begin + random.uniform(5.5, 7.0)),)})


def _scaling(random: Random) -> Plan:
    comes, goes = 0.2, END_S - 2.0
    lives = [PlannedLife("s0", comes, END_S)]
    for index in range(1, 5):
        comes += random.uniform(3.5, 5.5)
        goes -= random.uniform(2.5, 4.5)
        lives.append(PlannedLife(f"s{index}", comes, goes))
    return Plan(tuple(lives))


def _slow(random: Random) -> Plan:
    lives = _steady(random, "w", 3)
    for index, starts in ((1, (12.0, 34.0)), (2, (22.0, 46.0))):
        begins = [start + random.uniform(-1.0, 1.0) for start in starts]
        lives[index] = replace(lives[index], stalls=tuple((at, at + random.uniform(6.0, 8.0)) for at in begins))
    return Plan(tuple(lives))


def _again(random: Random) -> Plan:
    lives = []
    for begin, end in ((0.2, 16.0), (20.0, 36.0), (40.0, END_S)):
        lives += [PlannedLife(f"a{index}", begin + random.uniform(0.0, 2.5), end) for index in range(5)]
    return Plan(tuple(lives))


_PAIRS: dict[str, tuple[Callable[[Random], Plan], Rules, Rules, tuple[str, ...]]] = {
    "crashes-static": (
        lambda random: _rolling(random, is_crash=True),
        Rules(6_000),
        Rules(20_000, is_static=True),
        ("session.timeout.ms=20000", "--static"),
    ),
    "restarts-static": (
        lambda random: _rolling(random, is_crash=False),
        Rules(6_000),
        Rules(6_000, is_static=True),
        ("--static",),
    ),
    "flapping-static": (
        _flapping,
        Rules(7_000),
        Rules(15_000, is_static=True),
        ("session.timeout.ms=15000", "--static"),
    ),
    "pauses-longer": (_pausing, Rules(3_000), Rules(10_000), ("session.timeout.ms=10000",)),
    "pauses-shorter": (_pausing, Rules(12_000), Rules(3_500), ("session.timeout.ms=3500",)),
    "mixed-longer": (_mixed, Rules(4_000), Rules(12_000), ("session.timeout.ms=12000",)),
    "deaths-longer": (_dying, Rules(3_000), Rules(9_000), ("session.timeout.ms=9000",)),
    "scaling-cooperative": (
        _scaling,
        Rules(6_000),
        Rules(6_000, "cooperative-sticky"),
        ("partition.assignment.strategy=cooperative-sticky",),
    ),
    "flapping-cooperative": (
        _flapping,
        Rules(6_000, "roundrobin"),
        Rules(6_000, "cooperative-sticky"),
        ("partition.assignment.strategy=cooperative-sticky",),
    ),
    "restarts-sticky": (
        lambda random: _rolling(random, is_crash=False),
        Rules(6_000, "roundrobin"),
        Rules(6_000, "sticky"),
        ("partition.assignment.strategy=sticky",),
    ),
    "polls-longer": (
        _slow,
        Rules(6_000, poll_ms=4_000),
        Rules(6_000, poll_ms=15_000),
        ("max.poll.interval.ms=15000",),
    ),
    "together-delayed": (
        _again,
        Rules(6_000),
        Rules(6_000, initial_delay_ms=3_500),
        ("group.initial.rebalance.delay.ms=3500",),
    ),
}


def pairs(seed: int) -> list[Pair]:
    """Draw the plans of all pairs."""
    drawn = []
    for name, (plan, before, after, asked) in _PAIRS.items():
        random = Random(f"{seed}/{name}")
        drawn.append(Pair(name, plan(random), before, after, asked, random.choice((400, 600, 800))))
    return drawn
