"""Small text files beside the tables, on whatever storage the lake is.

They are listed, read and deleted by Hadoop's file system, and written by Delta's own log store, which knows for each
storage how a file appears there whole or not at all. It does not for a local disk: Hadoop keeps a checksum beside each
file there, and whoever reads between the two finds that they do not fit. So on a local disk they are left out.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from jobs.jvm.gateway import causes, hadoop_configuration, java_session, packages, scala_seq

_MISSING = ("java.io.FileNotFoundException", "java.nio.file.NoSuchFileException")
_LOCAL = "file"
_S3_SCHEMES = ("s3", "s3a", "s3n")


@dataclass(frozen=True)
class File:
    """A file in a folder.

    Attributes:
        name: without its folder.
        modified_ms: when it was written last, by the storage's clock, in milliseconds of the epoch.
    """

    name: str
    modified_ms: int


class Files:
    """Files below one root.

    Args:
        spark: the session.
        root: folder or URI; paths are relative to it.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._root = root
        self._java = packages(spark)
        self._conf = hadoop_configuration(spark)

    def make_root(self) -> bool:
        """Make the root if it is not there; tell whether it is now, and raise what Java does if it may not be used."""
        root = self._path("")
        system = root.getFileSystem(self._conf)
        if not system.mkdirs(root):
            return False
        system.access(root, self._java.org.apache.hadoop.fs.permission.FsAction.READ_WRITE)
        return True

    def commits_are_safe(self) -> bool:
        """Tell whether processes can commit to one Delta table here at the same time, and neither gets lost.

        On a local disk they cannot: Hadoop looks whether the file is there and then moves it over. Nor can they on S3,
        unless a log store was configured that has somebody who keeps them apart.
        """
        scheme = self._scheme()
        conf = self._spark.sparkContext.getConf()
        prefixes = ("spark.delta.logStore", "delta.logStore")
        names = [name for prefix in prefixes for name in (f"{prefix}.class", f"{prefix}.{scheme}.impl")]
        return scheme not in (_LOCAL, *_S3_SCHEMES) or any(conf.contains(name) for name in names)

    def list(self, folder: str) -> list[File]:
        """List the files of a folder; none if it does not exist."""
        try:
            found = self._system().listStatus(self._path(folder))
        except Exception as error:
            if _is_missing(error):
                return []
            raise
        return [File(each.getPath().getName(), int(each.getModificationTime())) for each in found]

    def read(self, path: str) -> str | None:
        """Return a file's text, or None if there is no such file."""
        try:
            opened = self._system().open(self._path(path))
        except Exception as error:
            if _is_missing(error):
                return None
            raise
        try:
            return str(self._java.org.apache.commons.io.IOUtils.toString(opened, "UTF-8"))
        finally:
            opened.close()

    def write(self, path: str, text: str) -> None:
        """Write a file anew: whoever reads it finds the old text or the new one."""
        system, where = self._system(), self._path(path)
        system.mkdirs(where.getParent())
        if self._scheme() != _LOCAL:
            store = self._java.org.apache.spark.sql.delta.storage.LogStore.apply(java_session(self._spark))
            store.write(where, scala_seq(self._spark, [text]).iterator(), True, self._conf)
            return
        scratch = self._java.org.apache.hadoop.fs.Path(where.getParent(), f".{where.getName()}.{secrets.token_hex(8)}")
        opened = system.create(scratch, True)
        try:
            opened.write(text.encode("utf-8"))
        finally:
            opened.close()
        system.rename(scratch, where)

    def delete(self, path: str) -> None:
        """Delete a file, if it is there."""
        self._system().delete(self._path(path), False)

    def _path(self, path: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(f"{self._root}/{path}" if path else self._root)

    def _system(self) -> Any:
        system = self._path("").getFileSystem(self._conf)
        return system.getRawFileSystem() if self._scheme() == _LOCAL else system

    def _scheme(self) -> str:
        return str(self._path("").getFileSystem(self._conf).getUri().getScheme()).lower()


def _is_missing(error: Exception) -> bool:
    return any(cause.class_name in _MISSING for cause in causes(error))
