"""What a group's generations were at a moment: which one was in force, and which change shut a member out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import islice

from schemas.rows import GenerationRow
from transforms.findings.evidence import SLACK_MS, began_at, first_known


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
        begun.sort(key=lambda entry: entry[:3])
        self._begun_at = [entry[0] for entry in begun]
        self._begun = [entry[3] for entry in begun]
        self._of_life: dict[int, list[GenerationRow]] = defaultdict(list)
        for row in sorted(self._rows, key=_number):
            self._of_life[row.life].append(row)

    def at(self, moment: float) -> GenerationRow | None:
        """Return the generation in force: the last that had ended its join phase, with members or without."""
        place = bisect_right(self._at, moment)
        return self._rows[place - 1] if place else None

    def rebalance_at(self, moment: float) -> GenerationRow | None:
        """Return the last rebalance that had begun, a takeover by another coordinator among them."""
        place = bisect_right(self._begun_at, moment)
        return self._begun[place - 1] if place else None

    def change_without(self, member_id: str, ended_at: float) -> GenerationRow | None:
        """Return the change of generation that went on without a member whose stay had ended."""
        first = bisect_left(self._at, ended_at - SLACK_MS)
        later = islice(self._rows, first, None)
        named = (row for row in later if member_id in (row.departed_member_ids or (row.trigger_member_id,)))
        return first_known(next(named, None), *self._rows[first : first + 1])

    def change_after(self, generation: int, moment: float) -> GenerationRow | None:
        """Return the change by which a generation was over that somebody still held on to at a moment."""
        now = self.at(moment)
        if now is None:
            return None
        of_life = self._of_life[now.life]
        place = bisect_right(of_life, generation, key=_number)
        later = of_life[place] if place < len(of_life) else None
        return later if later is not None and later.generation <= now.generation else None


def _number(row: GenerationRow) -> int:
    return row.generation


def in_force_at(row: GenerationRow) -> float | None:
    """Return when a generation ended its join phase."""
    return first_known(row.completing_at, row.stable_at, row.emptied_at)


def over_at(row: GenerationRow) -> float | None:
    """Return when a rebalance was over."""
    return first_known(row.stable_at, row.emptied_at, row.ended_at)


def _begun_at(row: GenerationRow) -> float | None:
    return first_known(began_at(row), row.completing_at, row.stable_at, row.emptied_at)
