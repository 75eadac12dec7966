"""The files of a table that hold what came after a load, and nothing else: what has to be asked of it is asked of them.

A run adds files of its own, so they mostly do; until a table is optimised, which puts the rows of several into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pyarrow import parquet

from jobs.lake.cluster_files import ClusterFile
from schemas.table import TableSpec
from transforms.loads import micros_of

_LOADED_AT = "loaded_at"


def loaded_after(spec: TableSpec, files: Sequence[ClusterFile], load: str | None) -> tuple[str, ...] | None:
    """Return the files with all rows of a table that came after a load, and no others.

    Args:
        spec: the table; its rows have a time of loading.
        files: its files.
        load: `loaded_at` of the newest rows that are known, ISO 8601 in UTC; None = none are.

    Returns:
        Their paths; None where a file has other rows too, or not all columns of the table.
    """
    stored = {*spec.columns} - {*spec.partitions}
    known = None if load is None else datetime.fromisoformat(load)
    found = []
    for file in files:
        if load is not None and not file.may_be_late(_LOADED_AT, micros_of(load) + 1):
            continue
        written = parquet.read_metadata(file.path)
        if not stored <= {*written.schema.to_arrow_schema().names}:
            return None
        if known is not None:  # of the table's log, which has milliseconds, it is not to be learnt for certain
            loads = _loads(written)
            if loads is not None and loads[1] <= known:
                continue
            if loads is None or loads[0] <= known:
                return None
        found.append(file.path)
    return tuple(found)


def _loads(written: parquet.FileMetaData) -> tuple[datetime, datetime] | None:
    """Return when the rows of a file were loaded, the first and the last."""
    place = {written.schema.column(at).path: at for at in range(written.num_columns)}.get(_LOADED_AT)
    if place is None:
        return None
    each = [written.row_group(at).column(place).statistics for at in range(written.num_row_groups)]
    if not each or any(known is None or not known.has_min_max for known in each):
        return None
    return min(known.min for known in each), max(known.max for known in each)
