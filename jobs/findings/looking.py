"""What a run looks for findings in: everything, or the groups with news, as the last run noted how far it came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.job import Job
from jobs.frame.keeping import Keep
from jobs.lake.found_rows import MOST_ROWS
from jobs.timelines.changes import Groups, changed_since
from jobs.timelines.standing import Standing
from jobs.timelines.writing import MOST_LISTED
from schemas.table import TableSpec
from schemas.tables.gold import (
    ILLEGAL_GENERATION_BURSTS,
    MEMBER_SESSIONS,
    REBALANCE_STORMS,
    RECONCILIATIONS,
    SLOW_REVOKERS,
)
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, OFFSET_COMMITS
from transforms.given_rows import given, selected
from transforms.gold.broker_refusals import MAY_TELL, fencings, may_tell
from transforms.gold.client_refusals import at_home, of_their_files
from transforms.gold.findings import cuts as cutting
from transforms.gold.findings.commits import BEHIND_MS
from transforms.gold.findings.kernel import GROUP
from transforms.gold.findings.scope import REACH_MS, Scope, is_since, scope_of
from transforms.loads import loaded_after
from transforms.question import Question
from transforms.wanted_rows import Wanted

STEP = "detect_findings"

LOADED = (GROUP_REQUESTS, CLIENT_EVENTS, COORDINATOR_EVENTS, OFFSET_COMMITS)
"""Tables of silver that findings are made of."""


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run came.

    Attributes:
        how: the thresholds, and how many commits stand.
        marks: of the tables of gold that findings are made of.
        loaded: by table of silver, the newest `loaded_at`, ISO 8601 in UTC.
        line: moment up to which `gold.standing_commits` stand for all commits (epoch ms); None = there is none.
    """

    how: dict[str, Any]
    marks: dict[str, str]
    loaded: dict[str, str | None]
    line: float | None = None

    def new(self, spec: TableSpec) -> Wanted:
        """Return which rows of a table of silver the run did not know."""
        return loaded_after(self.loaded.get(spec.full_name))


def line_of(standing: Standing | None) -> float | None:
    """Return where the line of the commits lies: behind all that is not settled."""
    return None if standing is None or standing.horizon is None else standing.horizon - BEHIND_MS


class Scopes(NamedTuple):
    """The groups of a run.

    Attributes:
        of_offsets: those in which it is looked for what is wrong with their offsets: all of them; None = all groups
            that there are, from their beginnings.
        of_others: those in which it is looked for all other findings; None likewise.
    """

    of_offsets: Scope | None
    of_others: Scope | None


ALL_GROUPS = Scopes(None, None)


def has_groups(scope: Scope | None) -> bool:
    """Tell whether there are groups in a scope, as far as is known; None are all groups."""
    return scope is None or scope.listed != []


def scopes_of(
    job: Job, before: Looked | None, now: Looked, standing: Standing | None, seen_until: float | None, keep: Keep
) -> Scopes:
    """Return the groups of a run.

    Args:
        job: the job.
        before: how far the last run came.
        now: how far this one comes.
        standing: what was replayed.
        seen_until: end of the data (epoch ms); null = not known.
        keep: keeps them where they are not few.
    """
    if before is None or standing is None or before.how != now.how or before.line is None:
        return ALL_GROUPS
    changed = Groups() if before.marks == now.marks else changed_since(standing.changes, before.marks)
    if changed is None:
        return ALL_GROUPS
    reach_ms = reach_of(now.how)
    news = [*_replayed(job, changed), *_logged(job, before, now), *_overdue(job, seen_until)]
    if _is_newer(before, now, OFFSET_COMMITS):
        news.append(cutting.committed(before.new(OFFSET_COMMITS), before.line))
    findings = (REBALANCE_STORMS, ILLEGAL_GENERATION_BURSTS, SLOW_REVOKERS)
    groups = job.lake.answer(cutting.cuts(news, findings, reach_ms, seen_until), None, keep)
    groups, rows = job.at_hand(groups, MOST_ROWS)
    if rows is None:
        more, rows_with_more = job.at_hand(groups.where("has_more"), MOST_ROWS)
    else:
        more, rows_with_more = groups, [row for row in rows if row["has_more"]]
    return Scopes(
        _scope(groups, rows, reach_ms, before.line),
        _scope(more, rows_with_more, reach_ms, before.line),
    )


def _scope(groups: DataFrame, rows: Sequence[Mapping[str, Any]] | None, reach_ms: int, line: float) -> Scope:
    groups = selected(groups, [name for name in groups.columns if name != "has_more"])
    return _many_groups(groups, reach_ms, line) if rows is None else scope_of(groups, rows, reach_ms, line, MOST_LISTED)


def reach_of(how: Mapping[str, Any]) -> int:
    """Return how far findings reach, given the thresholds."""
    storms, bursts = how["storms"], how["bursts"]
    windows = [limits["window_ms"] for limits in (storms, *storms["groups"])]
    return int(max(REACH_MS, bursts["gap_ms"], *windows))


def _many_groups(groups: DataFrame, reach_ms: int, line: float) -> Scope:
    """Return the scope of groups that are too many to fetch; those with something old are mostly few even so."""
    is_whole = F.col("cut").isNull()
    earliest = groups.agg(F.min("cut").alias("cut")).collect()[0].cut
    old = groups.where(is_whole | ~is_since(line)).select("group_id", is_whole.alias("is_whole"))
    listed = old.limit(MOST_LISTED + 1).collect()
    if len(listed) > MOST_LISTED:
        return Scope(groups, reach_ms, cut_us=earliest, whole=None, old=None)
    whole = [row.group_id for row in listed if row.is_whole]
    return Scope(groups, reach_ms, cut_us=earliest, whole=whole, old=[row.group_id for row in listed])


def _replayed(job: Job, changed: Groups) -> Iterator[Question]:
    """Tell of the groups whose rows were written, and since when they are others."""
    rows = [{"cluster": job.lake.cluster, "group_id": group, "since": at} for group, at in changed.named.items()]
    yield cutting.named(given(job.spark, "cluster STRING, group_id STRING, since DOUBLE", rows), "replayed")
    if changed.others is not None:
        yield cutting.going_on(changed.others)
    if changed.quiet is not None:
        yield cutting.going_on(changed.quiet, is_quiet=True)


def _is_newer(before: Looked, now: Looked, spec: TableSpec) -> bool:
    """Tell whether a table of silver has rows that the last run did not know."""
    return before.loaded.get(spec.full_name) != now.loaded.get(spec.full_name)


def _logged(job: Job, before: Looked, now: Looked) -> Iterator[Question]:
    """Tell of the groups that new lines are of, which the replay need not heed, and since when."""
    if _is_newer(before, now, CLIENT_EVENTS):
        lines = job.lake.some(CLIENT_EVENTS, before.new(CLIENT_EVENTS))
        at = F.unix_micros("logged_at") / 1000.0
        home = at_home(lines, job.lake.read(MEMBER_SESSIONS))
        of_files = of_their_files(home, job.lake.read(CLIENT_EVENTS))
        since = _since(of_files.select(*GROUP, at.alias("at")))
        yield cutting.named(job.at_hand(since, MOST_ROWS)[0], "told_by_clients")
    if _is_newer(before, now, COORDINATOR_EVENTS):
        lines = job.lake.some(COORDINATOR_EVENTS, replace(before.new(COORDINATOR_EVENTS), where=MAY_TELL))
        if may_tell(lines):
            told = fencings(lines, job.lake.read(MEMBER_SESSIONS))
            since = _since(told.select(*GROUP, (F.unix_micros("answered_at") / 1000.0).alias("at")))
            yield cutting.named(job.at_hand(since, MOST_ROWS)[0], "told_by_brokers")


def _overdue(job: Job, seen_until: float | None) -> Iterator[Question]:
    """Tell of the groups in which somebody is late by now who was not when they had news last, and since when."""
    if seen_until is None or not job.lake.contents.has_rows(RECONCILIATIONS):
        return
    yield cutting.overdue(job.settings.revocations.slow_ms, seen_until)


def _since(rows: DataFrame) -> DataFrame:
    """Return the groups that rows are of, and the moment of the oldest row; null if a row does not know its moment."""
    is_dated = F.min(F.col("at").isNotNull())
    return rows.where("group_id IS NOT NULL").groupBy(*GROUP).agg(F.when(is_dated, F.min("at")).alias("since"))
