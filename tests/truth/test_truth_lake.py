from __future__ import annotations

import pytest

from schemas.tables.gold import REPLAYED
from tests.truth.checks import CHECKS
from tests.truth.expected import CAPTURES, LEAST_COMPARED
from tests.truth.timelines import Row

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", CAPTURES)
def test_the_lake_agrees_with_what_the_clients_and_the_broker_said(name, check, truth_of, lake_rows):
    found = CHECKS[check](truth_of(name), lake_rows(name))
    assert not found, f"{len(found)} of {found.compared} comparisons fail:\n" + "\n".join(found[:20])
    assert found.compared >= LEAST_COMPARED.get(check, {}).get(name, 1)


@pytest.mark.parametrize("table", [spec.name for spec in REPLAYED])
@pytest.mark.parametrize("name", CAPTURES)
def test_spark_adds_nothing_to_the_pure_replay_and_loses_nothing(name, table, pure_tables, lake_rows):
    pure = {_as_text(row) for row in pure_tables(name)[table]}
    lake = {_as_text(row) for row in lake_rows(name)[table]}
    assert len(lake_rows(name)[table]) == len(pure_tables(name)[table])
    assert sorted(pure - lake)[:5] == sorted(lake - pure)[:5] == []


def _as_text(row: Row) -> str:
    """Spell a row the same way whichever side it comes from: the cluster's name and fractions of a ms aside."""
    return repr(sorted((name, _whole(value)) for name, value in row.items() if name != "cluster"))


def _whole(value: object) -> object:
    """Cut a moment to whole milliseconds, as the lake's rows are; the lake itself holds microseconds."""
    return round(value * 1000) // 1000 if isinstance(value, float) else value
