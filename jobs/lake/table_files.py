"""The files that a table is made of: joined, laid in order, and removed when no version needs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from delta.tables import DeltaTable
from pyspark.sql import SparkSession

_VACUUM_COMMITS = "spark.databricks.delta.vacuum.logging.enabled"
"""Whether a vacuum leaves two versions of the table, even if it found nothing to do."""


class TableFiles:
    """The files of the table at a path.

    Args:
        spark: the session.
        path: where the table lies.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._table = DeltaTable.forPath(spark, path)

    def compact(self, where: str, by: Sequence[str] = ()) -> None:
        """Join small files.

        Args:
            where: SQL condition on columns that the table is partitioned by; files of other partitions stay.
            by: columns; if given, rows that are alike in them are laid together (Z-order), in all files.
        """
        files = self._table.optimize().where(where)
        if by:
            files.executeZOrderBy(list(by))
        else:
            files.executeCompaction()

    def vacuum(self, retain_hours: float) -> None:
        """Remove files that no version younger than `retain_hours` needs."""
        with setting(self._spark, _VACUUM_COMMITS, "false"):
            self._table.vacuum(retain_hours)

    def size_bytes(self) -> int:
        """Return the size of the files of the latest version."""
        return int(self._table.detail().collect()[0]["sizeInBytes"])


@contextmanager
def setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    """Set an option of the session for a while."""
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.unset(key)
