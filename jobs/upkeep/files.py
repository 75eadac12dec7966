"""Keeps the files of a table few, and the rows of a group together in them."""

from __future__ import annotations

from jobs.frame.job import Job
from schemas.table import Layer, TableSpec

NAME = "upkeep"

LARGE_BYTES = 256 << 20
"""From this size on it pays to lay the rows of a group together: a smaller table is a file or two."""

GROWTH = 1.5
"""All rows are laid anew whenever a table has grown by so much, so that each row is moved a few times in all."""


def tidy(job: Job, spec: TableSpec) -> None:
    """Join the small files of a table; of a large one that has grown, lay the rows of each group together."""
    sizes = job.lake.notes.get(NAME) or {}
    size = job.lake.size_bytes(spec)
    is_sought_by_group = "group_id" in spec.columns and spec.layer is not Layer.BRONZE
    if is_sought_by_group and size >= max(LARGE_BYTES, GROWTH * sizes.get(spec.full_name, 0)):
        job.lake.compact(spec, ["group_id"])
        job.lake.notes.put(NAME, {**sizes, spec.full_name: job.lake.size_bytes(spec)})
    else:
        job.lake.compact(spec)
