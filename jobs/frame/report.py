"""What a job says while it works and when it is through.

On a terminal the current activity is a moving line; elsewhere each step is a plain line when it begins and one when
it ends, so that a log shows where a job stands.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape

from schemas.table import TableSpec
from transforms.foreign_text import printable

__all__ = ["Report", "printable"]


@dataclass(frozen=True)
class Step:
    """A step that is through, or failed.

    Attributes:
        name: its title.
        seconds: how long it took.
        written: rows that it wrote, by table.
        left_out: entries that it read and that no table has.
    """

    name: str
    seconds: float
    written: Counter[str]
    left_out: int = 0


class Report:
    """Progress on the console, and the count of the rows written.

    Attributes:
        console: where it is shown.
        written: rows written by table, over all steps so far.
        steps: the steps that are through, or failed.
        said: warnings so far.
        left_out: entries that were read and that no table has, so far.
    """

    def __init__(self, console: Console | None = None, on_stderr: bool = False) -> None:
        self.console = console or Console(highlight=False, soft_wrap=True, stderr=on_stderr, force_jupyter=False)
        self.written: Counter[str] = Counter()
        self.steps: list[Step] = []
        self.said: list[str] = []
        self.left_out = 0
        self._status = self.console.status("")
        self._title = ""
        self._of_step: list[str] = []

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Show that a step is under way, and when it is through how long it took and what it wrote."""
        started, before, left_out = time.monotonic(), self.written.copy(), self.left_out
        self._title, self._of_step = title, []
        if self.console.is_terminal:
            self._status = self.console.status(escape(title))
            self._status.start()
        else:
            self.console.print(f"… {title}")
        try:
            yield
        except BaseException:
            self._status.stop()
            self.console.print(f"✗ {title}")
            raise
        finally:
            seconds, written = time.monotonic() - started, self.written - before
            self.steps.append(Step(title, seconds, written, self.left_out - left_out))
        self._status.stop()
        details = ", ".join(self._of_step)
        self.console.print(f"✓ {title:<18} {self.steps[-1].seconds:5.1f} s  {escape(details)}".rstrip())

    def activity(self, text: str) -> None:
        """Say what the step is doing at the moment; seen on a terminal only."""
        self._status.update(f"{escape(self._title)}: {escape(text)} …")

    def note(self, text: str) -> None:
        """Add a remark to the line that the step ends with."""
        self._of_step.append(text)

    def warn(self, text: str) -> None:
        """Say at once what the user should look at, although the job goes on."""
        self.said.append(text)
        self.console.print(f"! {escape(text)}")

    def wrote(self, spec: TableSpec, rows: int) -> None:
        """Count rows written to a table."""
        if rows:
            self.written[spec.full_name] += rows
            self._of_step.append(f"{spec.name} +{rows:,}")

    def leave_out(self, entries: int) -> None:
        """Count entries that were read and that no table gets."""
        if entries:
            self.left_out += entries
            self._of_step.append(f"{entries:,} entries that tell nothing of groups left out")

    def say(self, text: str = "") -> None:
        """Print a line as it is."""
        self.console.print(text, markup=False)
