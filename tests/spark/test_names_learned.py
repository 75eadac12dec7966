from __future__ import annotations

from typing import Any

import pytest

from transforms.gold.timelines.news import of_names

pytestmark = pytest.mark.spark

AT = "timestamp_millis({} * 1000)"


def _frame(spark: Any, columns: str, *rows: str) -> Any:
    """Rows as SQL has them; a cluster and a group stand before each."""
    return spark.sql(f"SELECT 'c' AS cluster, * FROM VALUES {', '.join(rows)} AS t(group_id, {columns})")


def test_groups_with_rows_under_an_id_are_told_again_from_the_oldest_of_what_a_name_may_change(spark: Any) -> None:
    at = AT.format
    assignments = _frame(
        spark, "topic, valid_from", f"('a', 'id-1', {at(50)})", f"('b', 'orders', {at(10)})", f"('d', 'id-2', {at(9)})"
    )
    waiting = _frame(spark, "partitions, from_at", f"('c', array('orders-1', 'id-1-0'), {at(40)})")
    orphaned = _frame(spark, "topic, from_at", f"('e', 'id-1', {at(60)})", f"('d', 'orders', {at(8)})")
    generations = _frame(
        spark,
        "group_type, assignor, completing_at, preparing_at",
        f"('a', 'consumer', NULL, {at(31)}, {at(30)})",
        f"('a', 'consumer', 'range', {at(21)}, {at(20)})",
        f"('a', 'consumer', NULL, NULL, {at(15)})",
        f"('b', 'consumer', NULL, {at(6)}, {at(5)})",
        f"('c', 'share', NULL, {at(6)}, {at(5)})",
    )
    named = spark.sql("SELECT 'id-1' AS topic_id")
    found = {row.group_id: row.oldest for row in of_names(named, assignments, waiting, orphaned, generations).collect()}
    assert found == {"a": 30_000.0, "c": 40_000.0, "e": 60_000.0}
