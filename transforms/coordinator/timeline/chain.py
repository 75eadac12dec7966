"""A generation beside those around it: how it came out, when it was stable and ended, what it is compared to."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from msgspec import Struct, field

from transforms.coordinator.evidence.sources import Authority
from transforms.coordinator.evidence.tolerances import REORDER_MS, SAME_MOMENT_MS
from transforms.coordinator.timeline.facts import Fact, GenerationFacts, MemberFacts, authority_of, value_of


def outcome_of(row: GenerationFacts, is_followed: bool) -> str | None:
    """How a generation came out; where the machine and the evidence differ, as the evidence says."""
    reached = max(map(authority_of, (row.completing_at, row.assigned_at, row.stable_at, row.joined_by)))
    told = Authority.ANSWERED if row.told else Authority.NONE
    if row.emptied_at is not None and row.emptied_at.authority >= max(reached, told):
        return "empty"
    if stable_at(row) is not None:
        return "stable"
    if row.completing_at is not None and is_followed:
        return "abandoned"
    return None


def stable_at(row: GenerationFacts) -> float | None:
    """When the assignment was stored: the record, else the leader's line, else the replayed SyncGroup.

    The machine alone does not show it: a record, a line or an answered SyncGroup must.
    """
    shown = row.stable_at or row.assigned_at
    if shown is not None:
        return shown.value
    if not row.told:
        return None
    first_told = min(row.told.values())
    foreseen = value_of(row.foreseen_stable_at)
    return first_told if foreseen is None else min(foreseen, first_told)


def began_at(row: GenerationFacts) -> float | None:
    """When the one before ended at the latest: at the beginning of the join phase, else at the next that is known."""
    for fact in (row.preparing_at, row.completing_at, row.emptied_at, row.stable_at):
        if fact is not None:
            return fact.value
    return None


def ended_at(later: Iterable[GenerationFacts], end_of_life: Fact[float] | None) -> float | None:
    """When a generation ended: at the next join phase, or with the group.

    Of a generation may be known that there was one, and no moment: then it is that of a later one.

    Args:
        later: the generations that came after it in its life, in their order.
        end_of_life: when the life ended.
    """
    moments = (began_at(row) for row in later)
    return next((at for at in moments if at is not None), value_of(end_of_life))


_STEPS = ("preparing_at", "completing_at", "stable_at", "emptied_at")


def put_in_turn(row: GenerationFacts, following: GenerationFacts | None) -> None:
    """Let no step of two generations be before the step before it, as it seems where a clock is behind another.

    What a record and a line tell may lie apart a little, whatever the clocks.
    """
    reached = -inf
    for each in (row,) if following is None else (row, following):
        for name in _STEPS:
            fact = getattr(each, name)
            if fact is None:
                continue
            behind_ms = reached - fact.value
            if behind_ms <= 0.0 or behind_ms > REORDER_MS:
                reached = fact.value
            elif behind_ms > SAME_MOMENT_MS or fact.authority is Authority.STORED:
                setattr(each, name, Fact(reached, fact.authority))


class Chain(Struct, array_like=True):
    """What a generation is compared to: the ones of its life that came before, as far as they matter.

    Attributes:
        first_number: number of the life's first generation; None = none yet.
        last_number: number of the last one before.
        last_stable: the last one before that became Stable.
        partition_counts: by topic, the most partitions that were assigned so far.
        last_ended_at: when the last one before ended, as was told.
    """

    first_number: int | None = None
    last_number: int = 0
    last_stable: GenerationFacts | None = None
    partition_counts: dict[str, int] = field(default_factory=dict)
    last_ended_at: float | None = None

    def begin(self, row: GenerationFacts) -> None:
        """Begin with a generation, where the one before ended; one that another coordinator loaded follows itself."""
        if self.first_number is None:
            self.first_number = row.generation
            goes_on = (value_of(row.trigger) or "") in ("coordinator_failover", "converted")
            self.last_number = row.generation - 1 if goes_on else 0
        known, begun = self.last_ended_at, row.preparing_at
        if known is not None and begun is not None and row.generation == self.last_number + 1:
            row.preparing_at = Fact(known, begun.authority)  # what is told of the one before does not change any more

    def passed(self, row: GenerationFacts, outcome: str | None, ended_at: float | None) -> None:
        """Go on to the next generation."""
        self.last_number, self.last_ended_at = row.generation, ended_at
        if outcome == "stable":
            self.last_stable = row
            for topic, count in partition_counts(row.members.values()).items():
                self.partition_counts[topic] = max(self.partition_counts.get(topic, 0), count)


def partition_counts(members: Iterable[MemberFacts]) -> dict[str, int]:
    """Partitions that each topic has at least, by the highest one assigned."""
    counts: dict[str, int] = {}
    for member in members:
        for topic, partition in member.assigned or ():
            if counts.get(topic, 0) <= partition:
                counts[topic] = partition + 1
    return counts
