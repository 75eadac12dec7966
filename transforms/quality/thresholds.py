"""From when on shares, silences and clocks break a law."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone
from typing import Any

_NAME = re.compile(r":([a-z_]+)")
_LENGTHS = ("clock_slack", "silence")
"""Of time; all others are plain numbers, but for the moment."""


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """What laws name with a colon before it.

    Attributes:
        now: the moment of the run.
        clock_slack: how far clocks may lie apart, in milliseconds.
        silence: how long a source may be silent while others speak, in milliseconds.
        min_agreement: share of the predicted requests that must have been answered so.
        few_requests: disagreements that are too few to judge a share by.
        max_rejected_share: share of what was read that may be rejected.
        few_rejected: rejected things that are too few to judge a share by.
        left_out: entries of logs that were read as well, and that no table has.
        max_unrecognised_share: share of a coordinator's lines that may be of an unknown kind.
        few_lines: unknown lines that are too few to judge a share by.
    """

    now: datetime
    clock_slack: int = 300_000
    silence: int = 3_600_000
    min_agreement: float = 0.95
    few_requests: int = 20
    max_rejected_share: float = 0.01
    few_rejected: int = 10
    left_out: int = 0
    max_unrecognised_share: float = 0.05
    few_lines: int = 10

    def named_in(self, query: str) -> dict[str, Any]:
        """Return the values that a query names, for who takes them beside it."""
        return {name: self._value(name) for name in set(_NAME.findall(query))}

    def put_into(self, query: str) -> str:
        """Put the values where a query names them."""
        values = {field.name: self._sql(field.name) for field in fields(self)}
        return _NAME.sub(lambda match: values[match[1]], query)

    def _value(self, name: str) -> datetime | timedelta | float:
        value: datetime | float = getattr(self, name)
        return timedelta(milliseconds=value) if name in _LENGTHS and not isinstance(value, datetime) else value

    def _sql(self, name: str) -> str:
        value = self._value(name)
        if isinstance(value, datetime):
            return f"TIMESTAMP '{value.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S.%f}+00:00'"
        if isinstance(value, timedelta):
            return f"INTERVAL '{value.total_seconds():f}' SECOND"
        return repr(value)
