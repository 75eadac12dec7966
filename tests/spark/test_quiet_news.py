"""Groups whose members say only that they live, and commit: what is found in them is not looked for anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.timelines.standing import standing
from schemas.words import FENCING_ERRORS
from tests.spark.test_findings_in_batches import THRESHOLDS, found_as_in_everything
from tests.support.pure_pipeline import Tables, read_silver
from tests.support.silver_batches import BatchedLake, Piece, pieces

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("long_histories", "many_groups")]

LATENESS_MS = 5_000
QUIET = ("Heartbeat", "OffsetCommit", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat")


def is_quiet(piece: Piece) -> bool:
    """Whether it is a commit, or a request that only members send who are there, and that was granted."""
    table, row = piece
    if table != "group_requests":
        return table == "offset_commits"
    is_there = row["generation"] is not None and row["generation"] > 0
    return row["error"] == "NONE" and row["api"] in QUIET and is_there


def is_refused(piece: Piece) -> bool:
    """Whether it is a request of a member that was fenced: such a one changes no row of its group's timeline."""
    return piece[0] == "group_requests" and piece[1]["error"] in FENCING_ERRORS


def batches(silver: Tables) -> tuple[list[list[Piece]], set[str]]:
    """What is first; what follows of one group, and of the others as far as it is quiet; and the rest of them.

    Of one of these there is more in the rest: who is refused. Returned with the groups that are not quiet by then.
    """
    rows = pieces(silver)
    half = len(rows) // 2
    first, second = rows[:half], rows[half:]
    known = {str(piece[1]["group_id"]) for piece in first if piece[1].get("group_id")}
    second = [piece for piece in second if piece[1].get("group_id") in known]
    fenced = max(known, key=lambda group: sum(is_refused(p) and p[1]["group_id"] == group for p in second))
    loud = min(known - {fenced})
    some = [piece for piece in second if is_quiet(piece) or piece[1]["group_id"] == loud]
    refused = [piece for piece in second if is_refused(piece) and piece[1]["group_id"] == fenced]
    cut = len(some) // 2
    return [first, some[:cut], some[cut:] + refused], {loud, fenced}


@pytest.mark.parametrize("name", ["kafka-4.2.0", pytest.param("modern-chaos-4.2.0", marks=pytest.mark.long)])
def test_of_groups_that_say_only_that_they_live_offsets_are_looked_at_and_nothing_else(
    name: str, spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    """The findings are those in everything, and of the many groups with news those are named that are not quiet."""
    cut, loud = batches(read_silver(capture_dir(name)))
    lake = BatchedLake(spark, tmp_path / "lake", LATENESS_MS, **THRESHOLDS)
    found_as_in_everything(lake, cut)
    reached = standing(lake.job)
    assert reached is not None
    assert reached.changes[-1].quiet is not None
    assert set(reached.changes[-1].groups or ()) == loud
