"""Silver rows of a capture in batches: put into a lake as the ingest does, and replayed by the job.

What a batch has of the sources goes into bronze too, as far as the horizon is read from it: when records and lines were
written, and by whom.
"""

from __future__ import annotations

import argparse
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from math import inf
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console

from jobs import detect_findings, rebuild_timelines
from jobs.findings.looking import STEP as DETECT
from jobs.frame.job import Job
from jobs.frame.report import Report
from jobs.lake.lake import Lake
from jobs.settings.settings import Settings
from schemas.catalog import BY_NAME
from schemas.tables.bronze import LOG_LINES, OFFSETS_RECORDS
from tests.support.frames import to_frame, to_rows
from tests.support.pure_pipeline import CLUSTER, Row, Tables, evidence_by_group, modern_by_group, partitions_by_group
from transforms.coordinator.batch import Batch
from transforms.coordinator.evidence.items import taken_up_at
from transforms.coordinator.fold import begin
from transforms.coordinator.replay import typed_evidence, typed_records
from transforms.coordinator.rows.tables import Rows

WRITTEN_AT = {
    "group_metadata": "recorded_at",
    "modern_group_records": "recorded_at",
    "offset_commits": "recorded_at",
    "coordinator_events": "logged_at",
    "group_requests": "answered_at",
    "client_events": "logged_at",
}
"""By table, when its rows were written."""

_RESOLVED = {"offset_commits": {"txn_state": "none"}}
"""What the ingest finds out of several records."""

Piece = tuple[str, Row]
"""A row, and the silver table that it is of."""

_BEGINNING = datetime(2026, 1, 1, tzinfo=timezone.utc)


def pieces(silver: Tables) -> list[Piece]:
    """Return the rows that the replay reads, in the order in which they were written."""
    rows = [(table, row) for table in WRITTEN_AT for row in silver[table]]
    return sorted(rows, key=lambda piece: written_at(piece) or 0.0)


def written_at(piece: Piece) -> float | None:
    """Return when a row was written (epoch ms)."""
    table, row = piece
    at: float | None = row[WRITTEN_AT[table]]
    return at


class BatchedLake:
    """A lake that is filled batch by batch; every second run takes its news for little, the others for much.

    Args:
        spark: the session.
        root: its folder.
        lateness_ms: how late evidence may come.
        keep: what is kept of the audit.
        thresholds: sections of the settings that findings go by.
    """

    def __init__(
        self, spark: SparkSession, root: Path, lateness_ms: int, keep: str = "all", **thresholds: dict[str, int]
    ) -> None:
        settings: Any = {
            "cluster": CLUSTER,
            "lake": {"root": str(root)},
            "replay": {"lateness_ms": lateness_ms},
            "audit": {"keep": keep},
            **thresholds,
        }
        lake = Lake(spark, str(root), "", CLUSTER)
        lake.open()
        report = Report(Console(file=io.StringIO()))
        self._runs = 0
        self.job = Job(Settings.model_validate(settings), lake, report, argparse.Namespace())

    def load(self, batch: Iterable[Piece]) -> None:
        """Put rows into bronze and silver."""
        self._runs += 1
        tables: dict[str, list[Row]] = defaultdict(list)
        for table, row in batch:
            tables[table].append(row)
            tables["offsets_records" if "record_offset" in row else "log_lines"].append(_in_bronze(table, row))
        at = _BEGINNING + timedelta(hours=self._runs)
        for name, rows in tables.items():
            spec = BY_NAME[name]
            frame = to_frame(
                self.job.spark, spec, [{**row, "loaded_at": None, **_RESOLVED.get(name, {})} for row in rows]
            )
            with self.job.brief(True):
                self.job.lake.append(spec, frame.drop("cluster", "loaded_at").dropDuplicates(_key(name)), at)

    def replay(self, is_little: bool | None = None) -> None:
        """Run the job; it may be said whether the news is little."""
        with self.job.brief(self._is_little if is_little is None else is_little):
            rebuild_timelines.run(self.job)
        self.job.lake.contents.keep()

    def detect(self, everything: bool = False) -> None:
        """Run the job that looks for findings; in everything, as if it never had before."""
        if everything:
            self.job.lake.notes.put(f"progress/{DETECT}", None)
        with self.job.brief(self._is_little):
            detect_findings.run(self.job)
        self.job.lake.contents.keep()

    @property
    def _is_little(self) -> bool:
        return self._runs % 2 == 0

    def rows(self, name: str) -> list[Row]:
        """Return the rows of a table of gold, times as epoch ms."""
        return to_rows(self.job.lake.read(BY_NAME[name]))


def _key(name: str) -> list[str]:
    return [column for column in BY_NAME[name].key if column != "cluster"]


def _in_bronze(table: str, row: Row) -> Row:
    if "record_offset" in row:
        found = {
            "topic_partition": row["topic_partition_of_record"],
            "record_offset": row["record_offset"],
            "recorded_at": row["recorded_at"],
            "is_transactional": False,
        }
        spec = OFFSETS_RECORDS
    else:
        found = {name: row[name] for name in ("source_file", "line_number")}
        found["broker"] = row["host"] if table == "client_events" else row["broker"]
        found |= {"logged_at": row[WRITTEN_AT[table]], "text": ""}
        spec = LOG_LINES
    return {name: found.get(name) for name in spec.columns}


def in_one_batch(silver: Tables, horizon: float, keeps_audit: bool = True) -> Mapping[str, list[Row]]:
    """Return the rows of gold that one batch over everything gives, up to a horizon; without Spark and a lake."""
    gold = Rows()
    places, modern = partitions_by_group(silver), modern_by_group(silver)
    stored = (at for piece in pieces(silver) if "record_offset" in piece[1] if (at := written_at(piece)) is not None)
    records_until = max(stored, default=inf)
    for group, evidence in sorted(evidence_by_group(silver).items()):
        records, events, requests = typed_evidence(*evidence)
        batch = Batch(
            begin(CLUSTER, group, None), horizon, places.get(group, ()), keeps_audit, records_until=records_until
        )
        rows = [(row.recorded_at, row) for row in records]
        rows += [(row.recorded_at, row) for row in typed_records(modern.get(group, ()))]  # type: ignore[misc]
        rows += [(row.logged_at, row) for row in events]  # type: ignore[misc]
        rows += [(taken_up_at(row), row) for row in requests]  # type: ignore[misc]
        batch.add(row for at, row in sorted(rows, key=lambda each: each[0] or 0.0))
        batch.end()
        gone, told = set(batch.superseded()), batch.told()
        told.member_sessions = [
            row for row in told.member_sessions if (row.life, row.member_id, row.settled_at) not in gone
        ]
        gold.extend(told)
    return {
        name: [{column: getattr(row, column) for column in BY_NAME[name].columns} for row in getattr(gold, name)]
        for name in Rows.__struct_fields__
    }
