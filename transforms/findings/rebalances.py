"""Rebalances of modern groups: a bump in a settled group, with all bumps until the group is settled again."""

from __future__ import annotations

from itertools import chain

from msgspec.structs import replace

from schemas.rows import GenerationRow
from schemas.words import EVIDENCE
from transforms.findings.evidence import began_at, first_known


def whole_rebalances(generations: list[GenerationRow]) -> list[GenerationRow]:
    """Return one row for each rebalance, in order of time: that of its first bump, with the end of its last.

    `gold.generations` has a row for each bump; those that came while a rebalance was under way are part of it, and have
    `bump_count` 0. So has what a conversion merely took over, which is part of none and is left out. A generation of a
    classic group is a rebalance of its own, and stays as it is.

    Args:
        generations: rebalances, and the bumps that are part of them, in any order.
    """
    found: list[GenerationRow] = []
    for row in sorted(generations, key=lambda row: (row.life, row.generation)):
        if row.bump_count != 0:
            found.append(row)
        elif found and found[-1].life == row.life and row.trigger != "converted":
            found[-1] = _joined(found[-1], row)
    return sorted(found, key=lambda row: (began_at(row) or 0.0, row.life, row.generation))


def lasted_ms(rebalance: GenerationRow) -> float | None:
    """Return how long one of `whole_rebalances` took; None = not known, or not over."""
    if rebalance.bump_count == 1:
        return rebalance.rebalance_ms
    began, ended = began_at(rebalance), first_known(rebalance.stable_at, rebalance.emptied_at)
    return None if began is None or ended is None else max(ended - began, 0)


def _joined(row: GenerationRow, later: GenerationRow) -> GenerationRow:
    moved = [count for count in (row.partitions_moved, later.partitions_moved) if count is not None]
    return replace(
        row,
        completing_at=first_known(row.completing_at, later.completing_at),
        stable_at=later.stable_at,
        emptied_at=later.emptied_at,
        ended_at=later.ended_at,
        outcome=later.outcome,
        member_count=first_known(later.member_count, row.member_count),
        joined_member_ids=_both(row.joined_member_ids, later.joined_member_ids),
        departed_member_ids=_both(row.departed_member_ids, later.departed_member_ids),
        partitions_total=first_known(later.partitions_total, row.partitions_total),
        partitions_moved=sum(moved) if moved else None,
        evidence=[name for name in EVIDENCE if name in row.evidence or name in later.evidence],
        is_inferred=row.is_inferred or later.is_inferred,
    )


def _both(ids: list[str] | None, later: list[str] | None) -> list[str] | None:
    return None if ids is None and later is None else list(dict.fromkeys(chain(ids or (), later or ())))
