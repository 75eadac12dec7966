"""What a stretch of a group's life cost: how many rebalances, how long without an assignment, how much changed hands.

The same figures are taken of what was observed (gold's rows) and of what a simulation gives, so that they can be set
side by side.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from schemas.rows import AssignmentRow, GenerationMemberRow, GenerationRow, MemberSessionRow
from transforms.whatif.evidence import Evidence

Place = tuple[str, int]
"""A topic and a partition of it."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, its end not included; epoch ms."""

    begins_at: float
    ends_at: float

    def holds(self, at: float) -> bool:
        """Whether a moment lies in it."""
        return self.begins_at <= at < self.ends_at

    def overlap_ms(self, begins_at: float, ends_at: float) -> float:
        """Return how much of another stretch lies in it."""
        return max(0.0, min(ends_at, self.ends_at) - max(begins_at, self.begins_at))


@dataclass(slots=True)
class Figures:
    """What is counted.

    Attributes:
        rebalances: entries into PreparingRebalance.
        unstable_ms: time from there to the stored assignment, or to the group being empty; None = not known.
        partitions_moved: times a partition came to another owner than the one it had last.
    """

    rebalances: int = 0
    unstable_ms: float | None = 0.0
    partitions_moved: int = 0


@dataclass(slots=True)
class Owners:
    """Who had each partition last, through times in which nobody had it."""

    last: dict[Place, str] = field(default_factory=dict)

    def moved(self, given: Iterable[tuple[Place, str]]) -> int:
        """Take an assignment; return how many partitions came to another owner than their last one."""
        count = 0
        for place, owner in given:
            before = self.last.get(place)
            count += before is not None and before != owner
            self.last[place] = owner
        return count


def owner_of(group_instance_id: str | None, client_id: str | None, client_host: str | None) -> str:
    """Return the name by which an owner is known again when it comes back under another member id.

    A client that becomes static stays the same owner: its instance counts only where the client has no name.
    """
    return f"{client_id}@{client_host}" if client_id is not None else f"{group_instance_id}"


def began_at(row: GenerationRow) -> float | None:
    """Return when a generation's rebalance began, or the first thing known after that."""
    moments = (row.preparing_at, row.completing_at, row.stable_at, row.emptied_at)
    return next((at for at in moments if at is not None), None)


def observed(evidence: Evidence, window: Window) -> Figures:
    """Take the figures of what was observed; a rebalance counts where it began."""
    found = Figures()
    generations = evidence.generations
    names = _owners(evidence)
    given: dict[tuple[int, int], list[tuple[Place, str]]] = {}
    for row in evidence.assignments:
        owner = names.get(row.member_id, row.member_id)
        given.setdefault((row.life, row.generation), []).append(((row.topic, row.partition), owner))
    owners = Owners()
    for index, generation in enumerate(generations):
        at = began_at(generation)
        if at is None:
            continue
        is_rebalance = generation.trigger != "coordinator_failover"
        found.rebalances += is_rebalance and window.holds(at)
        _add_unstable(found, generation, generations[index + 1 : index + 2], window)
        moved = owners.moved(given.get((generation.life, generation.generation), ()))
        found.partitions_moved += moved if window.holds(generation.stable_at or at) else 0
    return found


def _owners(evidence: Evidence) -> dict[str, str]:
    """Return the owner behind each member id; not every row of a member tells whose it is."""
    rows: list[MemberSessionRow | GenerationMemberRow | AssignmentRow] = []
    rows += evidence.sessions
    rows += evidence.members
    rows += evidence.assignments
    names: dict[str, str] = {}
    for row in rows:
        if row.client_id is not None or row.group_instance_id is not None:
            names.setdefault(row.member_id, owner_of(row.group_instance_id, row.client_id, row.client_host))
    return names


def _add_unstable(found: Figures, row: GenerationRow, following: list[GenerationRow], window: Window) -> None:
    """Add the time of one rebalance, up to the next one where it did not come to an end itself."""
    if row.preparing_at is None:
        if row.trigger != "coordinator_failover":
            found.unstable_ms = None
        return
    ends = [at for at in (row.stable_at, row.emptied_at) if at is not None]
    ends = ends or [at for each in following if (at := began_at(each)) is not None] or [inf]
    if found.unstable_ms is not None:
        found.unstable_ms += window.overlap_ms(row.preparing_at, min(ends))
