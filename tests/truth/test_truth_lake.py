from __future__ import annotations

import pytest

from schemas.table import TableSpec
from schemas.tables.gold import REPLAYED
from tests.support.captures import CHAOTIC
from tests.truth.checks import CHECKS
from tests.truth.expected import LEAST_COMPARED
from tests.truth.timelines import Row

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LAKES = (
    "kafka-4.2.0",
    "failover-4.2.0",
    *(pytest.param(name, marks=pytest.mark.long) for name in ("kafka-3.9.1", *CHAOTIC)),
)
"""One failover is enough: what differs in it for Spark is that there are two brokers."""


NOT_COMPARED = ("cluster", "is_settled", "settled_at")
"""The pure replay settles everything; a run of the lake does so up to its horizon (`tests.spark.test_batches`)."""


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", LAKES)
def test_the_lake_agrees_with_what_the_clients_and_the_broker_said(name, check, truth_of, lake_rows):
    found = CHECKS[check](truth_of(name), lake_rows(name))
    assert not found, f"{len(found)} of {found.compared} comparisons fail:\n" + "\n".join(found[:20])
    assert found.compared >= LEAST_COMPARED.get(check, {}).get(name, 1)


@pytest.mark.parametrize("spec", REPLAYED, ids=lambda spec: spec.name)
@pytest.mark.parametrize("name", LAKES)
def test_spark_adds_nothing_to_the_pure_replay_and_loses_nothing(name, spec, pure_tables, lake_rows):
    pure = sorted(pure_tables(name)[spec.name], key=lambda row: _place(spec, row))
    lake = sorted(map(_as_read, lake_rows(name)[spec.name]), key=lambda row: _place(spec, row))
    assert len(lake) == len(pure)
    for expected, row in zip(pure, lake, strict=True):
        different = {
            column: (expected[column], row[column])
            for column in spec.columns
            if column not in NOT_COMPARED and not _is_same(expected[column], row[column])
        }
        assert not different, _place(spec, row)


def _as_read(row: Row) -> Row:
    """Name a file as it lies there; the lake adds when it began, to tell rotated files of one name apart."""
    return {**row, "source_file": row["source_file"].partition("@")[0]} if "source_file" in row else row


def _place(spec: TableSpec, row: Row) -> str:
    """Name a row by its key; a table without one by all that the row says."""
    return repr([row[column] for column in spec.key or spec.columns if column != "cluster"])


def _is_same(pure: object, lake: object) -> bool:
    """Whether two values are the same; a moment with a fraction may fall into the neighbouring millisecond."""
    if isinstance(pure, float):
        return isinstance(lake, (int, float)) and abs(pure - lake) <= 1
    return pure == lake
