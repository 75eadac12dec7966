"""A group's rebalances, each one row however many bumps of its epoch it is made up of."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from schemas.rows import GenerationRow
from transforms.findings.evidence import dated_at
from transforms.findings.rebalances import lasted_ms, whole_rebalances

COLUMNS = (
    "began_at",
    "life",
    "generation",
    "trigger",
    "trigger_client_id",
    "rebalance_ms",
    "member_count",
    "partitions_moved",
    "outcome",
)


def one_after_the_other(generations: Iterable[GenerationRow]) -> pd.DataFrame:
    """Return the rebalances of a group in the order of its generations or epochs.

    Args:
        generations: rows of `gold.generations` of the group.

    Returns:
        COLUMNS: those of the table, but for `began_at` (the first moment that is known) and `rebalance_ms` (from the
        first bump until the group was settled).
    """
    whole = sorted(whole_rebalances(list(generations)), key=lambda row: (row.life, row.generation))
    found = [[dated_at(row), *(getattr(row, name) for name in COLUMNS[1:])] for row in whole]
    frame = pd.DataFrame(found, columns=list(COLUMNS)).assign(rebalance_ms=[lasted_ms(row) for row in whole])
    return frame.assign(began_at=pd.to_datetime(frame["began_at"].astype(float), unit="ms").dt.round("ms"))
