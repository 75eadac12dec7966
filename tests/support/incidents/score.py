"""Counts what was planted, what was found, and what was found that nobody planted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from schemas.words import FENCING_ERRORS
from tests.support.incidents.play import DEPTHS, GAP_MS, MIN_ERRORS, Found, find, play
from tests.support.incidents.service import Group
from tests.unit.findings.oracle import runs, storm_intervals
from transforms.findings.storms.limits import StormLimits

BURSTS = ("fencing_war", "zombie")
"""Kinds that make refusals and no rebalances."""

DONE = {"rolling_restart": "deploy", "scaling": "one more"}
"""Patterns that are true of a calm group to which this was done."""

EITHER = {"crash_or_pause": ("crash_loop", "lost_session")}
"""Patterns that say which of some kinds it was, where the evidence does not decide."""

ACCUSES_NOBODY = ("mixed", "unknown")
"""Patterns that name no incident: that rebalances fell together, or that the data does not say why they were."""

_LIMITS = StormLimits()


@dataclass(frozen=True)
class Case:
    """One group that was played, and what was found in it.

    Attributes:
        kind: what was planted, or "calm".
        number: of the group, among those of its kind.
        acts: ordinary things that were done to it.
        culprits: client ids of those behind it.
        is_large: its brokers rebalanced, or refused, as often as the default settings ask for.
        found: by depth of evidence.
    """

    kind: str
    number: int
    acts: tuple[str, ...]
    culprits: frozenset[str]
    is_large: bool
    found: dict[str, Found]

    def is_right(self, name: str) -> bool:
        """Whether a pattern or cause is what was done to the group."""
        return name == self.kind or (name in DONE and DONE[name] in self.acts)

    def alarms(self, depth: str) -> list[str]:
        """Return what is said of a group that wants somebody to act: storms that are more than info, and bursts."""
        found = self.found[depth]
        return [*(name for name, severity, _ in found.storms if severity != "info"), *found.causes]

    def is_false(self, name: str, severity: str) -> bool:
        """Whether a storm of a calm group should not have been told so.

        As often as the settings ask for, rebalances are a storm by definition, whatever made them. Wrong is a storm
        that there was not, one that wants somebody to act, and one called an incident which did not happen.
        """
        is_named_rightly = self.is_right(name) or name in ACCUSES_NOBODY
        return not self.is_large or severity != "info" or not is_named_rightly

    def false_alarms(self, depth: str) -> list[str]:
        """Return what is wrongly said of a calm group."""
        found = self.found[depth]
        return [*(name for name, severity, _ in found.storms if self.is_false(name, severity)), *found.causes]


def case(kind: str, number: int, seed: int, depths: Iterable[str] = DEPTHS) -> Case:
    """Play a group and look for what there is to find."""
    group = play(kind, number, seed)
    found = {depth: find(group, depth) for depth in depths}
    return Case(kind, number, tuple(group.acts), frozenset(group.culprits), is_large(group), found)


def is_large(group: Group) -> bool:
    """Whether a group has a storm, or a burst, by the contract's definition: by what its brokers did themselves."""
    if group.kind not in BURSTS:
        return bool(storm_intervals(group.world.rebalances, _LIMITS.window_ms, _LIMITS.min_rebalances))
    refused = [row for row in group.world.paper.requests if row["error"] in FENCING_ERRORS]
    return any(True for _ in runs(refused, GAP_MS, MIN_ERRORS))


@dataclass
class Line:
    """The figures of one kind at one depth.

    Attributes:
        planted: incidents of the size that is a storm, or a burst.
        found: of these, the ones that are called what they are.
        called: groups of whatever kind that are called so.
        right: of these, the ones that are called so rightly.
        named: of those found, the ones whose main client is a culprit; for kinds that have one.
        undecided: of those not found, the ones told as one of some kinds, of which theirs is one.
        instead: what else those that were not found are called, and how often.
    """

    planted: int = 0
    found: int = 0
    called: int = 0
    right: int = 0
    named: int = 0
    undecided: int = 0
    instead: dict[str, int] = field(default_factory=dict)

    @property
    def recall(self) -> float | None:
        """Share of those planted that are found."""
        return self.found / self.planted if self.planted else None

    @property
    def precision(self) -> float | None:
        """Share of those called so that are."""
        return self.right / self.called if self.called else None


def figures(cases: Iterable[Case], kind: str, depth: str) -> Line:
    """Count for one kind and depth."""
    line = Line()
    for each in cases:
        found = each.found[depth]
        is_called = kind in found.names
        line.called += is_called
        line.right += is_called and each.is_right(kind)
        if each.kind != kind or not each.is_large:
            continue
        line.planted += 1
        line.found += is_called
        line.named += any(name == kind and client in each.culprits for name, _, client in found.storms)
        line.undecided += not is_called and any(kind in EITHER.get(name, ()) for name in found.names)
        for name in () if is_called else found.names or {"nothing"}:
            line.instead[name] = line.instead.get(name, 0) + 1
    return line
