"""An entry of a log."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One entry of a log.

    Attributes:
        line_number: number of its first line in the file, from 1.
        logged_at: epoch milliseconds of its time stamp; None for text before the first time stamp of the file.
        text: its lines, joined by newlines. What was JSON, or of a pattern of its own, is here as Kafka's own layout
            prints it; what a collector wrapped, as it was before, with the collector's time if it had none.
    """

    line_number: int
    logged_at: int | None
    text: str
