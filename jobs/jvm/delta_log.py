"""What the log of a Delta table says, read by Delta itself without a query: a query costs a hundred times as much."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from jobs.jvm.gateway import hadoop_configuration, is_of_missing_file, java_session, packages, scala_none


@dataclass(frozen=True)
class TableState:
    """Which table it is, and at which version.

    Attributes:
        table_id: another one once the table has been deleted and made anew.
        version: that of the latest commit.
    """

    table_id: str
    version: int


@dataclass(frozen=True)
class Layout:
    """How a table is laid out.

    Attributes:
        columns: their names.
        partitions: columns that it is partitioned by.
    """

    columns: tuple[str, ...]
    partitions: tuple[str, ...]


@dataclass(frozen=True)
class Commit:
    """A commit, as it tells of itself.

    Attributes:
        version: of the table, by it.
        operation: Delta's name for what was done, such as WRITE or OPTIMIZE.
        note: what the writer noted with it (Delta's userMetadata); empty if nothing.
        metrics: what was counted, by Delta's names.
    """

    version: int
    operation: str
    note: str
    metrics: dict[str, int] = field(default_factory=dict)


class TableLog(Protocol):
    """The log of one table, which need not exist."""

    def state(self) -> TableState | None:
        """Return what the table is at now; None if there is none."""

    def layout(self) -> Layout:
        """Return how the table is laid out now."""

    def transaction(self, application: str) -> int | None:
        """Return the number of the last write of an application, as the writer gave it; None before the first."""

    def commits(self, after: int) -> Iterator[Commit]:
        """Yield the commits later than a version, oldest first, up to one that is gone by now, as old ones may be."""


class DeltaLog:
    """The log of the table at a path, read by Delta itself.

    Args:
        spark: the session.
        path: where the table lies.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._path = path

    def state(self) -> TableState | None:
        """Return what the table is at now; None if there is none."""
        snapshot = self._snapshot()
        version = int(snapshot.version())
        return TableState(str(snapshot.metadata().id()), version) if version >= 0 else None

    def layout(self) -> Layout:
        """Return how the table is laid out now."""
        metadata = self._snapshot().metadata()
        partitions = metadata.partitionColumns()
        return Layout(
            tuple(metadata.schema().fieldNames()), tuple(partitions.apply(at) for at in range(partitions.size()))
        )

    def is_begun(self) -> bool:
        """Tell whether there is a log, be it one without any commit yet."""
        path = self._log().logPath()
        return bool(path.getFileSystem(hadoop_configuration(self._spark)).exists(path))

    def move(self, to: str) -> None:
        """Move the whole table to another place, which is not taken yet."""
        java = packages(self._spark)
        here, there = (java.org.apache.hadoop.fs.Path(path) for path in (self._path, to))
        system = here.getFileSystem(hadoop_configuration(self._spark))
        system.mkdirs(there.getParent())
        if not system.rename(here, there):
            raise OSError(f"{self._path} cannot be moved to {to}")
        java.org.apache.spark.sql.delta.DeltaLog.clearCache()

    def transaction(self, application: str) -> int | None:
        """Return the number of the last write of an application, as the writer gave it; None before the first."""
        snapshot = self._snapshot()
        checksum = snapshot.checksumOpt()
        listed = checksum.get().setTransactions() if checksum.isDefined() else checksum
        if not listed.isDefined():  # too many of them for Delta to list: this takes a query
            found = snapshot.transactions().get(application)
            return int(found.get()) if found.isDefined() else None
        each = listed.get().iterator()
        while each.hasNext():
            transaction = each.next()
            if transaction.appId() == application:
                return int(transaction.version())
        return None

    def commits(self, after: int) -> Iterator[Commit]:
        """Yield the commits later than a version, oldest first, up to one that is gone by now, as old ones may be."""
        log = self._log()
        names = packages(self._spark).org.apache.spark.sql.delta.util.FileNames
        for version in range(after + 1, int(log.update(False, self._none, self._none).version()) + 1):
            file = names.unsafeDeltaFile(log.logPath(), version)
            try:
                lines = log.store().read(file, hadoop_configuration(self._spark)).mkString("\n").split("\n")
            except Py4JJavaError as error:
                if is_of_missing_file(error):
                    return
                raise
            yield commit_of(version, lines)

    def _log(self) -> Any:
        return packages(self._spark).org.apache.spark.sql.delta.DeltaLog.forTable(java_session(self._spark), self._path)

    def _snapshot(self) -> Any:
        return self._log().update(False, self._none, self._none)

    @property
    def _none(self) -> Any:
        return scala_none(self._spark)


def commit_of(version: int, lines: Iterable[str]) -> Commit:
    """Read the lines of a commit up to what it says of itself."""
    for line in lines:
        info = json.loads(line).get("commitInfo") if line.startswith('{"commitInfo"') else None
        if info is not None:
            metrics = {
                name: int(value) for name, value in (info.get("operationMetrics") or {}).items() if str(value).isdigit()
            }
            return Commit(version, info.get("operation", ""), info.get("userMetadata") or "", metrics)
    return Commit(version, "", "")
