"""Small text files beside the tables, on whatever storage the lake is.

On a local disk Python reads and writes them. Anywhere else they are listed, read and deleted by Hadoop's file system,
and written by Delta's own log store, which knows for each storage how a file appears there whole or not at all.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession

from jobs.jvm.gateway import hadoop_configuration, is_of_missing_file, java_session, packages, scala_seq


@dataclass(frozen=True)
class File:
    """A file in a folder.

    Attributes:
        name: without its folder.
        modified_ms: when it was written last, by the storage's clock, in milliseconds of the epoch.
    """

    name: str
    modified_ms: int


class Files(Protocol):
    """Files below one root; paths are relative to it."""

    def list(self, folder: str) -> list[File]:
        """List the files of a folder; none if it does not exist."""

    def read(self, path: str) -> str | None:
        """Return a file's text, or None if there is no such file."""

    def write(self, path: str, text: str) -> None:
        """Write a file anew: whoever reads it finds the old text or the new one."""

    def delete(self, path: str) -> None:
        """Delete a file, if it is there."""


class LocalFiles:
    """Files on a local disk.

    Args:
        root: folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def list(self, folder: str) -> list[File]:
        """List the files of a folder; none if it does not exist."""
        found = []
        for path in (self._root / folder).glob("[!.]*"):
            try:
                found.append(File(path.name, path.stat().st_mtime_ns // 1_000_000))
            except FileNotFoundError:  # deleted since
                continue
        return found

    def read(self, path: str) -> str | None:
        """Return a file's text, or None if there is no such file."""
        try:
            return (self._root / path).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def write(self, path: str, text: str) -> None:
        """Write a file anew: whoever reads it finds the old text or the new one."""
        where = self._root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        scratch = where.with_name(f".{where.name}.{secrets.token_hex(8)}")
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(where)

    def delete(self, path: str) -> None:
        """Delete a file, if it is there."""
        (self._root / path).unlink(missing_ok=True)


class HadoopFiles:
    """Files on any storage that Hadoop reaches.

    Args:
        spark: the session.
        root: folder or URI.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._root = root
        self._java = packages(spark)
        self._conf = hadoop_configuration(spark)

    def list(self, folder: str) -> list[File]:
        """List the files of a folder; none if it does not exist."""
        try:
            found = self._system().listStatus(self._path(folder))
        except Exception as error:
            if is_of_missing_file(error):
                return []
            raise
        return [File(each.getPath().getName(), int(each.getModificationTime())) for each in found]

    def read(self, path: str) -> str | None:
        """Return a file's text, or None if there is no such file."""
        try:
            opened = self._system().open(self._path(path))
        except Exception as error:
            if is_of_missing_file(error):
                return None
            raise
        try:
            return str(self._java.org.apache.commons.io.IOUtils.toString(opened, "UTF-8"))
        finally:
            opened.close()

    def write(self, path: str, text: str) -> None:
        """Write a file anew: whoever reads it finds the old text or the new one."""
        where = self._path(path)
        self._system().mkdirs(where.getParent())
        store = self._java.org.apache.spark.sql.delta.storage.LogStore.apply(java_session(self._spark))
        store.write(where, scala_seq(self._spark, [text]).iterator(), True, self._conf)

    def delete(self, path: str) -> None:
        """Delete a file, if it is there."""
        self._system().delete(self._path(path), False)

    def _path(self, path: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(f"{self._root}/{path}")

    def _system(self) -> Any:
        return self._path("").getFileSystem(self._conf)
