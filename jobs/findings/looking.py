"""What a run looks for findings in: everything, or the groups with news, as the last run noted how far it came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.job import Job
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
    STANDING_COMMITS,
)
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, OFFSET_COMMITS
from transforms.given_rows import given
from transforms.gold.broker_refusals import MAY_TELL, fencings, may_tell
from transforms.gold.client_refusals import at_home, of_their_files
from transforms.gold.findings.commits import BEHIND_MS, RECORD
from transforms.gold.findings.kernel import GROUP
from transforms.gold.findings.scope import REACH_MS, Scope, cuts, going_on_since, is_since, scope_of
from transforms.gold.slow_revokers import overdue
from transforms.loads import loaded_after
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
    job: Job, before: Looked | None, now: Looked, standing: Standing | None, seen_until: float | None
) -> Scopes:
    """Return the groups of a run.

    Args:
        job: the job.
        before: how far the last run came.
        now: how far this one comes.
        standing: what was replayed.
        seen_until: end of the data (epoch ms); null = not known.
    """
    if before is None or standing is None or before.how != now.how or before.line is None:
        return ALL_GROUPS
    changed = Groups() if before.marks == now.marks else changed_since(standing.changes, before.marks)
    if changed is None:
        return ALL_GROUPS
    reach_ms = reach_of(now.how)
    news = [*_replayed(job, changed), *_logged(job, before, now), *_overdue(job, seen_until)]
    findings = [job.lake.read(spec) for spec in (REBALANCE_STORMS, ILLEGAL_GENERATION_BURSTS, SLOW_REVOKERS)]
    told = reduce(DataFrame.unionByName, news).withColumn("is_commit", F.lit(False))
    for commits in _committed(job, before, now):
        told = told.unionByName(commits.withColumn("is_commit", F.lit(True)))
    groups, rows = job.at_hand(cuts(told, findings, reach_ms, seen_until), MOST_ROWS)
    more = groups.where("has_more")
    with_more = job.at_hand(more, MOST_ROWS) if rows is None else (more, [row for row in rows if row["has_more"]])
    return Scopes(*(_scope(*each, reach_ms, before.line) for each in ((groups, rows), with_more)))


def _scope(groups: DataFrame, rows: Sequence[Mapping[str, Any]] | None, reach_ms: int, line: float) -> Scope:
    groups = groups.drop("has_more")
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


def _replayed(job: Job, changed: Groups) -> Iterator[DataFrame]:
    """Yield the groups whose rows were written, and since when they are others."""
    rows = [{"cluster": job.lake.cluster, "group_id": group, "since": at} for group, at in changed.named.items()]
    yield given(job.spark, "cluster STRING, group_id STRING, since DOUBLE", rows)
    if changed.others is not None:
        of_run = job.lake.answer(going_on_since(changed.others), None)
        yield of_run.select(*GROUP, F.lit(changed.others).alias("since"))


def _new(job: Job, before: Looked, now: Looked, spec: TableSpec, where: str = "") -> DataFrame | None:
    """Return the rows of a table of silver that the last run did not know, or some of them; None if there are none."""
    if before.loaded.get(spec.full_name) == now.loaded.get(spec.full_name):
        return None
    return job.lake.some(spec, replace(before.new(spec), where=where))


def _committed(job: Job, before: Looked, now: Looked) -> Iterator[DataFrame]:
    """Yield the groups that new commits are of, which the replay need not heed, and since when."""
    if (commits := _new(job, before, now, OFFSET_COMMITS)) is not None:
        # What is written once more is how a transaction ended.
        opened = job.lake.read(STANDING_COMMITS).where("txn_state = 'open'")
        known = opened.select(*GROUP, *RECORD, F.lit(before.line).alias("known_at"))
        at = F.coalesce("known_at", F.unix_micros("recorded_at") / 1000.0)
        yield _since(commits.join(known, [*GROUP, *RECORD], "left").select(*GROUP, at.alias("at")))


def _logged(job: Job, before: Looked, now: Looked) -> list[DataFrame]:
    """Return the groups that new lines are of, which the replay need not heed, and since when."""
    found = []
    if (lines := _new(job, before, now, CLIENT_EVENTS)) is not None:
        at = F.unix_micros("logged_at") / 1000.0
        home = at_home(lines, job.lake.read(MEMBER_SESSIONS))
        of_files = of_their_files(home, job.lake.read(CLIENT_EVENTS))
        found.append(_since(of_files.select(*GROUP, at.alias("at"))))
    if (lines := _new(job, before, now, COORDINATOR_EVENTS, MAY_TELL)) is not None and may_tell(lines):
        told = fencings(lines, job.lake.read(MEMBER_SESSIONS))
        found.append(_since(told.select(*GROUP, (F.unix_micros("answered_at") / 1000.0).alias("at"))))
    return found


def _overdue(job: Job, seen_until: float | None) -> list[DataFrame]:
    """Return the groups in which somebody is late by now who was not when they had news last, and since when."""
    if seen_until is None or not job.lake.contents.row_counts([RECONCILIATIONS])[RECONCILIATIONS.full_name]:
        return []
    return [overdue(job.lake.read(RECONCILIATIONS), job.settings.revocations.slow_ms, seen_until)]


def _since(rows: DataFrame) -> DataFrame:
    """Return the groups that rows are of, and the moment of the oldest row; null if a row does not know its moment."""
    is_dated = F.min(F.col("at").isNotNull())
    return rows.where("group_id IS NOT NULL").groupBy(*GROUP).agg(F.when(is_dated, F.min("at")).alias("since"))
