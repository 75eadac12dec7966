"""Rows by the run that loaded them: `loaded_at` of those that it added is its start, later than all rows before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from transforms.wanted_rows import Wanted

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

APART = timedelta(milliseconds=1)
"""So much later than the load before is each, at least: statistics of files tell their moments to the millisecond."""


def loaded_after(load: str | None, groups: Sequence[str] | None = None) -> Wanted:
    """Return which rows came after a load.

    Args:
        load: `loaded_at` of the newest rows that are known, ISO 8601 in UTC; None = none are.
        groups: the groups; None = all.
    """
    if load is None:
        return Wanted(groups)
    since = datetime.fromisoformat(load) + APART
    return Wanted(groups, {"loaded_at": (since - EPOCH) // timedelta(microseconds=1)})
