"""Puts what a run of the replay gave into gold: the rows of all tables, then the snapshots that stand for them.

Whoever is cut short between two tables leaves what the next run replaces: it finds the tables other than the last whole
run left them, and the snapshots, from which it goes on, are written last.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from jobs.frame.job import Job
from schemas.table import TableSpec
from schemas.tables.gold import MEMBER_SESSIONS, REPLAY_SNAPSHOTS
from transforms.gold.timelines import replacing, snapshots
from transforms.gold.timelines.columns import SUPERSEDED, TABLES, part_of, table_of

MOST_LISTED = 1000
"""Groups that a condition lists; of more, whole tables are looked through."""


def write(job: Job, replayed: DataFrame, starting: DataFrame, going_back: Sequence[str] | None) -> None:
    """Replace the rows of the groups of a run.

    Args:
        job: the job.
        replayed: what the kernel gave.
        starting: the groups of the run, and from where they went on.
        going_back: ids of the groups that may have settled rows to be replaced; None = too many to list.
    """
    superseded = part_of(replayed, SUPERSEDED)
    keys = superseded.select("group_id").distinct().limit(MOST_LISTED + 1).collect()
    conditions = {MEMBER_SESSIONS: _listed(going_back, [row.group_id for row in keys])} if keys else {}
    frames, where = [], {}
    for spec in TABLES:
        if spec is REPLAY_SNAPSHOTS:
            continue
        where[spec] = replacing.condition(conditions.get(spec, going_back))
        rows = _rows(job, spec, replayed, starting, where[spec])
        frames.append((spec, replacing.without_superseded(rows, superseded) if spec in conditions else rows))
    job.replace(frames, where)
    changes = snapshots.changes(part_of(replayed, REPLAY_SNAPSHOTS.name), job.lake.read(REPLAY_SNAPSHOTS), starting)
    job.lake.put(REPLAY_SNAPSHOTS, changes, snapshots.IS_GONE)


def _rows(job: Job, spec: TableSpec, replayed: DataFrame, starting: DataFrame, where: str) -> DataFrame:
    told, old = table_of(replayed, spec), job.lake.read(spec)
    matched = old.where(where) if where else old
    return told.unionByName(replacing.staying(matched, starting))


def _listed(first: Sequence[str] | None, second: Sequence[str]) -> Sequence[str] | None:
    both = None if first is None else sorted({*first, *second})
    return None if both is None or len(both) > MOST_LISTED else both
