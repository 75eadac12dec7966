"""What clients logged is laid beside the timelines through the lake as by the pure replay, whenever it comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from schemas.catalog import BY_NAME
from tests.support.pure_pipeline import CLUSTER, Row, Tables, read_silver, replay
from tests.support.silver_batches import BatchedLake, pieces

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CAPTURE = "kafka-4.2.0"
GROUPS = ("checkout-storm", "fraud-zombie")
TOLD = ("generations", "member_sessions", "client_timeline")


def some_groups(silver: Tables) -> Tables:
    return {name: [row for row in rows if row.get("group_id") in (None, *GROUPS)] for name, rows in silver.items()}


def said_by_clients(gold: Tables) -> list[Row]:
    """Each member says which generation it joined; those that left say that they had polled too rarely."""
    said = []
    for member in gold["generation_members"]:
        said.append(_line(len(said), member, event="joined", generation=member["generation"]))
    for stay in gold["member_sessions"]:
        if stay["end_cause"] == "left":
            said.append(_line(len(said), stay, event="leaving", reason="consumer poll timeout has expired."))
    return said


def _line(number: int, of: Row, **told: object) -> Row:
    found = {"cluster": CLUSTER, "source_file": "clients.log", "line_number": number + 1, "host": "app"}
    named = {name: of[name] for name in ("group_id", "member_id", "client_id")}
    return dict.fromkeys(BY_NAME["client_events"].columns) | found | named | told


@pytest.mark.parametrize("is_late", [False, True], ids=["together", "clients later"])
def test_the_lake_has_what_clients_said_as_the_pure_replay_has(
    is_late: bool, spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    silver = some_groups(read_silver(capture_dir(CAPTURE)))
    said = said_by_clients(replay(silver))
    expected = replay({**silver, "client_events": said})
    assert any(row["end_cause"] == "poll_timeout" for row in expected["member_sessions"])
    assert any("client_log" in row["evidence"] for row in expected["generations"])
    lake = BatchedLake(spark, tmp_path / "lake", lateness_ms=5_000)
    clients = [("client_events", row) for row in said]
    for batch in [pieces(silver), clients] if is_late else [[*pieces(silver), *clients]]:
        lake.load(batch)
        lake.replay()
    for name in TOLD:
        assert sorted(map(_told, lake.rows(name))) == sorted(map(_told, expected[name])), name


def _told(row: Row) -> str:
    return repr(
        {
            name: round(float(value), 3) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
            for name, value in sorted(row.items())
            if name not in ("is_settled", "settled_at")
        }
    )
