"""Prints a group as a broker would have described it at a moment, why it last rebalanced, and what is amiss."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from rich.text import Text

from jobs.describing.groups import no_such_group
from jobs.describing.reading import Asked, offset_use_of, standing_of
from jobs.frame.group_names import parse_group
from jobs.frame.job import Job, execute
from jobs.frame.moments import parse_moment
from jobs.frame.report import printable
from jobs.lake.rows import collected
from schemas.tables.gold import (
    ASSIGNMENTS,
    GENERATIONS,
    GROUP_HEALTH,
    ILLEGAL_GENERATION_BURSTS,
    MEMBER_SESSIONS,
    REBALANCE_STORMS,
    SLOW_REVOKERS,
    TRANSITIONS,
)
from schemas.tables.silver import OFFSET_COMMITS
from transforms.errors import SettingsError
from transforms.findings.description.document import document
from transforms.findings.description.lines import lines
from transforms.gold.as_of import findings_at, last_rebalance_at, members_at, state_at

_LABEL_WIDTH = 12


def run(job: Job) -> None:
    """Print the group, as text or as JSON.

    Raises:
        SettingsError: nothing is known of the group up to that moment.
    """
    told = _described(job, job.arguments.group, job.arguments.at)
    if job.arguments.json:
        sys.stdout.write(json.dumps(told, allow_nan=False) + "\n")
        return
    for label, text in lines(told):
        job.report.console.print(Text.assemble((label.ljust(_LABEL_WIDTH), "bold"), text))


def _described(job: Job, group_id: str, given: datetime | None) -> dict[str, Any]:
    read = job.lake.read
    at = F.current_timestamp() if given is None else F.timestamp_micros(F.lit(round(given.timestamp() * 1_000_000)))
    health = collected(read(GROUP_HEALTH).where(F.col("group_id") == group_id).limit(1))
    states = collected(state_at(read(TRANSITIONS), read(GENERATIONS), group_id, at))
    shown_at = given.timestamp() * 1000 if given else health[0]["at"] if health else None
    state: Mapping[str, Any] = states[0] if states else _without_members(job, group_id, given, at)
    members: list[dict[str, Any]] = []
    if states:
        there = members_at(read(MEMBER_SESSIONS), read(ASSIGNMENTS), group_id, state["life"], at)
        members = collected(there.orderBy("client_id", "member_id"))
    asked = Asked(read, group_id, at, float("inf") if given is None else given.timestamp() * 1000)
    group_type = state.get("group_type") or (health[0]["group_type"] if health else None)
    rebalances = collected(last_rebalance_at(read(GENERATIONS), group_id, at))
    return document(
        job.settings.cluster,
        group_id,
        shown_at,
        {**state, "group_type": group_type},
        members,
        rebalances[0] if rebalances else None,
        collected(findings_at(read(REBALANCE_STORMS), group_id, at)),
        collected(findings_at(read(ILLEGAL_GENERATION_BURSTS), group_id, at)),
        standing_of(asked, state, members),
        offset_use_of(asked, group_type),
        collected(findings_at(read(SLOW_REVOKERS), group_id, at)),
    )


def _without_members(job: Job, group_id: str, given: datetime | None, at: Column) -> dict[str, Any]:
    """Return the state of a group that has but offsets: to its coordinator it is Empty.

    Raises:
        SettingsError: it has none either, up to that moment; the message says when it was first seen, or which groups
            have a name like it.
    """
    commits = job.lake.read(OFFSET_COMMITS).where((F.col("group_id") == group_id) & (F.col("recorded_at") <= at))
    if not commits.limit(1).isEmpty():
        return {"state": "Empty"}
    name = printable(group_id)
    first = _first_seen(job, group_id) if given is not None else None
    if given is not None and first is not None:
        seen = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=first)
        until, since = (f"{moment:%Y-%m-%d %H:%M:%S}" for moment in (given.astimezone(timezone.utc), seen))
        raise SettingsError(f"nothing is known of group {name} up to {until}: it is first seen at {since} (UTC)")
    raise no_such_group(job, group_id)


def _first_seen(job: Job, group_id: str) -> float | None:
    """Return the first moment that is known of a group (epoch ms)."""
    moments = (job.lake.read(TRANSITIONS), "at"), (job.lake.read(OFFSET_COMMITS), "recorded_at")
    both = [rows.where(F.col("group_id") == group_id).select(F.col(name).alias("at")) for rows, name in moments]
    first: float | None = collected(both[0].unionByName(both[1]).agg(F.min("at").alias("at")))[0]["at"]
    return first


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument("--group", type=parse_group, required=True, help="the group")
    parser.add_argument("--at", type=parse_moment, metavar="TIME", help="ISO 8601 in UTC, or epoch ms; default: now")
    parser.add_argument("--json", action="store_true", help="print JSON, and progress on standard error")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, add_arguments=add_arguments, writes=False)


if __name__ == "__main__":
    sys.exit(main())
