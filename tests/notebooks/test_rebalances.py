"""The list of a group's rebalances."""

from __future__ import annotations

from typing import Any

import pandas as pd

from notebooks.rebalances import COLUMNS, one_after_the_other
from schemas.rows import GenerationRow


def row(number: int, bumps: int, begin: float | None, stable: float | None, **more: Any) -> GenerationRow:
    known = {"cluster": "c", "group_id": "g", "life": 1, "evidence": [], "is_inferred": False, "missing_before": 0}
    times = {"preparing_at": begin, "stable_at": stable}
    return GenerationRow(
        **{"trigger": "member_joined", **known, **times, "generation": number, **more}, bump_count=bumps
    )


def test_a_rebalance_of_several_bumps_is_listed_once_with_what_they_come_to() -> None:
    epochs = [
        row(4, 1, 9_000.0, 9_250.0, group_type="consumer", rebalance_ms=250, partitions_moved=1, outcome="stable"),
        row(2, 2, 1_000.0, None, group_type="consumer", partitions_moved=2, member_count=2),
        row(3, 0, 1_400.0, 3_000.0, group_type="consumer", rebalance_ms=1_600, partitions_moved=1, member_count=3),
    ]
    found = one_after_the_other(epochs)
    assert list(found["generation"]) == [2, 4]
    assert list(found["rebalance_ms"]) == [2_000, 250]
    assert list(found["partitions_moved"]) == [3, 1]
    assert found["member_count"][0] == 3
    assert list(found["began_at"]) == [pd.Timestamp(1_000, unit="ms"), pd.Timestamp(9_000, unit="ms")]


def test_each_generation_of_a_classic_group_is_listed_also_where_no_moment_of_it_is_known() -> None:
    generations = [row(1, 1, 500.0, 600.0, rebalance_ms=100), row(2, 1, None, None), row(3, 1, 700.0, None)]
    found = one_after_the_other(generations)
    assert list(found["generation"]) == [1, 2, 3]
    assert list(found["began_at"].isna()) == [False, True, False]
    assert list(found["rebalance_ms"].isna()) == [False, True, True]


def test_a_group_without_rebalances_has_an_empty_list() -> None:
    assert list(one_after_the_other([]).columns) == list(COLUMNS)
