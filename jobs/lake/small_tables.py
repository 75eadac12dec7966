"""Tables on a local disk where a cluster's rows are few: held by the driver, and written as a whole.

What Spark is given with the plan costs it next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.jvm.delta_log import TableState
from jobs.lake.by_version import ByVersion
from jobs.lake.cluster_files import ClusterFile
from jobs.lake.duckdb_files import connected, going, laid_beside, translated
from jobs.lake.found_rows import is_at_hand
from jobs.lake.local_commits import properties
from jobs.lake.local_tables import LocalTables, is_fitting, sound
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.given_rows import held, rows_held
from transforms.wanted_rows import Wanted

FEW_ROWS = 20_000
"""So many rows of one cluster in one table are few."""

FEW_BYTES = 4 << 20
"""So many bytes of their files are few."""


class SmallTables(LocalTables):
    """The small ones among the tables of one cluster; its arguments are those of `LocalTables`."""

    def __init__(self, spark: SparkSession, folder: Path, cluster: str) -> None:
        super().__init__(spark, folder, cluster)
        self._few = ByVersion[tuple[int, DataFrame | None]]()

    def rows(self, spec: TableSpec) -> DataFrame | None:
        """Return the cluster's rows of a table that exists, as they are now; None if they are not few."""
        return self._at_version(spec)[1]

    def some(self, spec: TableSpec, wanted: Wanted) -> DataFrame | None:
        """Return few rows of the cluster out of a table that exists; None if they are not few."""
        few = self.rows(spec)
        if few is None:
            return super().some(spec, wanted)
        if not is_at_hand(wanted.beside):
            return None
        kind = wanted.kind_of(spec)
        return held(self._spark, _those(rows_held(few), wanted.in_sql(), wanted).select(kind.names), kind)

    def replace(
        self,
        spec: TableSpec,
        rows: pa.Table,
        where: str,
        note: str,
        staying: Wanted | None = None,
        settling: str = "",
    ) -> tuple[int, int]:
        """Put rows in the place of those of the cluster that a condition selects, in one commit; of no change, none.

        Args:
            spec: the table, which is small.
            rows: its columns.
            where: SQL condition; empty for all rows of the cluster.
            note: what is noted with the commit.
            staying: which of the rows that it selects stay nevertheless, by its own condition and what lies beside.
            settling: SQL condition of rows that are settled by now, of those that stay; empty = none is.

        Returns:
            Number of rows put in, and of those taken out.
        """
        old, version = self._old(spec)
        kept = _those(old, f"NOT {going(where, staying)}", staying)
        gone = old.num_rows - kept.num_rows
        by_now = _those(kept, translated(settling), None) if settling else kept.slice(0, 0)
        if by_now.num_rows:
            kept = pa.concat_tables([_those(kept, f"({translated(settling)}) IS NOT TRUE", None), _settled(by_now)])
        if rows.num_rows or gone or by_now.num_rows:
            self._overwrite(spec, version, [kept, rows], note)
        return rows.num_rows, gone

    def put(self, spec: TableSpec, rows: pa.Table, is_gone: str, note: str) -> tuple[int, int]:
        """Put rows in by key, in the place of those that there are, and take others out, in one commit.

        Args:
            spec: the table, which is small.
            rows: its columns; unique by key.
            is_gone: name of one more column; where it is true, the row with this key is taken out. Empty = none is.
            note: what is noted with the commit.

        Returns:
            Number of rows put in that were not there, and of those taken out.
        """
        old, version = self._old(spec)
        before, named = _keys(spec, old), _keys(spec, rows)
        goes = [bool(each) for each in rows.column(is_gone).to_pylist()] if is_gone else [False] * rows.num_rows
        staying = old.filter(pa.array((key not in named for key in before), pa.bool_()))
        stays = rows.filter(pa.array((not each for each in goes), pa.bool_()))
        if named:
            self._overwrite(spec, version, [staying, stays], note)
        of_each = list(zip((key in before for key in named), goes, strict=True))
        return of_each.count((False, False)), of_each.count((True, True))

    def _old(self, spec: TableSpec) -> tuple[pa.Table, int]:
        """Return the cluster's rows of a small table, and the version that has them."""
        version, frame = self._at_version(spec)
        assert frame is not None, "it is small"
        return rows_held(frame), version

    def _at_version(self, spec: TableSpec) -> tuple[int, DataFrame | None]:
        """Return a table's latest version, and its rows of the cluster, if they are few."""
        state = self._state(spec)

        def find() -> tuple[int, DataFrame | None]:
            found = self._found(spec, state.version)
            return state.version, None if found is None else self._held(spec, found)

        return self._few.of(spec, state, find)

    def _held(self, spec: TableSpec, rows: pa.Table) -> DataFrame:
        return held(self._spark, rows, struct_type(spec).toNullable())

    def _overwrite(self, spec: TableSpec, version: int, parts: Sequence[pa.Table], note: str) -> None:
        """Put rows in the place of all that the cluster has in a table, unless they changed since a version."""
        kind = to_arrow_schema(struct_type(spec).toNullable())
        cluster = "'" + self.cluster.replace("'", "''") + "'"
        table = DeltaTable(self.log(spec).uri, version=version)
        rows = sound(pa.concat_tables([part.select(spec.columns).cast(kind) for part in parts]))
        write_deltalake(
            table, rows, mode="overwrite", predicate=f"cluster = {cluster}", commit_properties=properties(note)
        )
        if rows.num_rows <= FEW_ROWS:  # and need not be read to be known
            written = TableState(str(table.metadata().id), table.version())
            self._few.note(spec, written, (written.version, self._held(spec, rows)))

    def _found(self, spec: TableSpec, version: int) -> pa.Table | None:
        table = DeltaTable(self.log(spec).uri, version=version)
        if not is_fitting(spec, table) or not _are_few(self._files_of(spec, table)):
            return None
        found = table.to_pyarrow_table(filters=[("cluster", "=", self.cluster)], columns=list(spec.columns))
        return found.cast(to_arrow_schema(struct_type(spec).toNullable()))


def _are_few(files: Sequence[ClusterFile]) -> bool:
    counts = [file.row_count for file in files]
    size = sum(file.size for file in files)
    return all(each is not None for each in counts) and sum(filter(None, counts)) <= FEW_ROWS and size <= FEW_BYTES


def _those(rows: pa.Table, condition: str, by: Wanted | None) -> pa.Table:
    """Return the rows that fulfil a condition of DuckDB's.

    Args:
        rows: the rows.
        condition: it may look at what is laid beside the rows.
        by: has what is laid beside them.
    """
    if not rows.num_rows:
        return rows
    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    with connected() as connection:
        connection.register("rows", rows.select(plain).append_column("_place", pa.array(range(rows.num_rows))))
        found = f'SELECT _place FROM "rows" {laid_beside(connection, by)} WHERE {condition} ORDER BY _place'
        return rows.take(connection.sql(found).to_arrow_table().column(0))


def _settled(rows: pa.Table) -> pa.Table:
    """Return rows as settled ones."""
    place = rows.schema.get_field_index("is_settled")
    return rows.set_column(place, rows.schema.field(place), pa.repeat(pa.scalar(True), rows.num_rows))


def _keys(spec: TableSpec, rows: pa.Table) -> dict[tuple[object, ...], None]:
    """Return the keys of rows, which are unique, in their order."""
    return dict.fromkeys(zip(*(rows.column(name).to_pylist() for name in spec.key), strict=True))
