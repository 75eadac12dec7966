"""Prints a group as DescribeGroups would have shown it at a moment."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import Column
from pyspark.sql import functions as F

from jobs.frame.job import Job, execute
from jobs.frame.moments import parse_moment
from schemas.tables.gold import ASSIGNMENTS, GENERATIONS, MEMBER_SESSIONS, TRANSITIONS
from transforms.errors import SettingsError
from transforms.gold.as_of import members_at, state_at

_TIME = "yyyy-MM-dd HH:mm:ss.SSS"


def run(job: Job) -> None:
    """Print state, generation, protocol and members.

    Raises:
        SettingsError: nothing is known of the group up to that moment.
    """
    group_id, at = job.arguments.group, _moment(job.arguments.at)
    found = state_at(job.lake.read(TRANSITIONS), job.lake.read(GENERATIONS), group_id, at)
    states = found.withColumn("since", F.date_format("since", _TIME)).collect()
    if not states:
        when = f" up to {job.arguments.at:%Y-%m-%d %H:%M:%S.%f} UTC" if job.arguments.at else ""
        raise SettingsError(f"nothing is known of group {group_id}{when} in cluster {job.settings.cluster}")
    state = states[0]
    members = members_at(job.lake.read(MEMBER_SESSIONS), job.lake.read(ASSIGNMENTS), group_id, state.life, at)
    job.report.say(f"group       {group_id}")
    job.report.say(f"state       {state.state}, since {state.since or 'not known'}")
    job.report.say(f"generation  {state.generation} of life {state.life}")
    job.report.say(f"protocol    {state.protocol or 'none'} ({state.protocol_type or 'no type'})")
    rows = members.orderBy("client_id", "member_id").collect()
    job.report.say(f"members     {len(rows) or 'none'}")
    for row in rows:
        job.report.say(f"  {row.member_id}{' (leader)' if row.member_id == state.leader_member_id else ''}")
        instance = f", instance {row.group_instance_id}" if row.group_instance_id else ""
        job.report.say(f"    client {row.client_id or 'not known'} at {row.client_host or 'not known'}{instance}")
        job.report.say(f"    owns {' '.join(row.partitions) or 'nothing'}")


def _moment(at: datetime | None) -> Column:
    if at is None:
        return F.current_timestamp()
    return F.timestamp_micros(F.lit(round(at.timestamp() * 1_000_000)))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument("--group", required=True, help="the group")
    parser.add_argument("--at", type=parse_moment, metavar="TIME", help="ISO 8601 in UTC, or epoch ms; default: now")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, add_arguments=add_arguments, writes=False)


if __name__ == "__main__":
    sys.exit(main())
