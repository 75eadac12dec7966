"""The frame of every job: command line, settings, session, lake, and the exit code."""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from jobs.frame import log_lines
from jobs.frame.exit_codes import guarded
from jobs.frame.garbage import collect_rarely
from jobs.frame.keeping import at_hand, fetched, staged
from jobs.frame.log_lines import JsonReport
from jobs.frame.report import Report
from jobs.jvm.storage import Storage
from jobs.lake.lake import Lake
from jobs.lake.landing import Landing
from jobs.lake.new_files import NewFile
from jobs.quality.run_record import RunRecord
from jobs.session.brief_queries import FEW_BYTES, FEW_ROWS, MOST_INTERPRETED, queries
from jobs.session.jvm_end import told_if_the_jvm_ended
from jobs.session.packages import KAFKA
from jobs.session.spark_session import is_submitted, spark_session
from jobs.settings.command_line import Parser, parse
from jobs.settings.loading import load, require_paths, require_places
from jobs.settings.settings import Settings
from jobs.sources.extent import note_read, sizes_of, unread
from jobs.sources.tables_read import TablesRead
from schemas.catalog import ALL, TABLES
from schemas.table import TableSpec
from transforms.errors import QualityError
from transforms.given_rows import held, rows_held
from transforms.silver.hashing import with_hashes
from transforms.wanted_rows import Wanted

_WRITERS = 4
"""Tables that are written at the same time."""

_MOST_AT_HAND = 50_000
"""Rows that are kept in a plan."""


@dataclass(frozen=True)
class Job:
    """What a job works with.

    Attributes:
        settings: the settings.
        lake: the tables.
        report: progress and what was written.
        arguments: the job's own command line arguments.
        record: what there is to say of the run.
    """

    settings: Settings
    lake: Lake
    report: Report
    arguments: argparse.Namespace
    record: RunRecord = field(default_factory=RunRecord)

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self.lake.spark

    @contextmanager
    def brief(self, is_brief: bool) -> Iterator[None]:
        """Take what is looked at and written for little, or not: it is asked and kept in the way that suits it."""
        looked_through = set[TableSpec]()
        with queries(self.spark, is_brief) as compile_them:

            def before_look(spec: TableSpec) -> None:
                if spec in looked_through:  # counting rows may be a look, too
                    return
                looked_through.add(spec)
                if sum(self.lake.contents.row_counts([*looked_through]).values()) > MOST_INTERPRETED:
                    compile_them()

            with self.lake.brief(is_brief, before_look):
                yield

    def staged(self, rows: DataFrame) -> DataFrame:
        """Return rows as they are now, without the way they came about."""
        if rows_held(rows) is not None:
            return rows
        few = fetched(rows, _MOST_AT_HAND) if self.lake.is_brief else None
        return staged(rows) if few is None else held(self.spark, few, rows.schema.toNullable())

    def at_hand(self, rows: DataFrame, most: int) -> tuple[DataFrame, list[dict[str, Any]] | None]:
        """Return rows as they are now; if they are no more than `most`, as a list too."""
        return at_hand(rows, most, are_likely_few=self.lake.is_brief)

    def append(self, frames: Sequence[tuple[TableSpec, DataFrame]], at: datetime, are_new: bool = False) -> None:
        """Add new rows to tables, stamped with the start of the run, and report how many they were.

        Names of clients are hashed on the way into silver, if the settings want it.
        """
        pseudonyms = self.settings.privacy.pseudonyms()
        if pseudonyms is not None:
            frames = [(spec, with_hashes(spec, rows, pseudonyms)) for spec, rows in frames]
        self._write(frames, lambda spec, rows: self.lake.append(spec, rows, at, are_new))

    def landings(self, specs: Sequence[TableSpec], at: datetime) -> list[Landing]:
        """Return where processes of this machine can put files of rows for tables; none where they cannot for all.

        They can where Spark's workers are of this machine as well, the lake lies on its disk, and no name is hashed.
        """
        if not (self.spark.sparkContext.master or "").startswith("local"):
            return []
        if self.settings.privacy.pseudonyms() is not None:
            return []
        landings = [landing for spec in specs if (landing := self.lake.landing(spec, at))]
        return landings if len(landings) == len(specs) else []

    def add_files(self, landings: Sequence[Landing], files: Mapping[str, Sequence[NewFile]]) -> int:
        """Add files that processes of this machine wrote to tables, and report how many rows they have.

        Args:
            landings: the tables, and where the files were written.
            files: the files, by the name of the table.

        Returns:
            Number of rows added.
        """
        with ThreadPoolExecutor(_WRITERS) as threads:
            counts = list(threads.map(lambda each: self.lake.add_files(each, files.get(each.spec.name, ())), landings))
        for landing, count in zip(landings, counts, strict=True):
            self.report.wrote(landing.spec, count)
        return sum(counts)

    def append_aside(self, read: TablesRead, spec: TableSpec, at: datetime) -> None:
        """Add those rows that processes left to Spark, unique by key."""
        rows = read.rows_aside(self.spark, spec)
        if rows is not None:
            with self.brief(read.count_aside(spec) <= FEW_ROWS):
                self.append([(spec, rows.dropDuplicates([name for name in spec.key if name in rows.columns]))], at)

    def replace(
        self,
        frames: Sequence[tuple[TableSpec, DataFrame]],
        where: Mapping[TableSpec, str] | None = None,
        staying: Mapping[TableSpec, Wanted] | None = None,
        settling: str = "",
    ) -> None:
        """Replace this cluster's rows, those that a table's condition selects, and report how many were written.

        Args:
            frames: the rows by table.
            where: the conditions; of tables that have none, all rows are replaced.
            staying: which of the rows that they select stay nevertheless.
            settling: SQL condition of rows that are settled by now, of those that stay; empty = none is.
        """
        conditions, stay = where or {}, staying or {}
        self._write(
            frames,
            lambda spec, rows: self.lake.replace(spec, rows, conditions.get(spec, ""), stay.get(spec), settling),
        )

    def _write(
        self, frames: Sequence[tuple[TableSpec, DataFrame]], write: Callable[[TableSpec, DataFrame], int]
    ) -> None:
        """Write tables side by side: most of the time goes into the driver's work for each, not into the rows."""
        with ThreadPoolExecutor(_WRITERS) as threads:
            counts = list(threads.map(lambda frame: write(*frame), frames))
        for (spec, _), count in zip(frames, counts, strict=True):
            self.report.wrote(spec, count)


Body = Callable[[Job], None]
AddArguments = Callable[[argparse.ArgumentParser], None]
Check = Callable[[argparse.Namespace], object]
AtEnd = Callable[[Settings, float, int], None]
"""Told the settings, when the run began (epoch seconds), and its exit code."""


def execute(
    body: Body,
    description: str,
    argv: Sequence[str] | None = None,
    sections: tuple[str, ...] = (),
    add_arguments: AddArguments | None = None,
    check: Check | None = None,
    step: str = "",
    writes: bool = True,
    at_end: AtEnd | None = None,
) -> int:
    """Run a job as a process does.

    Args:
        body: the job itself.
        description: what `--help` says.
        argv: command line without the program; None = that of the process.
        sections: sections of the settings (`offsets`, `logs`) whose paths the job reads; checked before Spark starts.
        add_arguments: adds the job's own arguments.
        check: refuses arguments that do not go together, before Spark starts.
        step: name of the one step that the job is; empty if it reports its steps itself.
        writes: the job writes tables, so that no other one may at the same time.
        at_end: called when the run has ended, however it did, if its settings could be read.

    Returns:
        The exit code.
    """
    started_at, read = time.time(), list[Settings]()

    def frame() -> int:
        log_lines.quiet()
        collect_rarely()
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # what a terminal or a file cannot show ends no run
        parser = Parser(description=description.splitlines()[0], allow_abbrev=False)
        parser.add_argument("--settings", type=Path, metavar="FILE", help="TOML file with the settings")
        if add_arguments is not None:
            add_arguments(parser)
        arguments, given = parse(parser, argv)
        settings = load(arguments.settings, given)
        if at_end is not None:
            require_places(settings)
            read.append(settings)
        if settings.logging.format == "json":
            log_lines.as_json(settings.cluster)
        require_paths(settings, sections)
        if check is not None:
            check(arguments)
        with told_if_the_jvm_ended():
            _run(body, settings, arguments, sections, step, writes)
        return 0

    code = guarded(frame)
    return _told(at_end, read[0], started_at, code) if at_end is not None and read else code


def _told(at_end: AtEnd, settings: Settings, started_at: float, code: int) -> int:
    """Tell how the run ended; return its exit code, or if it was done that of the telling."""

    def tell() -> int:
        at_end(settings, started_at, code)
        return 0

    of_telling = guarded(tell)
    return code or of_telling


def _run(
    body: Body, settings: Settings, arguments: argparse.Namespace, sections: tuple[str, ...], step: str, writes: bool
) -> None:
    """Start what is needed, and run the job."""
    on_stderr = getattr(arguments, "json", False)
    report = JsonReport(on_stderr) if log_lines.is_json() else Report(on_stderr=on_stderr)
    is_ours = SparkSession.getActiveSession() is None
    with report.step("start Spark"):
        needs_kafka = "offsets" in sections and settings.offsets.kind == "kafka"
        is_to_start = is_ours and not is_submitted()  # else the JVM is there already
        sizes = sizes_of(settings, sections) if is_to_start else None
        is_little = sizes is not None and unread(settings, sizes) <= FEW_BYTES
        spark = spark_session(settings.spark, packages=[KAFKA] if needs_kafka else [], is_little=is_little)
    try:
        lake = Lake(spark, settings.lake.root, settings.lake.database, settings.cluster)
        lake.open()
        site = Storage(spark, settings.report.folder(settings.lake.root)).files
        job = Job(settings, lake, report, arguments, RunRecord(site=site))
        with (
            job.record.kept(lake, report) if writes else nullcontext(),
            lake.held(settings.lake.lock_wait_s) if writes else nullcontext(),
        ):
            try:
                with report.step(step) if step else nullcontext(), lake.file_errors(ALL):
                    body(job)
            except QualityError:
                lake.contents.keep()  # the rows may be bad; what is known of them is right
                raise
            if writes:
                if report.written:
                    lake.tidy_in_passing(ALL)
                lake.contents.keep()
                lake.register(TABLES)
                note_read(sizes or {}, lake.notes)
    finally:
        if is_ours:
            spark.stop()
