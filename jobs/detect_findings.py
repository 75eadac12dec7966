"""Finds storms, bursts, slow revokers and lost offsets in the groups with news; does nothing if there are none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import msgspec
from pyspark.sql import DataFrame

from jobs.findings.ending import end_findings
from jobs.findings.health import look_at_health
from jobs.findings.looking import LOADED, STEP, Looked, Scopes, has_groups, line_of, scopes_of
from jobs.findings.offsets import Found, Offsets
from jobs.findings.reading import near_news
from jobs.findings.searches import BEGIN, Searches
from jobs.frame.job import Job, execute
from jobs.frame.keeping import Keep, keeping
from jobs.handing_over.findings import hand_over
from jobs.handing_over.metrics_file import note_end
from jobs.quality.gate import Batch, audited, reads_beside
from jobs.session.brief_queries import FEW_ROWS
from jobs.timelines.changes import without_audit
from jobs.timelines.standing import Standing, marks, standing
from schemas.table import TableSpec
from schemas.tables.gold import (
    ASSIGNMENTS,
    COMMIT_GAPS,
    FINDINGS,
    GENERATIONS,
    GROUP_HEALTH,
    ILLEGAL_GENERATION_BURSTS,
    REBALANCE_STORMS,
    SLOW_REVOKERS,
    STANDING_COMMITS,
)
from transforms.given_rows import selected
from transforms.gold.findings import held_against
from transforms.gold.findings.commits import LAST
from transforms.gold.findings.scope import Scope
from transforms.gold.timelines.looking_back import IS_KNOWN
from transforms.gold.timelines.replacing import EVERYTHING
from transforms.wanted_rows import Wanted

OUTPUTS = (*FINDINGS, STANDING_COMMITS, GROUP_HEALTH)

_BURSTS = ILLEGAL_GENERATION_BURSTS

_AT_ONCE = 4


def run(job: Job) -> None:
    """Find all kinds anew in the groups with news, and hand over what was found."""
    _detect(job)
    hand_over(job)


def _detect(job: Job) -> None:
    before = job.lake.progress.of_kind(STEP, OUTPUTS, Looked)
    replayed = standing(job)
    now = _now(job, replayed)
    if before == now:
        return
    job.lake.create(OUTPUTS)
    job.report.activity("looking for storms, bursts and offsets gone astray")
    seen_until = max(replayed.newest.values(), default=None) if replayed else None
    with keeping() as keep:
        scopes = scopes_of(job, before, now, replayed, seen_until, keep)
        if scopes.of_others is None:
            job.lake.progress.begin_anew(STEP)
        if has_groups(scopes.of_offsets):
            offsets = Offsets(job, scopes.of_offsets, before, now, keep)
            others = []
            if has_groups(scopes.of_others):
                near = near_news(job, scopes.of_others, keep)
                others = Searches(job, scopes.of_others, near, seen_until, keep).all()
            _replace(job, scopes, _found([*others, offsets.found]), keep)
            if scopes.of_others is not None and seen_until is not None:
                end_findings(job, seen_until, keep)
    listed = None if scopes.of_offsets is None else scopes.of_offsets.listed
    look_at_health(job, listed, seen_until, now.line is not None)
    job.lake.progress.note(STEP, OUTPUTS, msgspec.to_builtins(now))


def _now(job: Job, replayed: Standing | None) -> Looked:
    settings = job.settings
    how = {
        "storms": settings.storms.model_dump(),
        "bursts": settings.bursts.model_dump(),
        "offsets": {"jump": settings.offsets.jump, "retention_ms": settings.offsets.retention_ms},
        "commits": settings.commits.model_dump() | {"standing": LAST},
        "revocations": settings.revocations.model_dump(),
    }
    loaded = job.lake.contents.newest_load(LOADED)
    return Looked(how=how, marks=without_audit(marks(job)), loaded=dict(loaded), line=line_of(replayed))


def _found(searches: Sequence[Callable[[], Found]]) -> Found:
    """Search for several kinds at a time: while the driver plans one search, another one's rows are computed."""
    with ThreadPoolExecutor(len(searches)) as threads:
        return [each for found in threads.map(lambda search: search(), searches) for each in found]


_Listed: TypeAlias = "Mapping[TableSpec, Sequence[Mapping[str, Any]] | None]"
"""By table, what was found as a list, where it is few."""

_CUT = (REBALANCE_STORMS, ILLEGAL_GENERATION_BURSTS, SLOW_REVOKERS)
"""Tables of which a run finds those rows anew that begin behind a group's cut."""


def _replace(job: Job, scopes: Scopes, found: Found, keep: Keep) -> None:
    """Put the rows of the groups of a run in the place of those that there were; where there are none, do nothing."""
    of_run = {spec: scopes.of_others if spec in _CUT else scopes.of_offsets for spec, _ in found}
    counts = job.lake.contents.row_counts([*of_run])
    with ThreadPoolExecutor(_AT_ONCE) as threads:  # most of the time goes into the driver's work for each
        looked_up = list(threads.map(lambda each: job.at_hand(each[1], FEW_ROWS), found))
    frames = dict[TableSpec, DataFrame]()
    for (spec, _), (told, few) in zip(found, looked_up, strict=True):
        if few == [] and not counts[spec.full_name]:
            continue
        scope = of_run[spec]
        if scope is not None and scope.listed is None and spec not in _CUT:
            told = job.lake.answer(scope.with_others(spec, told), None, keep)
        frames[spec] = told
    listed = {spec: few for (spec, _), (_, few) in zip(found, looked_up, strict=True)}
    timelines = _timelines(job, scopes, frames, listed, keep)
    where = {spec: scope.condition(_begin(spec)) if scope else EVERYTHING for spec, scope in of_run.items()}
    with audited(job, Batch(frames, beside=timelines)) as rows:
        job.replace([(spec, _as_found(told)) for spec, told in rows.items()], where)


def _timelines(
    job: Job, scopes: Scopes, frames: dict[TableSpec, DataFrame], listed: _Listed, keep: Keep
) -> dict[TableSpec, DataFrame]:
    """Return what findings are held against: of some groups the rows of the timelines that they name or lie among."""
    if scopes.of_offsets is None or scopes.of_others is None:
        read = reads_beside(FINDINGS)
        return {spec: job.lake.in_place(spec, Wanted(), keep) for spec in read}
    told = {spec: job.lake.none_of(spec) for spec in FINDINGS} | frames
    near = _held_against(job, scopes.of_others, listed.get(_BURSTS, []), keep)
    lost = _lost(job, scopes.of_offsets, listed, keep)
    asked = {
        GENERATIONS: held_against.generations(near, told[REBALANCE_STORMS], told[_BURSTS]),
        ASSIGNMENTS: held_against.assignments(lost, told[COMMIT_GAPS]),
    }
    return {spec: job.lake.answer(question, None, keep) for spec, question in asked.items()}


def _as_found(rows: DataFrame) -> DataFrame:
    return selected(rows, [name for name in rows.columns if name != IS_KNOWN])


def _begin(spec: TableSpec) -> str:
    return BEGIN if spec in _CUT else ""


def _held_against(job: Job, scope: Scope, bursts: Sequence[Mapping[str, Any]] | None, keep: Keep) -> DataFrame:
    """Return the generations that are late, or that bursts were fenced by; if these are not few, all."""
    if scope.listed == []:
        return job.lake.none_of(GENERATIONS)
    numbers = sorted({row["fenced_by_generation"] for row in bursts or ()} - {None})
    if bursts is None:
        wanted = Wanted(scope.listed)
    elif scope.listed is None:  # bursts of all other groups are among those that are written
        wanted = scope.late(GENERATIONS, {"generation": numbers})
    else:
        wanted = scope.late_or_in(GENERATIONS, "generation", numbers)
    return job.lake.in_place(GENERATIONS, wanted, keep)


def _lost(job: Job, scope: Scope, few: _Listed, keep: Keep) -> DataFrame:
    """Return the assignments of groups in which gaps were found; where that is not known of which, all."""
    gaps = few.get(COMMIT_GAPS)
    are_known = scope.listed is not None and gaps is not None  # else those of all other groups are written, too
    groups = sorted({row["group_id"] for row in gaps or ()}) if are_known else scope.listed
    return job.lake.in_place(ASSIGNMENTS, Wanted(groups), keep)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, step=STEP, at_end=note_end)


if __name__ == "__main__":
    sys.exit(main())
