"""Tells how groups are now: those with news, and those that time alone makes others."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import functions as F

from jobs.frame.job import Job
from jobs.frame.keeping import keeping
from jobs.timelines.writing import MOST_LISTED
from schemas.tables.gold import GROUP_HEALTH, STANDING_COMMITS
from schemas.tables.silver import OFFSET_COMMITS
from transforms.gold.group_health import IS_AGEING, IS_TO_BE_LOOKED_AT, aged, group_health
from transforms.sql import among
from transforms.wanted_rows import Wanted


def look_at_health(job: Job, groups: Sequence[str] | None, now: float | None, do_commits_stand: bool = True) -> None:
    """Put the rows of groups in the place of those that there are; after storms and bursts have been written.

    Args:
        job: the job.
        groups: the groups with news; None = all of them, or too many to list.
        now: the newest time in the data of the cluster (epoch ms).
        do_commits_stand: the run has written `gold.standing_commits`.
    """
    asked = group_health(now, STANDING_COMMITS if do_commits_stand else OFFSET_COMMITS)
    others_age = False
    if groups is not None:
        groups, others_age = _looked_at(job, groups)
    if groups == [] and not others_age:
        return
    with keeping() as keep:
        told = job.lake.answer(asked, groups, keep)
        if groups is None:
            job.replace([(GROUP_HEALTH, told)])
        elif others_age and now is not None:
            others = job.lake.answer(aged(now), None, keep).where(~F.expr(among("group_id", groups)))
            job.replace([(GROUP_HEALTH, told.unionByName(others))])
        else:
            job.replace([(GROUP_HEALTH, told)], {GROUP_HEALTH: among("group_id", groups)})


def _looked_at(job: Job, groups: Sequence[str]) -> tuple[list[str] | None, bool]:
    """Add the groups whose rows are others as soon as time goes by.

    Returns:
        The groups to look at; None = too many to list. And whether there are more whose windows alone go on, which are
        too many to list.
    """
    few = _with(job, groups, IS_AGEING)
    return (few, False) if few is not None else (_with(job, groups, IS_TO_BE_LOOKED_AT), True)


def _with(job: Job, groups: Sequence[str], condition: str) -> list[str] | None:
    rows = job.lake.some(GROUP_HEALTH, Wanted(where=condition)).select("group_id").limit(MOST_LISTED + 1).collect()
    listed = sorted({*groups, *(row.group_id for row in rows)})
    return listed if len(listed) <= MOST_LISTED else None
