"""What a group's generations were at a moment: which one was in force, and which change shut a member out."""

from __future__ import annotations

from bisect import bisect_right

from schemas.rows import GenerationRow
from transforms.findings.evidence import began_at, first_known

_SLACK_MS = 100
"""Records carry the time of the append, lines that of the logger: one moment may differ by this much between them."""


class Course:
    """The generations of a group, by when they came into force.

    Args:
        generations: in any order.
    """

    def __init__(self, generations: list[GenerationRow]) -> None:
        dated = [(at, row.life, row.generation, row) for row in generations if (at := in_force_at(row)) is not None]
        dated.sort(key=lambda entry: entry[:3])
        self._at = [entry[0] for entry in dated]
        self._rows = [entry[3] for entry in dated]
        begun = [(at, row.life, row.generation, row) for row in generations if (at := _begun_at(row)) is not None]
        self._begun = sorted(begun, key=lambda entry: entry[:3])

    def at(self, moment: float) -> GenerationRow | None:
        """Return the generation in force: the last that had ended its join phase, with members or without."""
        place = bisect_right(self._at, moment)
        return self._rows[place - 1] if place else None

    def rebalance_at(self, moment: float) -> GenerationRow | None:
        """Return the last rebalance that had begun, a takeover by another coordinator among them."""
        return max((e for e in self._begun if e[0] <= moment), key=lambda e: e[:3], default=(None,))[-1]

    def change_without(self, member_id: str, ended_at: float) -> GenerationRow | None:
        """Return the change of generation that went on without a member whose stay had ended."""
        later = [row for at, row in zip(self._at, self._rows, strict=True) if at >= ended_at - _SLACK_MS]
        named = (row for row in later if member_id in (row.departed_member_ids or (row.trigger_member_id,)))
        return first_known(next(named, None), later[0] if later else None)

    def change_after(self, generation: int, moment: float) -> GenerationRow | None:
        """Return the change by which a generation was over that somebody still held on to at a moment."""
        now = self.at(moment)
        if now is None:
            return None
        later = [row for row in self._rows if row.life == now.life and generation < row.generation <= now.generation]
        return min(later, key=lambda row: row.generation, default=None)


def in_force_at(row: GenerationRow) -> float | None:
    """Return when a generation ended its join phase."""
    return first_known(row.completing_at, row.stable_at, row.emptied_at)


def over_at(row: GenerationRow) -> float | None:
    """Return when a rebalance was over."""
    return first_known(row.stable_at, row.emptied_at, row.ended_at)


def _begun_at(row: GenerationRow) -> float | None:
    return first_known(began_at(row), row.completing_at, row.stable_at, row.emptied_at)
