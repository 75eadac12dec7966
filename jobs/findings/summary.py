"""What a run of the pipeline ends with: the tables, the findings, and how far the replay can be trusted."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from rich.table import Table

from jobs.frame.job import Job
from jobs.lake.rows import fetched
from schemas.catalog import TABLES
from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import (
    ILLEGAL_GENERATION_BURSTS,
    ORPHANED_PARTITIONS,
    REBALANCE_STORMS,
    SLOW_REVOKERS,
)
from transforms.findings.evidence import are_of_epochs
from transforms.findings.sentences import counted, duration
from transforms.foreign_text import printable
from transforms.gold.audited import AUDITED
from transforms.gold.orphaned_partitions import ORPHANED
from transforms.question import Question, of_table

SHOWN = 20
"""Findings of one kind that are shown; the tables hold them all."""

_DERIVED_FROM = (REBALANCE_STORMS, ILLEGAL_GENERATION_BURSTS, SLOW_REVOKERS, ORPHANED_PARTITIONS, *AUDITED.read)


def summarise(job: Job) -> None:
    """Print the summary."""
    job.report.say()
    _tables(job)
    how = hashlib.blake2b(inspect.getsource(sys.modules[__name__]).encode("utf-8"), digest_size=8).hexdigest()
    for line in job.lake.contents.derived("summary", _DERIVED_FROM, how, lambda: _found(job)):
        job.report.say(line)
    if not sum(job.report.written.values()):
        job.report.say("Nothing new was found, and no table was changed.")


def _tables(job: Job) -> None:
    in_all = job.lake.contents.row_counts(TABLES)
    shown = Table("layer", "table", box=None, pad_edge=False, header_style="bold")
    shown.add_column("written", justify="right")
    shown.add_column("in all", justify="right")
    layer = ""
    for spec in TABLES:
        first = "" if spec.layer.value == layer else spec.layer.value
        layer = spec.layer.value
        shown.add_row(first, spec.name, f"{job.report.written[spec.full_name]:,}", f"{in_all[spec.full_name]:,}")
    job.report.console.print(shown)


def _found(job: Job) -> list[str]:
    """Say what the findings are, and how far the replay can be trusted."""
    storms = _findings(job, "Rebalance storms", REBALANCE_STORMS, _storm)
    bursts = _findings(job, "Bursts of fencing errors", ILLEGAL_GENERATION_BURSTS, _burst)
    has_slow = job.lake.contents.has_rows(SLOW_REVOKERS)
    slow = _findings(job, "Slow revokers", SLOW_REVOKERS, _revoker) if has_slow else ()
    return [*storms, *bursts, *slow, *_orphans(job), _replay(job)]


def _findings(job: Job, title: str, spec: TableSpec, line: Callable[[Any], Iterator[str]]) -> Iterator[str]:
    rows = _first(job, Question(f"SELECT * FROM {of_table(spec)}", (spec,), struct_type(spec)), "started_at")
    yield ""
    yield f"{title}: none" if not rows else title
    for row in rows[:SHOWN]:
        yield "  " + printable(", ".join(line(row)))
    if len(rows) > SHOWN:
        yield f"  … more in {spec.full_name}"


def _orphans(job: Job) -> Iterator[str]:
    """Say of which groups nobody has some partitions where the data end; nothing if there are none."""
    rows = _first(job, ORPHANED, "orphaned_since")
    if rows:
        yield ""
        yield "Partitions that nobody has, although their group is Stable"
    for row in rows[:SHOWN]:
        parts = counted(row.orphaned_partition_count, "partition", "partitions")
        yield "  " + printable(f"{row.group_id}: {parts}, the first since {_moment(row.orphaned_since)}")
    if len(rows) > SHOWN:
        yield f"  … more in {ORPHANED_PARTITIONS.full_name}"


def _first(job: Job, asked: Question, by: str) -> list[Any]:
    """Return the first rows of an answer in order of a moment, one more than are shown."""
    statement = f"SELECT * FROM ({asked.statement}) ORDER BY {by}, group_id LIMIT {SHOWN + 1}"
    rows = fetched(job.lake.answer(replace(asked, statement=statement), None))
    return [SimpleNamespace(**row) for row in rows.to_pylist(maps_as_pydicts="strict")]


def _span(row: Any) -> str:
    ended_at = None if row.ended_at is None else f"{row.ended_at:%H:%M:%S}"
    return " to ".join(filter(None, [_moment(row.started_at), ended_at]))


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _storm(row: Any) -> Iterator[str]:
    yield f"{row.group_id}: {_span(row)}"
    yield f"{row.rebalance_count} rebalances (up to {row.peak_count} in one window)"
    yield f"{row.pattern} ({100 * row.pattern_share:.0f} % of them)"
    yield f"main trigger {row.main_trigger}"
    yield f"culprit {_client(row.main_client_id, row.main_client_host)}"
    yield row.severity + (", still going on" if row.is_open else "")


def _burst(row: Any) -> Iterator[str]:
    yield f"{row.group_id}: {_span(row)}"
    yield f"{row.error_count} × {row.error} ({', '.join(f'{api} {n}' for api, n in sorted((row.apis or {}).items()))})"
    yield f"suspected cause {row.suspected_cause}"
    yield f"culprit {', '.join(row.client_ids or []) or 'not known'}"
    if row.stale_generation_min is not None and row.current_generation is not None:
        low, high = row.stale_generation_min, row.stale_generation_max
        sent = f"{low}" if low == high else f"{low} to {high}"
        step = "epoch" if are_of_epochs(row.error, row.apis or ()) else "generation"
        at_first = " at first" if high >= row.current_generation else ""  # it went on while the burst did
        yield f"sent {step} {sent} when it was {row.current_generation}{at_first}"


def _revoker(row: Any) -> Iterator[str]:
    yield f"{row.group_id}: {_span(row)}"
    parts = counted(row.partition_count, "partition", "partitions")
    yield f"{parts} not given up for {duration(row.held_up_ms)}"
    yield f"{counted(len(row.waiting_member_ids or ()), 'member', 'members')} waited"
    yield f"culprit {_client(row.client_id, row.client_host)}"
    yield "still going on" if row.is_open else row.end_cause or "given up"


def _replay(job: Job) -> str:
    """Say how far the replay foresaw the answers; what rests on a race or on the answer itself is told apart."""
    row = SimpleNamespace(**fetched(job.lake.answer(AUDITED, None)).to_pylist()[0])
    if not row.request:
        return "\nReplay: no request log, so there is nothing to compare the replayed state machine with"
    agreed = row.agree - row.race - row.answer_used
    predicted = agreed + row.differ
    share = f"{100 * agreed / predicted:.2f} %" if predicted else "none"
    return (
        f"\nReplay: {agreed:,} of {predicted:,} requests were answered as the replayed state machine predicts "
        f"({share}); apart from these {row.race:,} races, {row.answer_used:,} that their answer explains, and "
        f"{row.unpredicted:,} that could not be predicted"
    )


def _client(client_id: str | None, host: str | None) -> str:
    return f"{client_id} {host or ''}".strip() if client_id else "not known"
