"""Holds the tables of a pure replay to the laws of the quality gate: without Spark, without a lake."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pyarrow as pa

from jobs.quality.by_duckdb import ask
from jobs.quality.verdicts import SOURCES
from schemas.catalog import BY_NAME
from tests.support.frames import to_arrow
from transforms.quality.laws.all_laws import LAWS
from transforms.quality.statements import found
from transforms.quality.thresholds import Thresholds

Tables = dict[str, list[dict[str, Any]]]

READ = tuple(dict.fromkeys(name for law in LAWS for name in law.reads if name != SOURCES))
"""Tables that laws read."""

_NO_SOURCES = pa.schema([("cluster", pa.string()), ("source", pa.string()), ("newest_at", pa.timestamp("us", "UTC"))])
_CRITICAL = {law.name for law in LAWS if law.is_critical}


def critical_laws_broken(tables: Tables) -> dict[str, str]:
    """Return the laws that are broken and would keep a batch from being published, each with a row that breaks it.

    Args:
        tables: rows by table, moments as epoch ms; a table that is not there has no row.
    """
    rows = {name: to_arrow(BY_NAME[name], tables.get(name, [])) for name in READ}
    rows[SOURCES] = _NO_SOURCES.empty_table()
    broken = ask([found([], LAWS)], rows, Thresholds(now=datetime.now(timezone.utc)))
    return {row["check"]: row["sample"][0] for row in broken if row["check"] in _CRITICAL}
