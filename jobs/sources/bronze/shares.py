"""Rows of a bronze table as they lie in its files: cut into shares, which processes of this machine read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.lake.cluster_files import ClusterFile
from schemas.spark import struct_type
from schemas.table import TableSpec

LEAST_SHARE_BYTES, MOST_SHARE_BYTES = 16 << 20, 128 << 20
"""Bytes of values that one process reads at a time, about; a group of rows is not cut."""

_SHARES_PER_CORE = 4
"""Groups of rows are not alike: of several shares the last ones are not waited for as long."""


@dataclass(frozen=True)
class Piece:
    """Part of a file.

    Attributes:
        path: of the file.
        group: place of the group of rows that is read.
    """

    path: str
    group: int


Share = tuple[Piece, ...]
"""What one process reads."""


def plan(files: Sequence[ClusterFile], cores: int) -> list[Share]:
    """Cut files into shares of about one size, in their order."""
    groups = [each for file in files for each in _groups_of(file)]
    total = sum(size for _, size in groups)
    share_bytes = min(max(total // (cores * _SHARES_PER_CORE), LEAST_SHARE_BYTES), MOST_SHARE_BYTES)
    shares: list[Share] = []
    held: list[Piece] = []
    size = 0
    for piece, of_group in groups:
        held.append(piece)
        size += of_group
        if size >= share_bytes:
            shares.append(tuple(held))
            held, size = [], 0
    return [*shares, tuple(held)] if held else shares


def _groups_of(file: ClusterFile) -> Iterator[tuple[Piece, int]]:
    known = parquet.read_metadata(file.path)
    for place in range(known.num_row_groups):
        yield Piece(file.path, place), known.row_group(place).total_byte_size


def batches(share: Share, spec: TableSpec, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    """Read a share.

    Args:
        share: the share.
        spec: the table.
        names: columns that are read.
        rows: of a batch, at most.

    Yields:
        The columns, with the types that the table has.
    """
    whole = to_arrow_schema(struct_type(spec).toNullable())
    schema = pa.schema([whole.field(name) for name in names])
    for piece in share:
        file = parquet.ParquetFile(piece.path, coerce_int96_timestamp_unit="us")  # Spark writes times so
        for batch in file.iter_batches(rows, row_groups=[piece.group], columns=list(names)):
            yield batch.select(names).cast(schema)
