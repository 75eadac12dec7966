"""The time that a run stamps its rows with: later than that of all rows before, whatever the machine's clock says."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone

from transforms.loads import APART, EPOCH


def next_load(newest: Iterable[str | None]) -> datetime:
    """Return the time for the rows of a run: now, in whole milliseconds, but later than loads that are there already.

    A clock that was set back must not make rows older than what later steps have read already.

    Args:
        newest: greatest `loaded_at` of tables, as `iso` writes it; None for one without rows.
    """
    known = [datetime.fromisoformat(at) for at in newest if at is not None]
    now = datetime.now(timezone.utc)
    now = now.replace(microsecond=now.microsecond // 1000 * 1000)
    return max([now, *(at + APART for at in known)])


def iso(at: datetime) -> str:
    """Write a time as notes have it: ISO 8601 to the microsecond."""
    return at.isoformat(timespec="microseconds")


def iso_of_micros(micros: int | None) -> str | None:
    """Write microseconds of the epoch as a time in UTC."""
    return None if micros is None else iso(EPOCH + timedelta(microseconds=micros))
