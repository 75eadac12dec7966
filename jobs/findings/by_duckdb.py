"""Searches that are made without Spark, in rows that are at hand or in files of this machine.

DuckDB finds what findings are made of, and what belongs to each. Of large tables processes of this machine search a
share of the groups each.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.frame.row_files import new_file, of_files
from jobs.frame.side_by_side import side_by_side
from jobs.lake.duckdb_files import (
    connected,
    in_files,
    out_of_memory,
    part_in,
    part_of,
    place_of,
    put_apart,
    size_of,
    spilling,
    translated,
    without_spark,
)
from schemas.spark import struct_type
from transforms.given_rows import held
from transforms.gold.findings.kernel import RUN, judged_findings
from transforms.gold.findings.search import FOUND, Search
from transforms.sql import truth

BYTES_OF_A_SHARE = 32 << 20
"""Of so many bytes of files, findings are searched by this process; of more, several share the groups."""

MOST_OF_ALL_FILES = 8
"""So many shares read all files, each for its groups; for more, the rows of each are put apart first, in one pass."""

MOST_PARTS = 256
"""A share that does not fit into memory is halved, and its halves, up to so many."""

_BATCH_ROWS = 20_000
"""Rows of evidence that are read at a time."""

_MEMORY, _MEMORY_OF_LAST = "1GB", "4GB"
"""What DuckDB holds in a process that has a share; the rest goes to the disk. What cannot be halved any more has more:
a finding may be that large.
"""

_IN_ORDER = ", ".join(RUN)
_GROUP = "group_id"


@dataclass(frozen=True)
class Source:
    """Rows as DuckDB has them.

    Attributes:
        rows: the rows, or DuckDB's query for them.
        size: in bytes, as they lie on the disk.
    """

    rows: pa.Table | str
    size: int


@dataclass(frozen=True)
class _Share:
    """What one process searches.

    Attributes:
        search: with its statements in DuckDB's words.
        tables: what these read.
        number: of the share.
        count: of shares.
        folder: where the findings and what has no place in memory are put; None = this process has all there is.
        apart: by name, folders in which the rows of each share lie apart.
        part: of the share, if it is parted because it does not fit into memory.
        parts: into so many.
    """

    search: Search
    tables: Mapping[str, pa.Table | str]
    number: int = 0
    count: int = 1
    folder: Path | None = None
    apart: Mapping[str, Path] = field(default_factory=dict)
    part: int = 0
    parts: int = 1

    @property
    def groups(self) -> str:
        """Condition of rows of its groups, in DuckDB's SQL; what is of no group is of all."""
        hashed = f"hash({_GROUP})"
        is_own = f"{hashed} % {self.count} = {self.number} AND {hashed} // {self.count} % {self.parts} = {self.part}"
        return f"{_GROUP} IS NULL OR ({is_own})"


def source_of(frame: DataFrame) -> Source | None:
    """Return rows as DuckDB has them; None where only Spark does."""
    rows = without_spark(frame)
    return None if rows is None else Source(rows, size_of(frame))


def is_little(tables: Mapping[str, Source]) -> bool:
    """Tell whether this process alone searches."""
    return sum(source.size for source in tables.values()) <= BYTES_OF_A_SHARE


def searched_in(spark: SparkSession, search: Search, tables: Mapping[str, Source], folder: Path | None) -> DataFrame:
    """Return the findings of a search.

    Args:
        spark: the session that the rows are given to.
        search: the search; not one that only Spark can make.
        tables: what its statements read.
        folder: where processes put their findings; None = there is no such place.
    """
    own = replace(search, found=_named(search.found, tables), evidence=_named(search.evidence, tables))
    whole = _Share(own, {name: source.rows for name, source in tables.items()})
    kind = struct_type(search.spec).toNullable()
    if folder is None or is_little(tables):
        return held(spark, _found(whole), kind)
    processes = os.cpu_count() or 1
    rounds = sum(source.size for source in tables.values()) / (BYTES_OF_A_SHARE * search.breadth * processes)
    count = ceil(rounds) * processes  # in the last round, too, none is idle
    apart = _apart(search, tables, count, folder) if count > MOST_OF_ALL_FILES else {}
    shares = [replace(whole, number=number, count=count, folder=folder, apart=apart) for number in range(count)]
    return of_files(spark, list(side_by_side(_found_into_file, shares, processes)), kind)


def _apart(search: Search, tables: Mapping[str, Source], count: int, folder: Path) -> dict[str, Path]:
    """Put the rows of each share apart, as far as the search asks for them; those of no group are everybody's.

    Returns:
        By the name of those tables that lie in files: the folder of the shares (`duckdb_files.part_in`).
    """
    words = set(re.findall(r"\w+", search.found + search.evidence))
    apart = {}
    with connected(is_ordered=False, spill=spilling(folder, _MEMORY_OF_LAST)) as connection:
        for name, source in tables.items():
            if isinstance(source.rows, str):
                asked = ", ".join(f'"{column}"' for column in connection.sql(source.rows).columns if column in words)
                where = translated(f"SELECT * FROM told WHERE {search.where.get(name, truth(True))}")
                query = f"WITH told AS ({source.rows}) SELECT {asked} FROM ({where})"
                apart[name] = put_apart(connection, query, part_of(_GROUP, count), folder)
    return apart


def _named(statement: str, tables: Mapping[str, Source]) -> str:
    return translated(statement.format_map({name: name for name in (*tables, FOUND)}))


def _found_into_file(share: _Share) -> str:
    """Search, and return the file of the findings; a function of this module, so that processes import it."""
    assert share.folder is not None, "it is given to those who share the groups"
    file = new_file(share.folder)
    parquet.write_table(_found_in_parts(share), file)
    return file


def _found_in_parts(share: _Share) -> pa.Table:
    """Search; in two parts, one after the other, what does not fit into memory."""
    try:
        return _found(share)
    except out_of_memory():
        if share.parts >= MOST_PARTS:
            raise
    return pa.concat_tables(
        _found_in_parts(replace(share, part=part, parts=2 * share.parts))
        for part in (share.part, share.part + share.parts)
    )


def _found(share: _Share) -> pa.Table:
    kind = T.StructType([T.StructField(field.name, field.dataType) for field in struct_type(share.search.spec)])
    memory = _MEMORY if share.parts < MOST_PARTS else _MEMORY_OF_LAST
    spill = {"threads": "1", **spilling(share.folder, memory)} if share.folder else None
    with connected(is_ordered=False, spill=spill) as connection:
        for name, rows in share.tables.items():
            _lay(connection, name, rows, share)
        connection.execute(f"CREATE TEMP TABLE {FOUND} AS {share.search.found}")
        evidence = connection.sql(f"SELECT {_IN_ORDER}, row FROM ({share.search.evidence}) ORDER BY {_IN_ORDER}")
        batches = judged_findings(iter(evidence.to_arrow_reader(_BATCH_ROWS)), share.search.judge, kind)
        return pa.Table.from_batches(batches, to_arrow_schema(kind))


def _lay(connection: Any, name: str, rows: pa.Table | str, share: _Share) -> None:
    """Have a connection know the rows of the groups of a share by a name."""
    if isinstance(rows, str) and name in share.apart:
        files = part_in(share.apart[name], share.number)
        # Where there are none, the files of the table tell the columns.
        rows = in_files(files) if files else f"SELECT * FROM ({rows}) WHERE false"
    of_share = "" if share.count == share.parts == 1 else f" WHERE {share.groups}"
    connection.execute(f'CREATE TEMP VIEW "{name}" AS SELECT * FROM {place_of(connection, name, rows)}{of_share}')
