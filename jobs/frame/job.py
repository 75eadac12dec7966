"""The frame of every job: command line, settings, session, lake, and the exit code."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from pyspark.sql import DataFrame, SparkSession

from jobs.frame.exit_codes import guarded
from jobs.frame.report import Report
from jobs.lake.increments import stamped
from jobs.lake.lake import Lake
from jobs.session.spark_session import KAFKA, spark_session
from jobs.settings.settings import OPEN, Settings, keys, load, require_paths
from schemas.table import TableSpec
from transforms.errors import SettingsError

_WRITERS = 4
"""Tables that are written at the same time."""


@dataclass(frozen=True)
class Job:
    """What a job works with.

    Attributes:
        settings: the settings.
        lake: the tables.
        report: progress and what was written.
        arguments: the job's own command line arguments.
    """

    settings: Settings
    lake: Lake
    report: Report
    arguments: argparse.Namespace

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self.lake.spark

    def append(self, frames: Sequence[tuple[TableSpec, DataFrame]], at: datetime) -> None:
        """Add new rows to tables, stamped with the start of the run, and report how many they were."""
        counts = self._write([(spec, stamped(spec, rows, at)) for spec, rows in frames], self.lake.append_new)
        for (spec, _), count in zip(frames, counts, strict=True):
            if count:
                self.lake.note_load(spec, at)

    def replace(self, frames: Sequence[tuple[TableSpec, DataFrame]], where: str = "") -> None:
        """Replace this cluster's rows that a condition selects, and report how many there are now."""
        self._write(frames, lambda spec, rows: self.lake.replace(spec, rows, where))

    def _write(
        self, frames: Sequence[tuple[TableSpec, DataFrame]], write: Callable[[TableSpec, DataFrame], int]
    ) -> list[int]:
        """Write tables side by side: most of the time goes into the driver's work for each, not into the rows."""
        with ThreadPoolExecutor(_WRITERS) as threads:
            counts = list(threads.map(lambda frame: write(*frame), frames))
        for (spec, _), count in zip(frames, counts, strict=True):
            self.report.wrote(spec, count)
        return counts


Body = Callable[[Job], None]
AddArguments = Callable[[argparse.ArgumentParser], None]


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are settings errors: one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        raise SettingsError(message)


def execute(
    body: Body,
    description: str,
    argv: Sequence[str] | None = None,
    sections: tuple[str, ...] = (),
    add_arguments: AddArguments | None = None,
    step: str = "",
) -> int:
    """Run a job as a process does.

    Args:
        body: the job itself.
        description: what `--help` says.
        argv: command line without the program; None = that of the process.
        sections: sections of the settings (`offsets`, `logs`) whose paths the job reads; checked before Spark starts.
        add_arguments: adds the job's own arguments.
        step: name of the one step that the job is; empty if it reports its steps itself.

    Returns:
        The exit code.
    """

    def frame() -> int:
        handler = logging.StreamHandler()
        handler.setLevel(logging.WARNING)  # Great Expectations sets its own loggers to INFO
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", handlers=[handler])
        logging.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL)  # a JSON copy of each exception
        parser = _parser(description)
        if add_arguments is not None:
            add_arguments(parser)
        arguments, rest = parser.parse_known_args(argv)
        _run(body, arguments, _open_keys(rest), sections, step)
        return 0

    return guarded(frame)


def _run(
    body: Body, arguments: argparse.Namespace, overrides: dict[str, str], sections: tuple[str, ...], step: str
) -> None:
    """Read the settings, start what is needed, and run the job."""
    overrides |= {key: value for key, _ in keys() if (value := getattr(arguments, key, None)) is not None}
    settings = load(arguments.settings, overrides)
    require_paths(settings, sections)
    report = Report()
    is_ours = SparkSession.getActiveSession() is None
    with report.step("start Spark"):
        needs_kafka = "offsets" in sections and settings.offsets.kind == "kafka"
        spark = spark_session(settings.spark, packages=[KAFKA] if needs_kafka else [])
        lake = Lake(spark, settings.lake.root, settings.lake.database, settings.cluster)
        lake.open()
    try:
        with report.step(step) if step else nullcontext():
            body(Job(settings, lake, report, arguments))
    finally:
        if is_ours:
            spark.stop()


def _open_keys(arguments: Sequence[str]) -> dict[str, str]:
    """Read what is left of the command line: `--key=value` of the keys that are not known by name."""
    found = {}
    for argument in arguments:
        key, is_pair, value = argument.removeprefix("--").partition("=")
        if not (is_pair and argument.startswith(f"--{OPEN}")):
            raise SettingsError(f"unrecognized argument {argument.partition('=')[0]}")
        found[key] = value
    return found


def _parser(description: str) -> argparse.ArgumentParser:
    parser = _Parser(description=description.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--settings", type=Path, metavar="FILE", help="TOML file with the settings")
    for key, meaning in keys():
        if f"{key}." == OPEN:
            parser.epilog = f"--{OPEN}NAME=VALUE: {meaning}; secrets from the environment only"
            continue
        parser.add_argument(f"--{key}", dest=key, metavar="VALUE", help=meaning.replace("%", "%%"))
    return parser
