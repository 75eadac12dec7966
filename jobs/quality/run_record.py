"""What is kept of a run: how it went, what its rows were held to, and which of them were set aside."""

from __future__ import annotations

import importlib.metadata
import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import msgspec
from pyspark.sql import DataFrame

from jobs.frame.exit_codes import ExitCode, exit_code_of
from jobs.frame.report import Report, Step
from jobs.jvm.files import Files
from jobs.lake.lake import Lake
from jobs.lake.storage_errors import storage_errors
from jobs.quality.judge import Count
from jobs.quality.judging import judging, put_pages
from jobs.quality.verdicts import Verdict
from schemas.catalog import TABLES
from schemas.spark import struct_type
from schemas.table import Layer, TableSpec
from schemas.tables.bronze import TABLES as BRONZE
from schemas.tables.quality import RESULTS, RUNS, SET_ASIDE
from schemas.tables.quality import TABLES as QUALITY
from schemas.tables.silver import REJECTED
from transforms.errors import RebalanceError
from transforms.given_rows import given

log = logging.getLogger(__name__)

_DISTRIBUTION = "rebalance-analytics"

_LATEST = "verdicts"
"""Name of the note of the latest verdicts about each table."""


@dataclass
class RunRecord:
    """What there is to say of a run so far.

    Attributes:
        started_at: when it began.
        horizon_at: moment before which it took the evidence to be complete (epoch ms); None = not known.
        verdicts: what its rows were held to, with the moment; the last one of each check counts.
        groups: ids of the groups that it replayed; None = too many to list, or not known.
        run_id: names the run.
        site: opens the files of the report, among which the pages about quality are; None = none are written.
    """

    started_at: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    horizon_at: float | None = None
    verdicts: dict[tuple[str, str], tuple[Verdict, datetime]] = field(default_factory=dict)
    groups: Sequence[str] | None = None
    run_id: str = ""
    site: Callable[[], Files] | None = None
    _kept: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Make up the name: runs sort by it, and two at the same moment differ."""
        self.run_id = self.run_id or f"{self.started_at:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"

    def take(self, verdicts: list[Verdict]) -> None:
        """Take down verdicts."""
        now = datetime.now(timezone.utc)
        self.verdicts |= {(verdict.table.full_name, verdict.check): (verdict, now) for verdict in verdicts}
        judging().look_at([_count(verdict, now) for verdict in verdicts])

    def set_aside(self, lake: Lake, offending: DataFrame) -> int:
        """Set rows aside.

        Args:
            lake: the lake.
            offending: table (name without its layer), check, and the row as JSON.

        Returns:
            Number of rows.
        """
        names = {verdict.table.name: name for (name, _), (verdict, _) in self.verdicts.items()}
        now = datetime.now(timezone.utc)
        rows = [
            (lake.cluster, self.run_id, names[row["table"]], row["check"], number, row["row"], now)
            for number, row in enumerate(offending.collect(), start=1)
        ]
        return lake.add(SET_ASIDE, _frame(lake, SET_ASIDE, rows)) if rows else 0

    @contextmanager
    def kept(self, lake: Lake, report: Report) -> Iterator[None]:
        """Do the work of a run, and keep what there is to say of it, however it ends.

        Args:
            lake: the lake.
            report: its steps.
        """
        with lake.file_errors(QUALITY):
            lake.create(QUALITY)
        try:
            yield
        except BaseException as error:
            why = " ".join(str(error).split()) or type(error).__name__
            try:
                self._keep(lake, report, exit_code_of(error), why)
            except Exception as another:  # noqa: BLE001 (what ended the run is what must be told)
                log.warning("the run could not be noted: %s", another)
            raise
        self._keep(lake, report, ExitCode.DONE, "")

    def _keep(self, lake: Lake, report: Report, exit_code: ExitCode, failure: str) -> None:
        """Write a commit to each table; that a run cannot be kept is no reason to end otherwise than it did."""
        try:
            with lake.brief(True), ThreadPoolExecutor(1) as threads:
                keeping = threads.submit(self._keep_verdicts, lake)
                lake.add(RUNS, _frame(lake, RUNS, [self._run(lake, report, exit_code, failure)]))
                keeping.result()
        except (RebalanceError, OSError) as error:
            log.warning("what there is to say of the run could not be kept whole: %s", error)

    def keep_verdicts(self, lake: Lake) -> None:
        """Keep and show the verdicts of the run so far, for pages that lead there; at its end they are kept anyway."""
        try:
            with lake.brief(True):
                self._keep_verdicts(lake)
        except (RebalanceError, OSError) as error:
            log.warning("the results of the checks could not be kept whole: %s", error)

    def _keep_verdicts(self, lake: Lake) -> None:
        """Have them judged, keep the results, and show them beside those of tables that the run had no rows for."""
        now = [_count(*self.verdicts[key]) for key in self.verdicts if key not in self._kept]
        if not now:
            return
        self._kept |= self.verdicts.keys()
        tables = {count.table for count in now}
        order = [spec.full_name for spec in TABLES]
        noted = lake.notes.get(_LATEST) or []
        known = [msgspec.convert(each, Count) for each in noted if each.keys() == set(Count.__struct_fields__)]
        before = [count for count in known if count.table in order and count.table not in tables]
        latest = sorted([*before, *now], key=lambda count: order.index(count.table))
        judgements = judging().judge(latest)
        if self.site:
            with storage_errors("the report's folder"):
                put_pages(self.site(), lake.cluster, latest, judgements)
        failed = {(table, check) for table, judgement in judgements.items() for check in judgement.failed}
        rows = [
            (lake.cluster, self.run_id, each.table, each.check, each.severity, (each.table, each.check) not in failed)
            + (each.failed_row_count, list(each.sample), datetime.fromisoformat(each.at))
            for each in now
        ]
        lake.add(RESULTS, _frame(lake, RESULTS, rows))
        lake.notes.put(_LATEST, msgspec.to_builtins(latest))

    def _run(self, lake: Lake, report: Report, exit_code: ExitCode, failure: str) -> tuple[Any, ...]:
        horizon = None if self.horizon_at is None else datetime.fromtimestamp(self.horizon_at / 1000, timezone.utc)
        steps = [_step(step) for step in report.steps]
        left_out = sum(step.left_out for step in report.steps)
        note = "; ".join([*([failure] if failure else []), *report.said]) or None
        ended = datetime.now(timezone.utc)
        outcome = (int(exit_code), steps, left_out, horizon, _version(), note)
        return (lake.cluster, self.run_id, self.started_at, ended, *outcome)


def _version() -> str:
    try:
        return importlib.metadata.version(_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:  # run from a folder that was never installed
        return "unknown"


def _count(verdict: Verdict, at: datetime) -> Count:
    severity = "critical" if verdict.is_critical else "warning"
    found = (verdict.failed_row_count, verdict.sample)
    return Count(verdict.table.full_name, verdict.check, verdict.meaning, severity, *found, at.isoformat())


def _step(step: Step) -> dict[str, Any]:
    """Return a step as `quality.runs` has it; what it read is known where all of that is kept, or counted."""
    rejected = step.written[REJECTED.full_name]
    raw = sum(step.written[spec.full_name] for spec in BRONZE)
    is_ingest = step.name.startswith("ingest_")
    read = raw + rejected + step.left_out if is_ingest else None
    named = {"name": step.name, "seconds": round(step.seconds, 3), "rows_read": read}
    return named | {"rows_written": step.written.total(), "rows_rejected": rejected}


def _frame(lake: Lake, spec: TableSpec, rows: list[tuple[Any, ...]]) -> DataFrame:
    """Return rows as a frame; each has a value for each column of the table, in its order."""
    assert spec.layer is Layer.QUALITY
    return given(lake.spark, struct_type(spec), (dict(zip(spec.columns, row, strict=True)) for row in rows))
