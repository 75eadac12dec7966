"""A finding as one line of JSON: what it is, its id, whether it is new, and all columns of its table.

Only ASCII is written: every other character stands as JSON's own escape, so that a reader gets the very text that Kafka
had, and a terminal that shows the file obeys nothing in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from schemas.types import TIMESTAMP
from transforms.findings.handover.kinds import Kind

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def moment(ms: float | None) -> str | None:
    """Return a moment (epoch ms) as ISO 8601 in UTC, to the millisecond; null for one that no calendar has."""
    if ms is None or not math.isfinite(ms):
        return None
    try:
        at = _EPOCH + timedelta(milliseconds=math.floor(ms))
    except OverflowError:
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line(kind: Kind, row: Mapping[str, Any], finding_id: str, is_new: bool, first_seen_at: float) -> str:
    """Return a finding as one line, without its end.

    Args:
        kind: its kind.
        row: columns of its table; moments in epoch ms.
        finding_id: its id.
        is_new: the run saw it first.
        first_seen_at: start of the run that did (epoch ms).
    """
    told = {
        "finding_kind": kind.name,
        "finding_id": finding_id,
        "is_new": is_new,
        "first_seen_at": moment(first_seen_at),
    }
    return json.dumps({**told, **columns(kind, row)}, allow_nan=False)


def columns(kind: Kind, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a finding as JSON has them."""
    return {
        name: moment(row[name]) if kind.spec.column(name).data_type is TIMESTAMP else _plain(row[name])
        for name in kind.spec.columns
    }


def _plain(value: Any) -> Any:
    """JSON has no word for what is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
