"""Where rows of one table land that processes of this machine write as files, and what they are compared with.

It is looked up by the driver once, before anything is read, and goes to the processes as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from jobs.lake.cluster_files import ClusterFile
from jobs.lake.new_files import FileWriter
from jobs.lake.retired import source_of, written_at
from schemas.table import TableSpec

Numbers = np.ndarray[Any, np.dtype[np.int64]]

_WINDOW = 1 << 22
"""Offsets whose rows are looked up at once: 32 MB of numbers at most."""


@dataclass(frozen=True)
class Landing:
    """Where rows of one table land.

    Attributes:
        spec: the table.
        folder: where it lies.
        cluster: whose rows they are.
        loaded_at: time of loading of all of them.
        turn: number of the append that is to add them, taken before the table was looked at.
        there: the cluster's files.
        retired: moments before which rows have gone of age, ISO 8601, by source.
    """

    spec: TableSpec
    folder: Path
    cluster: str
    loaded_at: datetime
    turn: int
    there: tuple[ClusterFile, ...]
    retired: dict[str, str]

    def writer(self) -> FileWriter:
        """Return what writes one more file."""
        return FileWriter(self.spec, self.folder, self.cluster, self.loaded_at)

    def left_out(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows without those that have gone before because of their age, or would have."""
        source = source_of(self.spec)
        if source is None or not self.retired:
            return rows
        sources, moments = rows.column(source).cast(pa.string()), rows.column(written_at(self.spec))
        gone = pa.repeat(pa.scalar(False), rows.num_rows)
        for name, before in self.retired.items():
            limit = pa.scalar(datetime.fromisoformat(before), moments.type)
            is_gone = pc.and_(pc.equal(sources, name), pc.less(moments, limit))
            gone = pc.or_(gone, pc.fill_null(is_gone, False))
        return rows.filter(pc.invert(gone))


class RecordsThere:
    """Looks up which records of a partition a table has already, some offsets at a time.

    Args:
        there: files of the table.
    """

    def __init__(self, there: Sequence[ClusterFile]) -> None:
        self._there = there
        self._topic_partition = -1
        self._first, self._behind = 0, 0
        self._offsets = np.empty(0, np.int64)

    def without(self, topic_partition: int, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return those of a partition's records that the table does not have."""
        if not self._there or not rows.num_rows:
            return rows
        offsets = rows.column("record_offset").to_numpy()
        first, last = int(offsets.min()), int(offsets.max())
        if topic_partition != self._topic_partition or first < self._first or last >= self._behind:
            self._topic_partition, self._first, self._behind = topic_partition, first, max(first + _WINDOW, last + 1)
            self._offsets = self._looked_up()
        if not len(self._offsets):
            return rows
        at = np.minimum(np.searchsorted(self._offsets, offsets), len(self._offsets) - 1)
        return rows.filter(pa.array(self._offsets[at] != offsets))

    def _looked_up(self) -> Numbers:
        found = [np.empty(0, np.int64)]
        for file in self._there:
            if file.may_have("topic_partition", self._topic_partition, self._topic_partition) and file.may_have(
                "record_offset", self._first, self._behind - 1
            ):
                found += self._of_file(parquet.ParquetFile(file.path))
        return np.unique(np.concatenate(found))

    def _of_file(self, file: parquet.ParquetFile) -> list[Numbers]:
        wanted = (
            ("topic_partition", self._topic_partition, self._topic_partition),
            ("record_offset", self._first, self._behind - 1),
        )
        groups = [at for at in range(file.num_row_groups) if _may_hold(file.metadata.row_group(at), wanted)]
        found = []
        for rows in file.iter_batches(row_groups=groups, columns=[name for name, _, _ in wanted]) if groups else ():
            offsets = rows.column("record_offset").to_numpy()
            is_wanted = rows.column("topic_partition").to_numpy() == self._topic_partition
            found.append(offsets[is_wanted & (offsets >= self._first) & (offsets < self._behind)].astype(np.int64))
        return found


class LinesThere:
    """Looks up which lines of logs a table has already.

    Args:
        there: files of the table.
        first: by the name of a log, the line that it is read from.
    """

    def __init__(self, there: Sequence[ClusterFile], first: Mapping[str, int]) -> None:
        self._there = there
        self._first = first
        self._names = sorted(first)
        self._known: dict[str, Numbers] | None = None

    def without(self, log: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return those of a log's rows whose lines the table does not have."""
        if not self._there or not rows.num_rows:
            return rows
        if self._known is None:
            self._known = self._looked_up()
        known = self._known.get(log)
        return rows if known is None else rows.filter(pa.array(~np.isin(rows.column("line_number").to_numpy(), known)))

    def _looked_up(self) -> dict[str, Numbers]:
        found: dict[str, list[Numbers]] = {}
        for file in self._there:
            least, greatest = file.least.get("source_file"), file.greatest.get("source_file")
            if not self._may_be_among(least, greatest, file.greatest.get("line_number")):
                continue
            for rows in self._of_groups(parquet.ParquetFile(file.path)):
                ours = rows.filter(pc.is_in(rows.column("source_file"), pa.array(self._names)))
                for name in pc.unique(ours.column("source_file")).to_pylist():
                    of_log = ours.filter(pc.equal(ours.column("source_file"), name)).column("line_number").to_numpy()
                    found.setdefault(name, []).append(of_log[of_log >= self._first[name]])
        return {name: np.unique(np.concatenate(each)) for name, each in found.items()}

    def _of_groups(self, file: parquet.ParquetFile) -> Iterator[pa.RecordBatch]:
        """Yield the rows of those groups of a file that may have such lines."""
        known, columns = file.metadata, ("source_file", "line_number")
        paths = [known.schema.column(at).path for at in range(known.num_columns)]
        places, groups = [paths.index(name) for name in columns], []
        for at in range(known.num_row_groups):
            group = known.row_group(at)
            (least, greatest), (_, last) = (_bounds(group.column(place).statistics) for place in places)
            if self._may_be_among(least, greatest, last):
                groups.append(at)
        return file.iter_batches(row_groups=groups, columns=columns) if groups else iter(())

    def _may_be_among(self, least: str | None, greatest: str | None, last: int | None) -> bool:
        """Tell whether among rows may be some of the logs' lines: of a log that grows most files have older ones.

        Args:
            least: least name of a log; None = not known.
            greatest: the greatest one.
            last: greatest number of a line.
        """
        begin = 0 if least is None else bisect_left(self._names, least)
        names = takewhile(lambda name: greatest is None or name <= greatest, islice(self._names, begin, None))
        return any(last is None or self._first[name] <= last for name in names)


def _bounds(known: parquet.Statistics | None) -> tuple[Any, Any]:
    """Return the least and the greatest value of a column; None where that is not known."""
    return (known.min, known.max) if known is not None and known.has_min_max else (None, None)


def _may_hold(group: parquet.RowGroupMetaData, wanted: Sequence[tuple[str, int, int]]) -> bool:
    columns = {group.column(at).path_in_schema: group.column(at).statistics for at in range(group.num_columns)}
    bounds = ((_bounds(columns[name]), first, last) for name, first, last in wanted)
    return all(least is None or (least <= last and first <= greatest) for (least, greatest), first, last in bounds)
