"""Replays the groups that have new evidence, from where each was left, and replaces what is not settled of them.

Evidence that comes late sends its group back to a state before it; the result is that of one run over everything.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from math import inf, isfinite
from typing import Any

import msgspec
from pyspark.sql import DataFrame

from jobs.frame.job import Job, execute
from jobs.frame.keeping import Keep, fetched, keeping
from jobs.lake.duckdb_files import without_spark
from jobs.lake.found_rows import MOST_ROWS
from jobs.lake.rows import fetched as all_fetched
from jobs.session.brief_queries import FEW_ROWS
from jobs.timelines.changes import Groups
from jobs.timelines.clients import lay_clients
from jobs.timelines.part_files import PARTED_BY, processes, replayed_by_processes
from jobs.timelines.standing import STEP, Standing, marks, newest_load, noted, standing
from jobs.timelines.told import Here, InFiles, Kept, Told
from jobs.timelines.writing import MOST_LISTED, Replaced, settle, write
from schemas.tables.gold import (
    ASSIGNMENTS,
    CLIENT_TIMELINE,
    GENERATIONS,
    ORPHANED_PARTITIONS,
    RECONCILIATIONS,
)
from schemas.tables.silver import TOPIC_NAMES
from transforms.given_rows import given
from transforms.gold.timelines import news, replacing, spoken
from transforms.gold.timelines.columns import TABLES
from transforms.gold.timelines.gathering import Far, Reach, Run
from transforms.gold.timelines.kernel import BUCKETS, Replay, replayed, replayed_here
from transforms.gold.timelines.plan import Plan
from transforms.gold.timelines.starting_points import (
    STARTING,
    changed_from,
    earliest_going_on,
    earliest_needed,
    needing_older,
    not_going_on,
    taken,
)
from transforms.question import Question

_PER_CORE, _PER_CORE_OF_MANY = 4, 16
"""Tasks, or shares of the groups: groups are not alike, and of several the last ones are not waited for as long. Each
costs some 50 ms, too.
"""


def run(job: Job) -> None:
    """Replay what has new evidence; with `--all`, everything from its beginning."""
    if getattr(job.arguments, "all", False):
        job.lake.progress.begin_anew(STEP)
    last = standing(job)
    loaded, as_found = newest_load(job), marks(job)
    if last is not None and last.loaded == loaded:
        laid = lay_clients(job, None)
        if laid != []:
            noted(job, last, as_found, _changed(None, laid))
        return
    job.lake.create([*TABLES, CLIENT_TIMELINE])
    job.report.activity("looking for groups with new evidence")
    before = last or Standing()
    reached = msgspec.structs.replace(_spoken(job, before), loaded=loaded)
    job.record.horizon_at = reached.horizon
    run = _replay(job, before, reached)
    laid = lay_clients(job, run.starting if run else None)
    noted(job, reached, as_found, _changed(run, laid) if last else None)


def _changed(run: Run | None, laid: Sequence[str] | None) -> Groups | None:
    """Return the groups whose rows were written: replayed ones from where they went on, the others as a whole."""
    if laid is None or (run is not None and run.groups is None):
        return None
    named = dict.fromkeys(laid)
    if run is None:
        return Groups(named=named)
    return Groups(named={**named, **(run.groups or {})}, others=run.others, quiet=run.quiet)


def _replay(job: Job, before: Standing, reached: Standing) -> Run | None:
    """Replay the groups with news and those that were left unfinished.

    Returns:
        The groups, of those that just went on only the ones with other rows than before, if they are few; None = there
        was nothing to replay.
    """
    names, renamed = _topic_names(job, before.reach)
    how = Replay(
        -inf if reached.horizon is None else reached.horizon,
        reached.partition_count,
        job.settings.audit.keep == "all",
        names,
        reached.newest.get(spoken.OFFSETS_TOPIC, inf),
    )
    with keeping() as keep:
        plan = Plan(
            lambda question: job.lake.answer(question, None, keep), before.reach, reached.partition_count, renamed
        )
        run = _run_of(job, plan, before.horizon, keep)
        settling = replacing.settled_by(reached.horizon)
        if run.listed == []:
            if reached.horizon != before.horizon:
                settle(job, settling)
            return None
        job.report.activity("replaying")
        told = _replayed(job, plan.evidence(run), run.listed is not None, how, keep)
        job.record.groups = run.listed
        with _as_brief_as(job, told):
            return write(job, told, run, _replaced(job, before, run, settling), reached.newest, keep)


def _replayed(job: Job, evidence: Question, is_of_few: bool, how: Replay, keep: Keep) -> Told:
    """Return what the replay gives, computed: by this process, by others of this machine, or by Spark.

    Args:
        job: the job.
        evidence: asks for the evidence.
        is_of_few: it is evidence of few groups, which bring their states.
        how: how.
        keep: keeps what is not few.
    """
    folder = keep.folder(job.spark)
    if job.lake.is_brief and is_of_few:
        few = fetched(job.lake.answer(evidence, None, keep), FEW_ROWS)
        if few is not None:
            return Here(job.spark, replayed_here(few, how))
    per_core = _PER_CORE if is_of_few else _PER_CORE_OF_MANY
    shares = processes() * per_core
    apart = folder and job.lake.answer_apart(evidence, PARTED_BY, shares, folder)
    if folder is not None and apart is not None:
        return InFiles(job.spark, replayed_by_processes(apart, shares, how, folder))
    tasks = min(job.spark.sparkContext.defaultParallelism * per_core, BUCKETS)
    return Kept(replayed(job.lake.answer(evidence, None), how, tasks), keep)


def _as_brief_as(job: Job, told: Told) -> AbstractContextManager[None]:
    """Take what is written for little only if it is: a little of each of many groups has much of them told anew."""
    return job.brief(False) if job.lake.is_brief and not told.is_at_hand else nullcontext()


def _topic_names(job: Job, reach: Reach) -> tuple[dict[str, str], DataFrame | None]:
    """Return names of topics by their ids, which is all that records of the newer protocols have; there are not many.

    With them, the groups with rows that had to be told by ids that have names since.
    """
    known = all_fetched(job.lake.answer(news.topic_names(reach.load(TOPIC_NAMES)), None)).to_pylist()
    names = {row["topic_id"]: row["topic"] for row in known}
    new = [{"topic_id": row["topic_id"]} for row in known if row["is_new"]]
    if not new:
        return names, None
    told = (job.lake.read(spec) for spec in (ASSIGNMENTS, RECONCILIATIONS, ORPHANED_PARTITIONS, GENERATIONS))
    return names, news.of_names(given(job.spark, "topic_id STRING", new), *told)


def _replaced(job: Job, before: Standing, run: Run, settling: str) -> Replaced:
    """Return which settled rows the groups of a run may replace, and which rows are settled by it."""
    if before.horizon is None:
        return Replaced(None, settling=settling)
    if not before.is_as_left(job):
        return Replaced(run.listed, settling=settling)
    return Replaced(run.late, None if run.far is None else run.far.taken_until, settling)


def _run_of(job: Job, plan: Plan, horizon: float | None, keep: Keep) -> Run:
    """Find out which groups are replayed; if they are few, the frames about them are read from nowhere any more."""
    starting, groups = job.at_hand(plan.starting(), MOST_ROWS)
    if groups is not None and len(of_run := taken(groups, MOST_LISTED)) < len(groups):
        starting, groups = given(job.spark, STARTING, of_run), of_run
    homes, _ = job.at_hand(plan.homes(starting), MOST_ROWS)
    if without_spark(homes) is None and keep.folder(job.spark) is not None:
        homes = keep.in_columns(homes)
    if groups is None or len(groups) > MOST_LISTED:
        return _of_many(job, starting, homes, horizon)
    return Run(
        starting,
        homes,
        groups={row["group_id"]: changed_from(row, horizon) for row in groups},
        late=[row["group_id"] for row in groups if row["needs_older"]],
        has_new=any(row["since"] is None for row in groups),
    )


def _of_many(job: Job, starting: DataFrame, homes: DataFrame, horizon: float | None) -> Run:
    """Return a run of many groups: those are named that do not just go on, if these are few."""
    if horizon is None:  # all of them begin at their beginnings
        return Run(starting, homes)
    late = _if_few(job, needing_older(starting))
    if late is None:
        run = Run(starting, homes, far=_far(job, starting))
    else:
        run = Run(starting, homes, late=[row["group_id"] for row in late])
    odd = _if_few(job, not_going_on(starting))
    if odd is None:
        return run
    earliest = all_fetched(job.lake.answer(earliest_going_on(starting), None)).to_pylist()
    return replace(
        run,
        groups={row["group_id"]: changed_from(row, horizon) for row in odd},
        others=changed_from(earliest[0], horizon),
        has_new=any(row["since"] is None for row in odd),
    )


def _far(job: Job, starting: DataFrame) -> Far | None:
    """Return how far the groups go back that need older evidence; None = some of them to their beginnings."""
    earliest = all_fetched(job.lake.answer(earliest_needed(starting), None)).to_pylist()[0]
    return Far(**earliest) if all(map(isfinite, earliest.values())) else None


def _if_few(job: Job, groups: Question) -> list[dict[str, Any]] | None:
    """Return the groups that are asked for; None = they are too many to list."""
    found = fetched(job.lake.answer(groups, None), MOST_LISTED)
    return None if found is None else found.to_pylist()


def _spoken(job: Job, before: Standing) -> Standing:
    """Take down what the sources have spoken of since; say which of them are not waited for."""
    found = all_fetched(job.lake.answer(spoken.newest(before.reach.load), None)).to_pylist()
    newest = {
        row["source"]: row["newest"]
        for row in found
        if row["newest"] is not None and (row["is_broker"] or row["source"] in before.newest)
    }
    settings = job.settings.replay
    reached, horizon = before.spoken(newest, settings.lateness_ms, settings.silence_ms)
    if horizon.silent:
        job.report.warn(f"silent for long, and not waited for any more: {', '.join(horizon.silent)}")
    printed = all_fetched(job.lake.answer(spoken.printed_partition_count(before.reach.load), None))
    count = printed["count"][0].as_py()
    return msgspec.structs.replace(reached, partition_count=count or before.partition_count)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument("--all", action="store_true", help="replay every group, as after an upgrade")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, add_arguments=add_arguments, step=STEP)


if __name__ == "__main__":
    sys.exit(main())
