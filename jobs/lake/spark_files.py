"""The files of tables on a local disk, as Spark reads them without Delta.

Delta looks for the files of a table by queries of its own, a second of the driver's time for each version that is read,
and some tenths of one for each query. The log that delta-rs has read already says which files there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from jobs.frame.row_files import named
from jobs.lake.cluster_files import ClusterFile
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.given_rows import given
from transforms.sql import truth

MOST_FILES = 100
"""Spark opens each file to see whether it has any of the rows that are sought; of more, Delta knows sooner."""

_PATTERN = set("*?[]{}\\")
"""Spark takes names with these for patterns."""


def rows_in_files(
    spark: SparkSession, spec: TableSpec, files: Sequence[ClusterFile], folder: Path, cluster: str
) -> DataFrame | None:
    """Return the rows of files.

    Args:
        spark: the session.
        spec: their table; a column that was added after a file had been written is null in the file's rows.
        files: all files of a cluster.
        folder: where the table lies.
        cluster: the cluster.

    Returns:
        The rows; None where Spark cannot read them so, or would be slower than Delta.
    """
    kind = struct_type(spec).toNullable()
    if not files:
        return given(spark, kind)
    if len(files) > MOST_FILES or not all(_is_readable(spec, file, cluster) for file in files):
        return None
    reader = spark.read.schema(kind).option("basePath", named(folder))
    return reader.parquet(*(named(file.path) for file in files)).select(*spec.columns)


def _is_readable(spec: TableSpec, file: ClusterFile, cluster: str) -> bool:
    """Tell whether Spark takes a file's name for what it is, and finds there what the log says of its partition."""
    values = {"cluster": cluster, "is_settled": truth(bool(file.is_settled))}
    wanted = [f"{name}={values[name]}" for name in spec.partitions]
    found = [unquote(part, encoding="latin-1") for part in PurePath(file.name).parts[:-1]]
    return found == wanted and not _PATTERN & set(file.path)
