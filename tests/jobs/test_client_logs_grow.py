"""A client's log that is read piece by piece tells of refusals as it does at once, whatever line names the group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import run_pipeline
from tests.support.lakes import CLUSTER, comparable, rows_of

pytestmark = pytest.mark.spark

FEW_LINES = 1_000

MEMBER = "z-661bbbac-fe53-4ecd-abb1-608e7f9e9063"
NAMING = f"""\
2026-11-21 15:12:20,051 INFO kafka.coordinator (Re-)joining group prices
2026-11-21 15:12:25,991 INFO kafka.coordinator Successfully joined group prices <Generation 1 (member_id: {MEMBER}, \
protocol: range)>
2026-11-21 15:12:41,332 WARNING kafka.coordinator.consumer OffsetCommit for group prices failed: [Error 25] \
UnknownMemberIdError: prices
"""
"""What kafka-python logs of a consumer that joins, and whose commit is refused; only here is its group named."""

REFUSED = """\
2026-11-21 {at} INFO kafka.coordinator.consumer Failing OffsetCommit request since the consumer is not part of an \
active group
2026-11-21 {at} ERROR app z: commit in batch failed
Traceback (most recent call last):
  File "/app/client.py", line 92, in commit
    consumer.commit(offsets)
kafka.errors.CommitFailedError: CommitFailedError: Offset commit cannot be completed since the consumer is not part of \
an active group for auto partition assignment; it is likely that the consumer was kicked out of the group.
"""
FIRST = "".join(REFUSED.format(at=f"15:12:{second},500") for second in range(42, 46))
NEXT = "".join(REFUSED.format(at=f"15:12:{second},500") for second in range(46, 56))
MUCH_LATER = "".join(REFUSED.format(at=f"18:40:{second},500") for second in range(10, 20))


def test_lines_that_name_no_group_are_of_the_one_that_their_file_names(
    spark: Any, tmp_path: Path, capture_dir: Callable[[str], Path]
) -> None:
    """Beside a broker's log, so that what is new is looked at by itself."""
    broker = tmp_path / "logs" / "1" / "server.log"
    broker.parent.mkdir(parents=True)
    whole = (capture_dir("kafka-4.2.0") / "broker_logs" / "server.log").read_text(encoding="utf-8")
    broker.write_text("".join(whole.splitlines(keepends=True)[:FEW_LINES]), encoding="utf-8")
    pieces = [NAMING + FIRST, NEXT + MUCH_LATER]
    once, piece_by_piece = tmp_path / "once", tmp_path / "piece_by_piece"
    _run(tmp_path, once, "".join(pieces))
    for count in range(len(pieces)):
        _run(tmp_path, piece_by_piece, "".join(pieces[: count + 1]))
    expected, found = (rows_of(root, "illegal_generation_bursts") for root in (once, piece_by_piece))
    bursts = expected["illegal_generation_bursts"]
    assert {(row["group_id"], row["evidence"], row["error_count"]) for row in bursts} == {
        ("prices", "client_log", 14),
        ("prices", "client_log", 10),
    }
    assert comparable(found["illegal_generation_bursts"]) == comparable(bursts)


def _run(folder: Path, root: Path, text: str) -> None:
    log = folder / "logs" / "z" / "app.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text, encoding="utf-8")
    where = [f"--cluster={CLUSTER}", f"--lake.root={root}", f"--logs.path={log.parents[1]}"]
    assert run_pipeline.main([*where, "--bursts.min_errors=5", "--bursts.gap_ms=5000"]) == 0
