"""Tells what a group's history would have been with other settings, or with static membership; changes no table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType
from rich.table import Table

from jobs.describing.groups import is_known, no_such_group
from jobs.frame.group_names import parse_group
from jobs.frame.job import Job, execute
from jobs.frame.moments import parse_moment
from jobs.frame.report import printable
from schemas.rows import AssignmentRow, CoordinatorEventRow, GenerationMemberRow, GenerationRow, MemberSessionRow
from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, GENERATION_MEMBERS, GENERATIONS, MEMBER_SESSIONS
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_REQUESTS
from transforms.coordinator.evidence.brokers import BROKER_EVENTS
from transforms.errors import SettingsError
from transforms.gold.rebalances import begun_at
from transforms.whatif.change import NAMES, Change, change_of
from transforms.whatif.epochs import not_to_be_asked
from transforms.whatif.evidence import APIS, Asked, Evidence, evidence
from transforms.whatif.figures import Window
from transforms.whatif.outcome import answer

IS_CLASSIC = "coalesce(group_type, 'classic') = 'classic'"
"""Tells of a row of `gold.generations` that it is a generation, and no epoch."""

MOST_ROWS = 1_000_000
"""Rows of one table that the driver takes in: about a day of heartbeats of forty members."""


def run(job: Job) -> None:
    """Print what would have been.

    Raises:
        SettingsError: nothing is known of the group in that time, or too much, or only epochs, which cannot be
            foretold; or the broker would refuse the change.
    """
    arguments = job.arguments
    change = _change(arguments)
    known = _evidence(job, arguments.group, arguments.begin, arguments.end)
    if not known.generations:
        epochs = _epochs(job, arguments.group, arguments.begin, arguments.end)
        if not epochs and not is_known(job, arguments.group):
            raise no_such_group(job, arguments.group)
        raise not_to_be_asked(arguments.group, job.settings.cluster, change, epochs)
    found = answer(known, change, _window(known, arguments.begin, arguments.end))
    if arguments.json:
        sys.stdout.write(json.dumps({"cluster": job.settings.cluster, "group_id": arguments.group, **found}) + "\n")
    else:
        _show(job, change, found)


def _change(arguments: argparse.Namespace) -> Change:
    """Return the change that is asked about.

    Raises:
        SettingsError: there is none, or one that cannot be asked about, or the time ends before it begins.
    """
    if arguments.begin is not None and arguments.end is not None and arguments.begin >= arguments.end:
        raise SettingsError("--from must lie before --to")
    return change_of(arguments.set, arguments.static)


def _window(known: Evidence, begin: datetime | None, end: datetime | None) -> Window:
    begins_at = known.begins_at if begin is None else begin.timestamp() * 1000
    ends_at = known.ends_at + 1.0 if end is None else end.timestamp() * 1000
    return Window(begins_at, ends_at)


# --- what is read --------------------------------------------------------------------------------------------------


def _evidence(job: Job, group_id: str, begin: datetime | None, end: datetime | None) -> Evidence:
    """Collect the rows of one group."""

    def of_group(spec: TableSpec) -> DataFrame:
        return job.lake.read(spec).where(F.col("group_id") == group_id)

    since, until = F.lit(begin), F.lit(end)
    generations = _generations(job, group_id, begin, end).where(IS_CLASSIC)
    of_these = generations.select("life", "generation")
    requests = of_group(GROUP_REQUESTS).where(F.col("api").isin(*sorted(APIS)))
    events = job.lake.read(COORDINATOR_EVENTS)
    events = events.where((F.col("group_id") == group_id) | F.col("event").isin(*sorted(BROKER_EVENTS)))
    return evidence(
        _rows(generations, GenerationRow),
        _rows(of_group(GENERATION_MEMBERS).join(of_these, ["life", "generation"], "left_semi"), GenerationMemberRow),
        _rows(of_group(ASSIGNMENTS).join(of_these, ["life", "generation"], "left_semi"), AssignmentRow),
        _rows(
            of_group(MEMBER_SESSIONS).where(_overlaps(F.col("joined_at"), F.col("ended_at"), since, until)),
            MemberSessionRow,
        ),
        _rows(requests.where(_overlaps(F.col("answered_at"), F.col("answered_at"), since, until)), Asked),
        _rows(events, CoordinatorEventRow),
    )


def _generations(job: Job, group_id: str, begin: datetime | None, end: datetime | None) -> DataFrame:
    """Generations and epochs of the group in the time asked about."""
    rows = job.lake.read(GENERATIONS).where(F.col("group_id") == group_id)
    return rows.where(_overlaps(begun_at(), F.col("ended_at"), F.lit(begin), F.lit(end)))


def _epochs(job: Job, group_id: str, begin: datetime | None, end: datetime | None) -> dict[str, dict[str, int]]:
    """Count the group's epochs in the time asked about, by its type and their cause."""
    epochs = _generations(job, group_id, begin, end).where(f"NOT {IS_CLASSIC}")
    counted = epochs.groupBy("group_type", F.coalesce("trigger", F.lit("unknown")).alias("trigger")).count()
    found: dict[str, dict[str, int]] = {}
    for row in counted.collect():
        found.setdefault(row["group_type"], {})[row["trigger"]] = row["count"]
    return found


def _overlaps(begins: Column, ends: Column, since: Column, until: Column) -> Column:
    """Whether a stretch lies in part within the time asked about; an end that is not known is open."""
    is_late_enough = since.isNull() | ends.isNull() | (ends >= since)
    return is_late_enough & (until.isNull() | begins.isNull() | (begins < until))


def _rows(frame: DataFrame, row_type: type[Any]) -> list[Mapping[str, Any]]:
    """Collect the columns that a row type has, moments as epoch ms."""
    times = {each.name for each in frame.schema.fields if isinstance(each.dataType, TimestampType)}
    wanted = [name for name in row_type.__struct_fields__ if name in frame.columns]
    columns = [(F.unix_micros(name) / 1000).alias(name) if name in times else F.col(name) for name in wanted]
    rows = frame.select(*columns).limit(MOST_ROWS + 1).collect()
    if len(rows) > MOST_ROWS:
        raise SettingsError(f"the group has more than {MOST_ROWS:,} rows of one kind: narrow it with --from and --to")
    return [row.asDict(recursive=True) for row in rows]


# --- what is shown -------------------------------------------------------------------------------------------------


def _show(job: Job, change: Change, found: Mapping[str, Any]) -> None:
    job.report.say(f"group {printable(job.arguments.group)}: {_in_words(change)}")
    table = Table("", "observed", "predicted")
    for label, name in (("rebalances", "rebalances"), ("unstable, s", "unstable_ms")):
        scale = 1000 if name == "unstable_ms" else 1
        low, high = (_number(found[f"{name}_predicted_{end}"], scale) for end in ("low", "high"))
        is_open = found[f"{name}_predicted_low"] is not None and found[f"{name}_predicted_high"] is None
        predicted = low if low == high else f"{low} to {high}"
        predicted = f"{low} or more" if is_open else predicted
        table.add_row(label, _number(found[f"{name}_observed"], scale), predicted)
    moved = "partitions_moved"
    table.add_row("partitions moved", _number(found[f"{moved}_observed"]), _number(found[f"{moved}_predicted"]))
    if "pauses_observed" in found:
        for label, name, scale in (("pauses", "pauses", 1), ("pauses, s", "pause_ms", 1000)):
            less = found[f"{name}_avoided"]
            said = _number(less, scale) if less is None else f"{_number(less, scale)} less"
            table.add_row(label, _number(found[f"{name}_observed"], scale), said)
    job.report.console.print(table)
    job.report.say(f"price: {printable(found['price']['text'])}")
    job.report.say(f"from {found['from']} to {found['to']}; evidence: {found['evidence']}")
    for note in found["notes"]:
        job.report.say(f"note: {note}")


def _number(value: float | None, scale: int = 1) -> str:
    if value is None:
        return "not known"
    return f"{value:,}" if scale == 1 else f"{value / scale:,.1f}"


def _in_words(change: Change) -> str:
    named = {
        "session.timeout.ms": change.session_timeout_ms,
        "max.poll.interval.ms": change.max_poll_interval_ms,
        "group.initial.rebalance.delay.ms": change.initial_delay_ms,
        "partition.assignment.strategy": change.strategy,
        "group.protocol": change.protocol,
    }
    words = [f"{name}={value}" for name, value in named.items() if value is not None]
    return ", ".join([*words, "static membership"] if change.is_static else words)


def _setting(text: str) -> str:
    try:
        change_of([text])
    except SettingsError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument("--group", type=parse_group, required=True, help="the group")
    parser.add_argument(
        "--set",
        type=_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"one of {NAMES}; may be repeated",
    )
    parser.add_argument("--static", action="store_true", help="every process has a group.instance.id of its own")
    parser.add_argument("--from", dest="begin", type=parse_moment, metavar="TIME", help="ISO 8601 in UTC, or epoch ms")
    parser.add_argument("--to", dest="end", type=parse_moment, metavar="TIME", help="likewise; default: to the end")
    parser.add_argument("--json", action="store_true", help="print JSON, and progress on standard error")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, add_arguments=add_arguments, check=_change, writes=False)


if __name__ == "__main__":
    sys.exit(main())
