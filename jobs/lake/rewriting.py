"""Rows of a table on a local disk put in the place of others without a query of Spark's, however many they are.

Files that have none of the rows that go stay as they are, those that have others too are written anew without them.
Delta does the same by Spark, and takes seconds of the driver's time for each table, however little changes in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyarrow import parquet

from jobs.frame.row_files import Part
from jobs.lake.cluster_files import ClusterFile, cluster_files
from jobs.lake.duckdb_files import are_nameable, connected, going, in_parts, laid_beside, rows_in, translated
from jobs.lake.local_commits import commit_files, number, properties
from jobs.lake.local_tables import LocalTables
from jobs.lake.new_files import FileWriter, NewFile
from schemas.table import TableSpec
from transforms.sql import truth
from transforms.wanted_rows import Wanted

Given: TypeAlias = "pa.Table | Sequence[Part]"
"""Rows: in this process, or in Parquet files of this machine, of which there is at least one."""

_ROWS_AT_ONCE = 4_096
"""A group's state has some 30 KB: so many are held in memory."""


class Write(NamedTuple):
    """What goes with a commit.

    Attributes:
        note: what is noted with it.
        transaction: name of the writer, and number of this write of its.
    """

    note: str
    transaction: tuple[str, int]


class Rewriting:
    """Rewrites one table.

    Args:
        tables: the tables of a cluster.
        spec: the table, which exists.
    """

    def __init__(self, tables: LocalTables, spec: TableSpec) -> None:
        self._tables = tables
        self._spec = spec

    def replace(
        self, given: Given, where: str, write: Write, staying: Wanted | None = None, settling: str = ""
    ) -> tuple[int, int] | None:
        """Put rows in the place of those of the cluster that a condition selects, in one commit; of no change, none.

        Args:
            given: columns of the table, of which `cluster` may be missing.
            where: condition in Spark's SQL; empty for all rows of the cluster.
            write: what goes with the commit.
            staying: which of the rows that it selects stay nevertheless, by its own condition and what lies beside.
            settling: SQL condition of rows that are settled by now, of those that stay; empty = none is.

        Returns:
            Number of rows put in, and of those taken out; None where that cannot be done without Delta.

        Raises:
            Overtaken: the writer's write of this number, or a later one, is there already.
            ValueError: of some rows it is not known whether they are settled.
        """
        with self._opened(given) as opened:
            if opened is None:
                return None
            opened = opened.beside(staying)
            parts = opened.parts(going(where, staying), settling)
            return self._commit(opened, parts, "true", write), parts.going_count

    def put(self, given: Given, is_gone: str, write: Write) -> tuple[int, int] | None:
        """Put rows in by key, in the place of those that there are, and take others out, in one commit.

        Args:
            given: columns of the table, unique by key.
            is_gone: name of one more column; where it is true, the row with this key is taken out. Empty = none is.
            write: what goes with the commit.

        Returns:
            Number of rows put in that were not there, and of those taken out; None and errors as for `replace`.
        """
        with self._opened(given) as opened:
            if opened is None:
                return None
            key = ", ".join(f'"{name}"' for name in self._spec.key if name != "cluster")
            parts = opened.parts(f"({key}) IN (SELECT ({key}) FROM given)")
            goes = f'"{is_gone}"' if is_gone else truth(False)
            gone = opened.count_there(key, goes)
            put = self._commit(opened, parts, f"NOT {goes}", write)
            return put - (parts.going_count - gone), gone

    @contextmanager
    def _opened(self, given: Given) -> Iterator[_Opened | None]:
        """Open the table as it is now, with the rows as `given` beside it; None where only Delta can read it."""
        table = self._tables.fitting(self._spec)
        folder, cluster = self._tables.log(self._spec).folder, self._tables.cluster
        files = () if table is None else cluster_files(table, folder, cluster)
        if table is None or not are_nameable(files):
            yield None
            return
        with connected() as connection:
            if isinstance(given, pa.Table):
                connection.register("given", given)
            else:
                connection.execute(f"CREATE TEMP VIEW given AS {in_parts(given)}")
            seen = DeltaTable(self._tables.log(self._spec).uri, version=table.version())
            yield _Opened(self._spec, seen, cluster, files, connection)

    def _commit(self, opened: _Opened, parts: _Parts, stays: str, write: Write) -> int:
        """Write those of the given rows that stay, and what stays of old files; return how many given ones."""
        put = opened.count(f"SELECT count(*) FROM given WHERE {stays}")
        new = self._written(chain(opened.batches(f"SELECT * FROM given WHERE {stays}"), opened.settled(parts)))
        if lacking := put + parts.settled_count - sum(file.row_count for file in new):
            raise ValueError(f"{self._spec.full_name}: {lacking} rows are neither settled nor not")
        for file in parts.mixed:
            writer = self._writer(file.is_settled)
            for batch in opened.staying(file, parts):
                writer.write(batch)
            new += writer.end()
        if new or parts.old:
            noted = properties(write.note, number(opened.table, write.transaction))
            commit_files(self._spec, opened.table, self._tables.cluster, new, parts.old, noted)
        return put

    def _written(self, rows: Iterable[pa.RecordBatch]) -> list[NewFile]:
        """Write rows beside the table; where its partitions tell what is settled, a file of each kind."""
        parts = (True, False) if "is_settled" in self._spec.partitions else (None,)
        writers = [self._writer(part) for part in parts]
        for batch in rows:
            for part, writer in zip(parts, writers, strict=True):
                writer.write(batch if part is None else batch.filter(pc.equal(batch.column("is_settled"), part)))
        return [file for writer in writers for file in writer.end()]

    def _writer(self, is_settled: bool | None) -> FileWriter:
        folder = self._tables.log(self._spec).folder
        return FileWriter(self._spec, folder, self._tables.cluster, is_settled=is_settled)


class _Parts(NamedTuple):
    """What a condition makes of a table.

    Attributes:
        going: condition of rows that go, in DuckDB's words.
        settling: condition of rows that stay, and are settled from now on, likewise.
        old: files that go.
        mixed: those of them that have rows that stay as they are.
        going_count: number of the rows that go.
        settled_count: number of those that are settled from now on.
    """

    going: str
    settling: str
    old: Sequence[ClusterFile] = ()
    mixed: Sequence[ClusterFile] = ()
    going_count: int = 0
    settled_count: int = 0


class _Opened(NamedTuple):
    """A table as it was found.

    Attributes:
        spec: the table.
        table: its version.
        cluster: whose rows are meant.
        files: of the cluster.
        connection: a DuckDB that knows the given rows as `given`.
        laid: what is laid beside the rows of a file for a condition to look at, as a join.
    """

    spec: TableSpec
    table: DeltaTable
    cluster: str
    files: Sequence[ClusterFile]
    connection: Any
    laid: str = ""

    def beside(self, wanted: Wanted | None) -> _Opened:
        """Lay beside the rows what some that are wanted have beside them."""
        return self._replace(laid=laid_beside(self.connection, wanted))

    def parts(self, going: str, settling: str = "") -> _Parts:
        """Find out which files have rows that go, or are settled from now on, and which of them others as well.

        Args:
            going: condition of the rows that go, in DuckDB's words.
            settling: condition of those that are settled if they stay, in Spark's SQL; empty = none is.
        """
        settles = f"(NOT {going} AND coalesce({translated(settling)}, false))" if settling else truth(False)
        parts = _Parts(going, settles)
        if not self.files:
            return parts
        # As a condition of the whole query, for what no row of a file can fulfil nothing of it is read.
        counts = " UNION ALL ".join(
            f"SELECT {at}, count(*) FILTER (WHERE {going}), count(*) FILTER (WHERE {settles}) "
            f"FROM {self._rows_in(file)} WHERE {going} OR {settles}"
            for at, file in enumerate(self.files)
        )
        found = [(self.files[at], *both) for at, *both in self.connection.sql(counts).fetchall() if any(both)]
        return parts._replace(
            old=[file for file, *_ in found],
            mixed=[file for file, *both in found if sum(both) < parquet.read_metadata(file.path).num_rows],
            going_count=sum(going for _, going, _ in found),
            settled_count=sum(settled for _, _, settled in found),
        )

    def count(self, query: str) -> int:
        """Return the number that a query counts."""
        return int(self.connection.sql(query).fetchall()[0][0])

    def count_there(self, key: str, condition: str) -> int:
        """Return how many of the given rows that fulfil a condition have a key that the table has."""
        if not self.files:
            return 0
        there = " UNION ALL ".join(f"SELECT {key} FROM {self._rows_in(file)}" for file in self.files)
        return self.count(f"SELECT count(*) FROM given SEMI JOIN ({there}) USING ({key}) WHERE {condition}")

    def staying(self, file: ClusterFile, parts: _Parts) -> Iterable[pa.RecordBatch]:
        """Return the rows of a file that stay as they are, in their order."""
        stays = f"NOT {parts.going} AND NOT {parts.settling}"
        return self.batches(f"SELECT told.* FROM {self._rows_in(file)} WHERE {stays}")

    def settled(self, parts: _Parts) -> Iterator[pa.RecordBatch]:
        """Yield the rows of old files that are settled from now on, as such."""
        for file in parts.old if parts.settled_count else ():
            yield from self.batches(
                f"SELECT told.* REPLACE (true AS is_settled) FROM {self._rows_in(file)} WHERE {parts.settling}"
            )

    def batches(self, query: str) -> Iterable[pa.RecordBatch]:
        """Return the rows of a query, a few at a time."""
        rows: Iterable[pa.RecordBatch] = self.connection.sql(query).to_arrow_reader(_ROWS_AT_ONCE)
        return rows

    def _rows_in(self, file: ClusterFile) -> str:
        return f"({rows_in(self.spec, [file], self.cluster)}) told {self.laid}"
