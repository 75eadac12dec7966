"""Has processes of this machine replay, each a share of the groups, and write what comes of it into files.

Neither the evidence nor the rows pass the JVM: DuckDB packs the one, share by share, and puts it in order.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from pyarrow import parquet

from jobs.frame.side_by_side import side_by_side
from jobs.lake.duckdb_files import connected, in_files, out_of_memory, part_in, spilling
from transforms.errors import SourceError
from transforms.gold.timelines.columns import Part
from transforms.gold.timelines.kernel import IN_ORDER, Replay, replay_groups

PARTED_BY = "group_id"
"""Column by which evidence is parted: a group is replayed as a whole."""

_ROWS_AT_ONCE = 10_000
"""Evidence that is read at a time."""

_MEMORY, _MOST_MEMORY = "1GB", "4GB"
"""What DuckDB holds in a process that puts evidence in order; the rest goes to the disk. More, where it must be."""


@dataclass(frozen=True)
class PartFile:
    """A file with rows of one part.

    Attributes:
        part: the part, of `transforms.gold.timelines.columns.REPLAY`.
        file: the file.
        row_count: how many rows it has.
    """

    part: str
    file: str
    row_count: int


@dataclass(frozen=True)
class _Share:
    """The evidence that one process replays, how, and the folder where it puts what comes of it."""

    files: list[str]
    how: Replay
    folder: Path


def processes() -> int:
    """Return how many processes replay at a time."""
    return os.cpu_count() or 1


def replayed_by_processes(evidence: Path, shares: int, how: Replay, folder: Path) -> list[PartFile]:
    """Replay groups into files.

    Args:
        evidence: folder in which the evidence of each share is a part (`duckdb_files.part_in`).
        shares: how many.
        how: how.
        folder: where files are put.
    """
    found = (part_in(evidence, number) for number in range(shares))
    given = [_Share(files, how, folder) for files in found if files]
    return [each for of_share in side_by_side(_replayed, given, processes()) for each in of_share]


def _replayed(share: _Share) -> list[PartFile]:
    """Replay a share of the groups; a function of this module, so that processes import it.

    Raises:
        SourceError: its evidence does not fit into what there is of memory and disk.
    """
    try:
        return _replayed_in(share, _MEMORY)
    except out_of_memory():  # before anything was replayed: all evidence is put in order first
        pass
    try:
        return _replayed_in(share, _MOST_MEMORY)
    except out_of_memory() as error:
        raise SourceError(
            "the evidence of a group could not be put in order: it takes more memory than there is, or more room than "
            "spark.local.dir has; run more often, so that less is new each time"
        ) from error


def _replayed_in(share: _Share, memory: str) -> list[PartFile]:
    with connected(is_ordered=False, spill={"threads": "1", **spilling(share.folder, memory)}) as connection:
        in_order = ", ".join(f'"{name}"' for name in IN_ORDER)
        ordered = connection.sql(f"{in_files(share.files)} ORDER BY {in_order}")
        return written(replay_groups(iter(ordered.to_arrow_reader(_ROWS_AT_ONCE)), share.how), share.folder)


def written(told: Iterator[Part], folder: Path) -> list[PartFile]:
    """Write each part into a file, and return what was written."""
    writers: dict[str, parquet.ParquetWriter] = {}
    files: dict[str, str] = {}
    counts = Counter[str]()
    with ExitStack() as stack:
        for name, rows in told:
            if name not in writers:
                files[name] = str(folder / f"{name}-{uuid4().hex}.parquet")
                writers[name] = stack.enter_context(parquet.ParquetWriter(files[name], rows.schema))
            writers[name].write_batch(rows)
            counts[name] += rows.num_rows
    return [PartFile(name, file, counts[name]) for name, file in files.items()]
