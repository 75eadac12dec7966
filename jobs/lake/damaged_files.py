"""Tells of what failed because a file is gone or damaged which file that is, and how to go on without it.

Spark, DuckDB, delta-rs and Arrow read the files of tables, each with errors of its own, of which some do not even name
the table. So once something has failed, the files are looked at, where they lie on this machine. Elsewhere, and of
sources that Spark reads, there is what Spark says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
from deltalake.exceptions import DeltaError
from pyarrow import parquet

from jobs.lake.found_rows import MOST_BYTES
from jobs.lake.local_log import LocalLog
from schemas.table import Layer, TableSpec
from transforms.errors import LakeError, QualityError, SettingsError, SourceError

_MAGIC = b"PAR1"
"""How a Parquet file begins and ends."""

_BY_SPARK = re.compile(r"\[FAILED_READ_FILE\S*\] Encountered error while reading file (.+?)\.(?:\s|$)")
"""How Spark says that it could not read a file, wherever that is: of a table, or of a source."""

_ANEW = {
    Layer.BRONZE: "fills it from the sources, as far back as they go",
    Layer.SILVER: "fills it from bronze, as far back as that goes",
    Layer.GOLD: "fills it from silver, as far back as that goes",
    Layer.QUALITY: "begins it anew",
}
"""What a run does that does not find a table, by layer."""


@contextmanager
def file_errors(root: str, folder: Path | None, specs: Sequence[TableSpec]) -> Iterator[None]:
    """Turn an error into one that says what to do if a file that was to be read is gone or damaged.

    Args:
        root: root of the tables, a folder or URI.
        folder: the same, if it is a folder of this machine.
        specs: the tables.

    Raises:
        LakeError: the file is a table's.
        SourceError: it is not.
    """
    try:
        yield
    except (SettingsError, SourceError, QualityError):
        raise
    except Exception as error:
        causes = [*_causes(error)]
        said = "\n".join(map(str, causes))
        found: LakeError | SourceError | None = None
        if folder is not None:
            found = _damage(folder, specs, said, any(map(_is_of_reading, causes)))
        if found is None and (by_spark := _BY_SPARK.search(said)) is not None:
            found = _of_spark(unquote(by_spark[1]), unquote(root), specs)
        if found is None:
            raise
        raise found from error


def _of_spark(file: str, root: str, specs: Sequence[TableSpec]) -> LakeError | SourceError:
    for spec in specs:
        if (table := f"{root}/{spec.layer.value}/{spec.name}") + "/" in file:
            return _error(spec, table, f"has a file that is gone or damaged, {file}")
    return SourceError(
        f"{file} is gone or damaged: bring it back from a copy, or take it away: a run reads what else there is"
    )


def _error(spec: TableSpec, table: Path | str, wrong: str) -> LakeError:
    return LakeError(
        f"{spec.full_name} {wrong}: bring it back from a copy, or move {table} elsewhere: "
        f"each cluster's next run {_ANEW[spec.layer]}"
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and those that it comes of."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_of_reading(error: BaseException) -> bool:
    """Tell whether Arrow or DuckDB may say it of the pages of a file: they do not say which one it is."""
    if isinstance(error, OSError):
        return error.errno is None  # the system's own errors have a number
    return isinstance(error, pa.ArrowException) or type(error).__module__ == "_duckdb"


def _damage(folder: Path, specs: Sequence[TableSpec], said: str, is_of_reading: bool) -> LakeError | None:
    """Return what is to be said of the first table that is not whole."""
    for spec in specs:
        table = folder / spec.layer.value / spec.name
        if (wrong := _wrong_in(table, said, is_of_reading)) is not None:
            return _error(spec, table, wrong)
    return None


def _wrong_in(table: Path, said: str, is_of_reading: bool) -> str | None:
    """Return what is wrong with the first file of a table that is gone, or cannot be read, or that an error names."""
    try:
        sizes = _sizes(table)
    except DeltaError:
        return f"has a damaged log, {table / '_delta_log'}"
    # Who reads without a word of which file it is reads tables of few bytes alone.
    is_sound = _can_be_read if is_of_reading and sum(sizes.values()) <= MOST_BYTES else _is_whole
    for file in map(table.joinpath, sizes):
        if not file.exists():
            return f"lacks its file {file}"
        if file.name in said or not is_sound(file):
            return f"has a damaged file, {file}"
    return None


def _sizes(table: Path) -> dict[str, int]:
    """Return the bytes of a table's files by their paths in its folder; none where there is no table."""
    with suppress(OSError):
        if (there := LocalLog(table).table()) is not None:
            files = pa.table(there.get_add_actions()).to_pylist()
            return {unquote(file["path"]): file["size_bytes"] for file in files}
    return {}


def _is_whole(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            begin = opened.read(len(_MAGIC))
            opened.seek(-len(_MAGIC), os.SEEK_END)
            return begin == opened.read() == _MAGIC
    except OSError:  # also of a file that is shorter than that
        return False


def _can_be_read(file: Path) -> bool:
    try:
        for _ in parquet.ParquetFile(file).iter_batches():
            pass
    except (OSError, pa.ArrowException):
        return False
    return True
