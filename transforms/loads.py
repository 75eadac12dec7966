"""Rows by the run that loaded them: `loaded_at` of those that it added is its start, later than all rows before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from transforms.wanted_rows import Wanted

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def micros_of(text: str) -> int:
    """Return a time, in ISO 8601 with its offset, in microseconds of the epoch."""
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


def loaded_after(load: str | None, groups: Sequence[str] | None = None) -> Wanted:
    """Return which rows came after a load.

    Args:
        load: `loaded_at` of the newest rows that are known, ISO 8601 in UTC; None = none are.
        groups: the groups; None = all.
    """
    return Wanted(groups, {} if load is None else {"loaded_at": micros_of(load) + 1})
