"""What clients note of their requests: the lines of a capture's `truth.jsonl`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

DECIMALS = 6


class Notes:
    """Lines of JSON, one for each request and its answer, written as they come."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")

    def note(self, api: str, began: float, ended: float | None = None, **said: Any) -> None:
        """Write a line.

        Args:
            api: name of the API, or `_name` of what is no request.
            began: when it was sent, in seconds since the epoch.
            ended: when it was answered.
            said: what was sent and answered.
        """
        line = {"api": api, "t0": round(began, DECIMALS), **said}
        if ended is not None:
            line["t1"] = round(ended, DECIMALS)
        self._file.write(json.dumps(line, sort_keys=True) + "\n")

    def close(self) -> None:
        """Note that all is done, and close the file."""
        self.note("_done", time.time())
        self._file.close()
