"""Keeps what Spark's launcher prints at its start off the console, and lets through whatever the JVM says later.

Ivy's resolution report goes straight to the standard error that the JVM inherits, past any logging configuration. So
the JVM is born with a pipe for standard error, which is held back until the session is up and copied from then on.
"""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType

_KEPT_CHARACTERS = 100_000


class StartupNoise:
    """Context manager around the start of the JVM; does nothing harmful where none is started."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._is_passing = threading.Event()
        self._saved = -1

    def __enter__(self) -> StartupNoise:
        sys.stderr.flush()
        self._saved = os.dup(2)
        reader, writer = os.pipe()
        os.dup2(writer, 2)
        os.close(writer)
        threading.Thread(target=self._pump, args=(reader,), daemon=True, name="jvm-stderr").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.stderr.flush()
        os.dup2(self._saved, 2)
        os.close(self._saved)
        self._is_passing.set()

    def text(self) -> str:
        """Return what was held back."""
        return "".join(self._lines)[-_KEPT_CHARACTERS:]

    def _pump(self, reader: int) -> None:
        with os.fdopen(reader, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if self._is_passing.is_set():
                    sys.stderr.write(line)
                else:
                    self._lines.append(line)
