"""Evidence of real groups may be cut anywhere, put down and taken up again; the state is bounded by what is open."""

from __future__ import annotations

import random

import pytest

from tests.support.captures import ALL, FROZEN
from tests.support.pure_pipeline import evidence_by_group
from tests.unit.coordinator.test_fold import counted, folded, items_of
from transforms.coordinator.replay import typed_evidence

CUTS = 6

MOST_BYTES = 100_000
"""Five members with sixty partitions, in the middle of their broker's start, when all partitions are loaded."""


@pytest.mark.parametrize("name", (*ALL, FROZEN))
def test_every_group_may_be_cut_anywhere(name: str, pure_tables) -> None:
    dice = random.Random(5)
    for group, rows in sorted(evidence_by_group(pure_tables(name)).items()):
        evidence = typed_evidence(*rows)
        whole, _ = folded(items_of(evidence), [])
        items = items_of(evidence)
        cuts = dice.sample(range(len(items) + 1), min(CUTS, len(items) + 1))
        parts, sizes = folded(items, cuts)
        assert counted(parts) == counted(whole), group
        assert max(sizes) < MOST_BYTES
