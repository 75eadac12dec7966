"""Which groups of a cluster there are, for whoever asks for one that there is not."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.job import Job
from jobs.frame.report import printable
from jobs.lake.rows import collected
from schemas.tables.gold import GENERATIONS, GROUP_HEALTH, TRANSITIONS
from transforms.errors import SettingsError
from transforms.gold.as_of import near_names


def is_known(job: Job, group_id: str) -> bool:
    """Tell whether anything was told of a group at any time."""
    return not _groups(job).where(F.col("group_id") == group_id).limit(1).isEmpty()


def no_such_group(job: Job, group_id: str) -> SettingsError:
    """Return what to say to who asks for a group of which nothing is known: which groups have a name like it."""
    groups, name, cluster = _groups(job), printable(group_id), job.settings.cluster
    near = [printable(row["group_id"]) for row in collected(near_names(groups, group_id))]
    if near:
        return SettingsError(f"there is no group {name} in cluster {cluster}; near names: {', '.join(near)}")
    if groups.limit(1).isEmpty():
        return SettingsError(
            f"no groups of cluster {cluster} are in the lake {job.settings.lake.root}: nothing ran yet, or nothing was "
            "read that tells of generations, as records of __consumer_offsets and brokers' logs do"
        )
    return SettingsError(f"there is no group {name} in cluster {cluster}, nor one with a name like it")


def _groups(job: Job) -> DataFrame:
    """Return the names of all groups."""
    names = (job.lake.read(spec).select("group_id") for spec in (GROUP_HEALTH, TRANSITIONS, GENERATIONS))
    return reduce(DataFrame.unionByName, names)
