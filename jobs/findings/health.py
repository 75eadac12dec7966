"""Tells how groups are now: those with news, and those that time alone makes others."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.job import Job
from jobs.timelines.writing import MOST_LISTED
from schemas.table import TableSpec
from schemas.tables.gold import GROUP_HEALTH, ILLEGAL_GENERATION_BURSTS, REBALANCE_STORMS
from transforms.gold.group_health import READ, group_health, is_ageing
from transforms.gold.timelines.replacing import of_groups


def look_at_health(job: Job, groups: Sequence[str] | None, now: float | None) -> None:
    """Put the rows of groups in the place of those that there are; after storms and bursts have been written.

    Args:
        job: the job.
        groups: the groups with news; None = all of them, or too many to list.
        now: the newest time in the data of the cluster (epoch ms).
    """
    listed = None if groups is None else _with_ageing(job, groups)
    if listed == []:
        return

    def rows(spec: TableSpec) -> DataFrame:
        every = job.lake.read(spec)
        return every if listed is None else every.where(F.col("group_id").isin(listed))

    tables = {spec: rows(spec) for spec in (*READ, REBALANCE_STORMS, ILLEGAL_GENERATION_BURSTS)}
    where = {} if listed is None else {GROUP_HEALTH: of_groups(listed)}
    job.replace([(GROUP_HEALTH, group_health(tables, now))], where)


def _with_ageing(job: Job, groups: Sequence[str]) -> list[str] | None:
    """Add the groups whose rows are others as soon as time goes by; None = too many to list."""
    ageing = job.lake.read(GROUP_HEALTH).where(is_ageing()).select("group_id").limit(MOST_LISTED + 1).collect()
    listed = sorted({*groups, *(row.group_id for row in ageing)})
    return listed if len(listed) <= MOST_LISTED else None
