"""What Spark's own expressions say, held against what they stand for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from transforms.coordinator.kafka.java_hashing import offsets_partition
from transforms.gold.timelines.homes import partition_of
from transforms.gold.timelines.snapshots import CLOSEST_MS, MOST, kept

pytestmark = pytest.mark.spark

LEAST = "polygenelubricants"
"""Its hash is the least of all of Java's ints."""

_NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=200)


@settings(max_examples=15, deadline=None)
@given(_NAMES, st.integers(1, 2_000))
def test_a_group_lives_where_kafka_puts_it(spark: Any, names: list[str], count: int) -> None:
    names += ["", LEAST, "grüße", "𝒢roup", "a" * 300, "%s {x} \\ '"]
    rows = spark.createDataFrame([(name,) for name in names], "name STRING")
    told = rows.select("name", partition_of(F.col("name"), F.lit(count)).alias("partition")).collect()
    assert [(row.name, row.partition) for row in told] == [(name, offsets_partition(name, count)) for name in names]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4_000), max_size=60), min_size=1, max_size=50))
def test_snapshots_are_kept_further_and_further_apart(spark: Any, minutes: list[list[int]]) -> None:
    given_moments = [([at * 60_000.0 for at in {*each}],) for each in minutes]
    rows = spark.createDataFrame(given_moments, "moments ARRAY<DOUBLE>")
    for (moments,), row in zip(given_moments, rows.selectExpr(f"{kept('moments')} AS kept").collect(), strict=True):
        youngest_first = sorted(moments, reverse=True)
        assert row.kept[:2] == youngest_first[:2]
        assert len(row.kept) <= MOST
        apart = [younger - older for younger, older in pairwise(row.kept[1:])]
        least = [CLOSEST_MS * 2**place for place in range(len(apart))]
        assert all(distance >= at_least for distance, at_least in zip(apart, least, strict=True))
        for place, older in enumerate(row.kept[2:]):  # none that would have done as well is younger
            between = [at for at in moments if older < at <= row.kept[place + 1] - least[place]]
            assert not between
