"""Tells how groups are now: those with news, and those that time alone makes others."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.frame.job import Job
from jobs.timelines.writing import MOST_LISTED
from schemas.tables.gold import GROUP_HEALTH
from transforms.gold.group_health import IS_AGEING, group_health
from transforms.sql import among
from transforms.wanted_rows import Wanted


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
    told = job.lake.answer(group_health(now), listed)
    where = {} if listed is None else {GROUP_HEALTH: among("group_id", listed)}
    job.replace([(GROUP_HEALTH, told)], where)


def _with_ageing(job: Job, groups: Sequence[str]) -> list[str] | None:
    """Add the groups whose rows are others as soon as time goes by; None = too many to list."""
    ageing = job.lake.some(GROUP_HEALTH, Wanted(where=IS_AGEING)).select("group_id").limit(MOST_LISTED + 1).collect()
    listed = sorted({*groups, *(row.group_id for row in ageing)})
    return listed if len(listed) <= MOST_LISTED else None
