"""Has workers of this machine write what they replay into files, one for each part: its rows never pass the JVM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame

from jobs.frame.garbage import collect_rarely
from transforms.gold.timelines.columns import Part
from transforms.gold.timelines.kernel import Replay, in_order, replay_groups

LISTED = "part STRING, file STRING, row_count BIGINT"


def replayed_into(folder: Path, evidence: DataFrame, how: Replay, partitions: int) -> DataFrame:
    """Replay groups into files.

    Args:
        folder: where they are put; those of a task that failed may lie there too.
        evidence: as for `transforms.gold.timelines.kernel.replayed`.
        how: likewise.
        partitions: likewise.

    Returns:
        Columns `LISTED`: each part that has rows, a file of it, and how many rows that has.
    """

    def replay_into(evidence: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        collect_rarely()
        return written(replay_groups(iter(evidence), how), folder)

    return in_order(evidence, partitions).mapInArrow(replay_into, LISTED)


def written(told: Iterator[Part], folder: Path) -> Iterator[pa.RecordBatch]:
    """Write each part into a file, and yield what was written."""
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
    yield pa.RecordBatch.from_pydict(
        {"part": list(files), "file": list(files.values()), "row_count": [counts[name] for name in files]},
        pa.schema({"part": pa.string(), "file": pa.string(), "row_count": pa.int64()}),
    )
