"""Finds storms, bursts, slow revokers and lost offsets in the groups with news; does nothing if there are none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import msgspec
from pyspark.sql import DataFrame

from jobs.findings.health import look_at_health
from jobs.findings.looking import LOADED, STEP, Looked, Scopes, has_groups, line_of, scopes_of
from jobs.findings.offsets import Found, Offsets
from jobs.frame.job import Job, execute
from jobs.frame.keeping import Keep, fetched, keeping
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
    GENERATION_MEMBERS,
    GENERATIONS,
    GROUP_HEALTH,
    ILLEGAL_GENERATION_BURSTS,
    MEMBER_SESSIONS,
    REBALANCE_STORMS,
    RECONCILIATIONS,
    SLOW_REVOKERS,
    STANDING_COMMITS,
)
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS
from transforms.given_rows import rows_held, selected
from transforms.gold.broker_refusals import ERRORS, may_tell
from transforms.gold.client_refusals import lines_of_files
from transforms.gold.findings.commits import LAST
from transforms.gold.findings.held_against import held_against
from transforms.gold.findings.kernel import GROUP, Few, Hold, by_workers
from transforms.gold.findings.named_generations import named_generations, named_numbers
from transforms.gold.findings.scope import Scope
from transforms.gold.illegal_generation_bursts import IS_REFUSED, SETTINGS, illegal_generation_bursts
from transforms.gold.illegal_generation_bursts import READ as READ_FOR_BURSTS
from transforms.gold.rebalance_storms import READ as READ_FOR_STORMS
from transforms.gold.rebalance_storms import rebalance_storms
from transforms.gold.slow_revokers import slow_revokers
from transforms.gold.timelines.looking_back import IS_KNOWN, beside
from transforms.gold.timelines.replacing import EVERYTHING
from transforms.sql import among
from transforms.wanted_rows import Wanted

OUTPUTS = (*FINDINGS, STANDING_COMMITS, GROUP_HEALTH)

_BURSTS = ILLEGAL_GENERATION_BURSTS
_BEGIN = "started_at"

_MOST_AT_HAND = FEW_ROWS

_MOST_JUDGED_HERE = 5 * FEW_ROWS
"""Rows of evidence that are judged by the driver: with what lies around them they are more than what is new."""

_AT_ONCE = 4


def run(job: Job) -> None:
    """Find all kinds anew in the groups with news, and hand over what was found."""
    _detect(job)
    hand_over(job)


def _detect(job: Job) -> None:
    kept = job.lake.progress.of(STEP, OUTPUTS)
    before = None if kept is None else msgspec.convert(kept, Looked)
    replayed = standing(job)
    now = _now(job, replayed)
    if before == now:
        return
    job.lake.create(OUTPUTS)
    job.report.activity("looking for storms, bursts and offsets gone astray")
    seen_until = max(replayed.newest.values(), default=None) if replayed else None
    scopes = scopes_of(job, before, now, replayed, seen_until)
    if has_groups(scopes.of_offsets):
        offsets = Offsets(job, scopes.of_offsets, before, now, _hold(job), _few(job))
        with keeping() as keep:
            others = _searches(job, scopes.of_others, seen_until, keep) if has_groups(scopes.of_others) else []
            _replace(job, scopes, _found([*others, offsets.found]))
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


def _searches(job: Job, scope: Scope | None, seen_until: float | None, keep: Keep) -> list[Callable[[], Found]]:
    """Return what searches for storms, bursts and slow revokers in a run's groups; those that stay are among them."""
    storms, bursts = job.settings.storms, job.settings.bursts
    read = {*READ_FOR_STORMS, *READ_FOR_BURSTS}
    if not job.lake.contents.row_counts([CLIENT_EVENTS])[CLIENT_EVENTS.full_name]:
        read.remove(CLIENT_EVENTS)
    if scope is None:
        near = {spec: job.lake.read(spec) for spec in read}
        named, of_cluster, refused = {}, near, None
    else:
        has_clients = CLIENT_EVENTS in read
        near = {
            spec: job.lake.some(spec, scope.near(spec), keep) for spec in read - {CLIENT_EVENTS, COORDINATOR_EVENTS}
        }
        if has_clients:
            clients, sessions = map(job.lake.read, (CLIENT_EVENTS, MEMBER_SESSIONS))
            near[CLIENT_EVENTS] = lines_of_files(clients, sessions, scope.groups.select(*GROUP))
        refused = None if has_clients else _refused(job, scope)
        named = _far(job, scope) if refused is None else _named(job, scope, refused)
        of_cluster = _of_cluster(job, scope, has_clients)
    hold = _hold(job)

    def of_scope(rows: DataFrame) -> DataFrame | None:
        return hold(rows if scope is None else scope.reaching(rows))

    of_late = (seen_until, of_scope, of_cluster, _few(job))

    def with_staying(spec: TableSpec, rows: DataFrame) -> Found:
        if scope is None:
            return [(spec, rows)]
        staying = scope.before_cut(job.lake.read(spec), _BEGIN)
        return [(spec, beside(scope.found(rows, _BEGIN), staying.select(rows.columns)))]

    searches = [
        lambda: with_staying(REBALANCE_STORMS, rebalance_storms(near, storms.thresholds(), *of_late)),
        lambda: with_staying(
            ILLEGAL_GENERATION_BURSTS,
            illegal_generation_bursts(near | named, bursts.gap_ms, bursts.min_errors, *of_late, refused),
        ),
    ]
    if any(job.lake.contents.row_counts([RECONCILIATIONS, SLOW_REVOKERS]).values()):  # classic groups have none
        late = (job.settings.revocations.slow_ms, seen_until, hold, _few(job))
        far = {} if scope is None else _far(job, scope)
        searches.append(lambda: with_staying(SLOW_REVOKERS, slow_revokers(near | far, *late)))
    return searches


def _far(job: Job, scope: Scope) -> dict[TableSpec, DataFrame]:
    """Return all generations of the groups: a request that is refused may be of one that is long past."""
    return {spec: scope.of_groups(job.lake.read(spec)) for spec in _NAMED_LATE}


def _of_cluster(job: Job, scope: Scope, has_clients: bool) -> dict[TableSpec, DataFrame]:
    """Return what lines are laid beside that need not name their group, and brokers' lines.

    Whoever is fenced by a broker's line is looked for in all stays; where no line fences anybody, nobody is.
    """
    late = scope.late(COORDINATOR_EVENTS, {"event": SETTINGS})
    lines = job.lake.some(COORDINATOR_EVENTS, replace(late, where=among("event", (*SETTINGS, *ERRORS))))
    beside = _OF_CLUSTER if has_clients else (MEMBER_SESSIONS,) if may_tell(lines) else ()
    return {COORDINATOR_EVENTS: lines, **{spec: job.lake.read(spec) for spec in beside}}


def _refused(job: Job, scope: Scope) -> DataFrame:
    """Return the refused requests among those that findings of a run may need; they are few, as a rule."""
    near = scope.near(GROUP_REQUESTS)
    return job.lake.some(GROUP_REQUESTS, replace(near, where=f"{near.where} AND {IS_REFUSED}"))


def _named(job: Job, scope: Scope, refused: DataFrame) -> dict[TableSpec, DataFrame]:
    """Return what there is of generations that are late, or that refused requests name.

    Of who is not let in brokers' lines tell as of generation 0. What clients say that they were refused is of
    generations, too, and nobody knows of which: where there are any, all are needed (`_far`).
    """
    held = None if scope.listed is None else rows_held(refused)
    if held is None:
        named = named_generations(refused, scope.groups)
        return {spec: scope.rows_or_named(spec, job.lake.read(spec), named) for spec in _NAMED_LATE}
    found, numbers = {}, named_numbers(held)
    for spec in _NAMED_LATE:
        wanted = scope.wanted(spec)
        rows = job.lake.some(spec, replace(wanted, or_in={**wanted.or_in, "generation": numbers}))
        found[spec] = scope.of_groups(rows)
    return found


_CUT = (REBALANCE_STORMS, ILLEGAL_GENERATION_BURSTS, SLOW_REVOKERS)
"""Tables of which a run finds those rows anew that begin behind a group's cut."""

_NAMED_LATE = (GENERATIONS, GENERATION_MEMBERS)
_OF_CLUSTER = (MEMBER_SESSIONS, GROUP_REQUESTS)


def _replace(job: Job, scopes: Scopes, found: Found) -> None:
    """Put the rows of the groups of a run in the place of those that there were; where there are none, do nothing."""
    of_run = {spec: scopes.of_others if spec in _CUT else scopes.of_offsets for spec, _ in found}
    counts = job.lake.contents.row_counts([*of_run])
    with ThreadPoolExecutor(_AT_ONCE) as threads:  # most of the time goes into the driver's work for each
        looked_up = list(threads.map(lambda each: job.at_hand(each[1], _MOST_AT_HAND), found))
    frames = []
    for (spec, _), (told, few) in zip(found, looked_up, strict=True):
        if few == [] and not counts[spec.full_name]:
            continue
        scope = of_run[spec]
        if scope is not None and scope.listed is None:
            told = beside(told, scope.of_others(job.lake.read(spec), _begin(spec)).select(*spec.columns))
        frames.append((spec, told))
    if scopes.of_offsets is None or scopes.of_others is None:
        timelines = {spec: job.lake.read(spec) for spec in reads_beside(FINDINGS)}
    else:
        few_of = {spec: few for (spec, _), (_, few) in zip(found, looked_up, strict=True)}
        held = {
            GENERATIONS: _held_against(job, scopes.of_others, few_of.get(_BURSTS, [])),
            ASSIGNMENTS: _lost(job, scopes.of_offsets, few_of),
        }
        timelines = held_against(held, {spec: job.lake.none_of(spec) for spec in FINDINGS} | dict(frames))
    where = {spec: scope.condition(_begin(spec)) if scope else EVERYTHING for spec, scope in of_run.items()}
    with audited(job, Batch(dict(frames), beside=timelines)) as rows:
        job.replace([(spec, _as_found(told)) for spec, told in rows.items()], where)


def _as_found(rows: DataFrame) -> DataFrame:
    return selected(rows, [name for name in rows.columns if name != IS_KNOWN])


def _begin(spec: TableSpec) -> str:
    return _BEGIN if spec in _CUT else ""


def _held_against(job: Job, scope: Scope, bursts: Sequence[Mapping[str, Any]] | None) -> DataFrame:
    """Return the generations that are late, or that bursts were fenced by; if these are not few, all."""
    if scope.listed == []:
        return job.lake.none_of(GENERATIONS)
    if bursts is None:
        return scope.listed_rows(job.lake.read(GENERATIONS))
    wanted = scope.wanted(GENERATIONS)
    numbers = sorted({row["fenced_by_generation"] for row in bursts} - {None})
    return job.lake.some(GENERATIONS, replace(wanted, or_in={**wanted.or_in, "generation": numbers}))


def _lost(job: Job, scope: Scope, few: Mapping[TableSpec, Sequence[Mapping[str, Any]] | None]) -> DataFrame:
    """Return the assignments of groups in which gaps were found; where that is not known of which, all."""
    gaps = few.get(COMMIT_GAPS)
    groups = scope.listed if gaps is None else sorted({row["group_id"] for row in gaps})
    return job.lake.some(ASSIGNMENTS, Wanted(groups))


def _hold(job: Job) -> Hold:
    def hold(rows: DataFrame) -> DataFrame | None:
        held, few = job.at_hand(rows, _MOST_AT_HAND)
        return None if few == [] else held

    return hold


def _few(job: Job) -> Few:
    return (lambda rows: fetched(rows, _MOST_JUDGED_HERE)) if job.lake.is_brief else by_workers


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, step=STEP, at_end=note_end)


if __name__ == "__main__":
    sys.exit(main())
