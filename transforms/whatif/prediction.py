"""What would have been: the group lives through its history many times, with and without the change.

What the evidence leaves open is decided anew each time, and where nine of ten runs lie is the range.
The runs without the change tell how far the simulation is off: by as much the range is widened.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from math import ceil
from statistics import median

from msgspec import Struct, field
from msgspec.structs import replace

from schemas.rows import AssignmentRow
from transforms.whatif.change import Change, check_against, letting_in
from transforms.whatif.draw import EXTERNAL, History, Nudge, live_through
from transforms.whatif.evidence import Depth, Evidence
from transforms.whatif.figures import Figures, Window, observed
from transforms.whatif.pace import paces_of
from transforms.whatif.price import Death, deaths_noticed_later
from transforms.whatif.processes import processes_of
from transforms.whatif.sharing import COOPERATIVE
from transforms.whatif.simulation import Course

MOST_DRAWS = 60
LEAST_DRAWS = 6
ACCIDENTS = 0.1
"""Share of a group's rebalances by which two runs of one plan may differ, measured on real brokers."""

SLACK_MS = 40.0
"""What one rebalance may take more or less on a broker than in the simulation, whose coordinator takes no time."""
SLACK_SHARE = 0.05
"""And what all of them together may, at least: a broker that is busy takes longer for each."""

PATIENCE_MS = 60_000.0
"""What all draws together may about take; fewer are made of long histories of large groups."""

_MEMBER_MS, _PAIR_MS = 0.14, 0.0018
"""What a rebalance takes to simulate, for each member and for each pair of them; measured on one core."""


class Range(Struct, frozen=True):
    """From low to high; high None = there may be more, which left no trace."""

    low: float
    high: float | None


class Prediction(Struct):
    """The change's effect within the window; None = not known.

    Attributes:
        observed: what really happened.
        rebalances: how many there would have been.
        unstable_ms: how long without an assignment.
        partitions_moved: how many would have changed hands, in the middle of all runs.
        null_rebalances: how many the runs without the change have.
        price: deaths that would have been noticed later.
    """

    window: Window
    observed: Figures
    rebalances: Range
    unstable_ms: Range | None
    partitions_moved: int | None
    null_rebalances: Range
    price: list[Death] = field(default_factory=list)


def predict(evidence: Evidence, change: Change, window: Window | None = None, seed: int = 0) -> Prediction:
    """Predict what a change would have made of a group's history.

    Args:
        evidence: the group's.
        change: what would have been otherwise.
        window: what counts; None = all that is known.
        seed: of what is left to chance.

    Raises:
        SettingsError: the broker would not take the change, by the settings that it printed.
    """
    if evidence.is_told:
        check_against(change, evidence.settings)
    else:  # whoever is in the group was let in, and whether the broker would take the change nobody tells
        sessions = [change.session_timeout_ms, *(row.session_timeout_ms for row in evidence.members)]
        evidence = replace(evidence, settings=letting_in(evidence.settings, sessions))
    window = window or Window(evidence.begins_at, evidence.ends_at + 1.0)
    history = history_of(evidence, window)
    seen = observed(evidence, window)
    null, changed = _likely(history, change, seed, seen)
    is_bounded = leaves_traces(evidence, change)
    rebalances = _widened(_count_range(changed), _count_range(null), seen.rebalances, is_bounded)
    unstable = None
    if seen.unstable_ms is not None:
        unstable = _widened(_time_range(changed), _time_range(null), seen.unstable_ms, is_bounded)
    is_shared = all(course.is_shared for course in changed)
    moved = int(median(course.figures.partitions_moved for course in changed)) if is_shared else None
    price = deaths_noticed_later(history, changed)
    return Prediction(window, seen, rebalances, unstable, moved, Range(*_count_range(null)), price)


def history_of(evidence: Evidence, window: Window) -> History:
    """Gather what a run is made of."""
    return History(
        evidence,
        processes_of(evidence),
        paces_of(evidence),
        _nudges(evidence),
        window,
        evidence.begins_at,
        min(evidence.ends_at, window.ends_at),
        _partition_counts(evidence.assignments),
    )


def _likely(history: History, change: Change, seed: int, seen: Figures) -> tuple[list[Course], list[Course]]:
    """Return courses without and with the change, of the draws that come near to what was observed without it.

    One draw in three takes what is undecided all one way, and one all the other: it may well have one cause.
    """
    draws = [(f"{seed}/{index}", (0.0, 1.0, 0.5)[index % 3]) for index in range(_draws(history))]
    null = [live_through(history, Change(), name, wakes) for name, wakes in draws]
    misses = [abs(course.figures.rebalances - seen.rebalances) for course in null]
    tolerance = max(min(misses), round(ACCIDENTS * seen.rebalances))
    kept = [index for index, miss in enumerate(misses) if miss <= tolerance]
    return [null[index] for index in kept], [live_through(history, change, *draws[index]) for index in kept]


def _draws(history: History) -> int:
    generations = history.evidence.generations
    members = max((row.member_count or 0 for row in generations), default=0) + 1
    run_ms = len(generations) * members * (_MEMBER_MS + _PAIR_MS * members)
    return max(LEAST_DRAWS, min(MOST_DRAWS, int(PATIENCE_MS / (2 * run_ms + 1))))


def _middle(values: list[float]) -> tuple[float, float]:
    """Return where nine of ten values lie."""
    ordered = sorted(values)
    cut = len(ordered) // 20
    return ordered[cut], ordered[-1 - cut]


def _count_range(courses: list[Course]) -> tuple[float, float]:
    """Return the range of the rebalances, with room for accidents: a close that hangs, a join that is just too late."""
    low, high = _middle([course.figures.rebalances for course in courses])
    slack = max(0, round(ACCIDENTS * high) - ceil((high - low) / 2))
    return max(0.0, low - slack), high + slack


def _time_range(courses: list[Course]) -> tuple[float, float]:
    """Return the range of the unstable time, with room for a broker's own ways."""
    took = [course.figures.unstable_ms or 0.0 for course in courses]
    low, high = _middle(took)
    slack = max(SLACK_MS * max(course.figures.rebalances for course in courses), SLACK_SHARE * high)
    return max(0.0, low - slack), high + slack


def _widened(found: tuple[float, float], null: tuple[float, float], seen: float, is_bounded: bool) -> Range:
    """Widen a range by what the runs without the change miss of what was observed."""
    low = max(0.0, found[0] - max(0.0, null[0] - seen))
    return Range(low, found[1] + max(0.0, seen - null[1]) if is_bounded else None)


def leaves_traces(evidence: Evidence, change: Change) -> bool:
    """Whether the evidence shows all that would matter: what was allowed before, and would not be, left no trace."""
    sessions = [row.session_timeout_ms for row in evidence.members if row.session_timeout_ms]
    polls = [row.rebalance_timeout_ms for row in evidence.members if row.rebalance_timeout_ms]
    session, poll = change.session_timeout_ms, change.max_poll_interval_ms
    shows_sessions = evidence.depth is Depth.REQUESTS or session is None or session >= max(sessions, default=0)
    return shows_sessions and (poll is None or poll >= max(polls, default=0))


def _nudges(evidence: Evidence) -> list[Nudge]:
    """Return the rebalances that came from outside; a cooperative group's second ones come by themselves."""
    found: list[Nudge] = []
    for row in evidence.generations:
        follows_up = row.protocol == COOPERATIVE and row.is_subscription_changed is not True
        if row.trigger in EXTERNAL and row.preparing_at is not None and not follows_up:
            found.append(Nudge(row.preparing_at, row.trigger_member_id))
    return found


def _partition_counts(assignments: list[AssignmentRow]) -> Callable[[float], Mapping[str, int]]:
    """Return how many partitions each topic had at a moment, by what was assigned then."""
    at: dict[tuple[int, int], dict[str, int]] = {}
    since: dict[tuple[int, int], float] = {}
    for row in assignments:
        key = row.life, row.generation
        counts = at.setdefault(key, {})
        counts[row.topic] = max(counts.get(row.topic, 0), row.partition + 1)
        if row.valid_from is not None:
            since[key] = min(since.get(key, row.valid_from), row.valid_from)
    keys = sorted(since)
    moments = [since[key] for key in keys]
    known: list[dict[str, int]] = []
    for key in keys:
        known.append({**(known[-1] if known else {}), **at[key]})

    def counts_at(moment: float) -> Mapping[str, int]:
        if not known:
            return {}
        return known[max(0, bisect_right(moments, moment) - 1)]

    return counts_at
