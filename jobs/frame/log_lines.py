"""Our own log lines: quiet and for people by default, or one JSON object a line (`logging.format = "json"`).

In JSON each step says when it begins and how it ended; what a job prints for people, such as the summary, stays on
standard output, and all lines are on standard error. An error that ends the run is a line as well, with its exit code.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console

from jobs.frame.report import Report

if TYPE_CHECKING:
    _StreamHandler = logging.StreamHandler[TextIO]
else:
    _StreamHandler = logging.StreamHandler  # cannot be subscripted before Python 3.11

_OURS = ("jobs", "transforms")
_FIELDS = "fields"

log = logging.getLogger(__name__)


def quiet() -> None:
    """Show warnings and errors alone, as text: until the settings are known, and if they want nothing else."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, JsonLines)]:
        root.removeHandler(handler)
    logging.getLogger(_OURS[0]).setLevel(logging.NOTSET)
    text = logging.StreamHandler()
    text.setLevel(logging.WARNING)  # Great Expectations sets its own loggers to INFO
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", handlers=[text])
    logging.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL)  # a JSON copy of each exception


def as_json(cluster: str) -> None:
    """Show all our lines, and warnings of others, as JSON."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if type(each) in (logging.StreamHandler, JsonLines)]:
        root.removeHandler(handler)
    root.addHandler(JsonLines(cluster))
    logging.getLogger(_OURS[0]).setLevel(logging.INFO)


def is_json() -> bool:
    """Tell whether lines are JSON."""
    return any(isinstance(handler, JsonLines) for handler in logging.getLogger().handlers)


def told(message: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log a line with fields of its own; those that are None are left out."""
    log.log(level, message, extra={_FIELDS: {name: value for name, value in fields.items() if value is not None}})


class JsonLines(_StreamHandler):
    """Writes each record as one JSON object, with the cluster's name.

    Args:
        cluster: the cluster.
    """

    def __init__(self, cluster: str) -> None:
        super().__init__(sys.stderr)
        self._cluster = cluster
        self.addFilter(lambda record: record.levelno >= logging.WARNING or record.name.partition(".")[0] in _OURS)

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON: at, level, logger, cluster, message, its own fields, and the traceback."""
        at = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        line = {
            "at": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "cluster": self._cluster,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info:
            line["exception"] = logging.Formatter().formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class JsonReport(Report):
    """A report whose steps and warnings are log lines.

    Args:
        on_stderr: what is printed for people goes to standard error, as standard output has the job's result.
    """

    def __init__(self, on_stderr: bool = False) -> None:
        super().__init__(Console(highlight=False, soft_wrap=True, stderr=on_stderr, force_terminal=False))

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Log that a step begins, and how it ended: seconds, rows written, remarks."""
        started, before = time.monotonic(), self.written.copy()
        told("step begins", step=title)
        self.console.quiet = True
        try:
            with super().step(title):
                self.console.quiet = False
                try:
                    yield
                finally:
                    self.console.quiet = True
        except BaseException:
            told("step failed", logging.ERROR, step=title, seconds=_since(started))
            raise
        finally:
            self.console.quiet = False
        written = dict(self.written - before)
        told("step done", step=title, seconds=_since(started), written=written, notes=self._of_step or None)

    def warn(self, text: str) -> None:
        """Log what the user should look at."""
        told(text, logging.WARNING)


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)
