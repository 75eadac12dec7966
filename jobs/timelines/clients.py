"""Lays what clients' own logs say beside the timelines: for groups that were replayed, or have new lines of clients."""

from __future__ import annotations

from pyspark.sql import DataFrame

from jobs.frame.job import Job
from jobs.frame.keeping import at_hand
from jobs.lake.increments import increment
from jobs.quality.gate import Batch, audited
from jobs.timelines.writing import MOST_LISTED
from schemas.tables.gold import CLIENT_TIMELINE
from schemas.tables.silver import CLIENT_EVENTS
from transforms.gold.timelines.clients import INPUTS, TOLD, laid
from transforms.gold.timelines.columns import part_of, table_of
from transforms.gold.timelines.evidence import GROUP
from transforms.gold.timelines.replacing import EVERYTHING
from transforms.sql import among

STEP = "lay_clients"


def lay_clients(job: Job, replayed: DataFrame | None) -> list[str] | None:
    """Bring the clients' timeline, and what clients have a word in, up to date.

    Args:
        job: the job.
        replayed: cluster and group_id of the groups that were replayed; None = of none.

    Returns:
        Ids of the groups whose rows were written; None = too many to list.
    """
    found = increment(job.lake, STEP, [CLIENT_EVENTS], [CLIENT_TIMELINE])
    if found.now[CLIENT_EVENTS.full_name] is None or (found.is_empty and replayed is None):
        return []
    events = job.lake.read(CLIENT_EVENTS).where("group_id IS NOT NULL")
    groups, few = at_hand(_groups(found.new(job.lake, CLIENT_EVENTS), events, replayed), MOST_LISTED)
    if few != []:
        job.report.activity("laying clients' lines beside the timelines")
        where = EVERYTHING if few is None else among("group_id", [row["group_id"] for row in few])
        tables = {spec: job.lake.read(spec) for spec in INPUTS} | {CLIENT_EVENTS: events}
        if where:
            tables = {spec: rows.where(where) for spec, rows in tables.items()}
        given = job.staged(laid(tables, groups))
        old = job.lake.read(CLIENT_TIMELINE)
        staying = (old.where(where) if where else old).join(groups, [*GROUP], "left_anti")
        told = table_of(given, CLIENT_TIMELINE)
        with audited(job, Batch({CLIENT_TIMELINE: told})):
            timeline = told.unionByName(staying.select(old.columns))
            job.replace([(CLIENT_TIMELINE, timeline)], {CLIENT_TIMELINE: where})
        for spec, columns in TOLD.items():
            job.lake.update(spec, part_of(given, spec.name), columns)
    job.lake.progress.note(STEP, [CLIENT_TIMELINE], found.now)
    return None if few is None else [row["group_id"] for row in few]


def _groups(new: DataFrame, events: DataFrame, replayed: DataFrame | None) -> DataFrame:
    """Return the groups with new lines, and those that were replayed and have lines."""
    named = new.where("group_id IS NOT NULL").select(*GROUP)
    if replayed is None:
        return named.distinct()
    again = events.select(*GROUP).join(replayed.select(*GROUP), [*GROUP], "left_semi")
    return named.unionByName(again).distinct()
