"""What storage a root lies on, and what can be relied on there."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from jobs.jvm.files import Files, HadoopFiles, LocalFiles
from jobs.jvm.gateway import hadoop_configuration, packages

_LOCAL = "file"
_S3_SCHEMES = ("s3", "s3a", "s3n")


class Storage:
    """The storage that a root lies on.

    Args:
        spark: the session.
        root: folder or URI.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._root = root

    def make_root(self) -> bool:
        """Make the root if it is not there; tell whether it is now, and raise what Java does if it may not be used."""
        root = self._path()
        system = root.getFileSystem(hadoop_configuration(self._spark))
        if not system.mkdirs(root):
            return False
        system.access(root, packages(self._spark).org.apache.hadoop.fs.permission.FsAction.READ_WRITE)
        return True

    def folder(self) -> Path | None:
        """Return the root as a folder of this machine; None where it is anything else."""
        return Path(str(self._path().toUri().getPath())) if self._scheme() == _LOCAL else None

    def files(self) -> Files:
        """Return the files below the root."""
        folder = self.folder()
        return LocalFiles(folder) if folder else HadoopFiles(self._spark, self._root)

    @cached_property
    def are_commits_safe(self) -> bool:
        """Whether processes can commit to one Delta table here at the same time, and neither gets lost.

        On a local disk they cannot: Hadoop looks whether the file is there and then moves it over. Nor can they on S3,
        unless a log store was configured that has somebody who keeps them apart.
        """
        scheme, conf = self._scheme(), self._spark.sparkContext.getConf()
        prefixes = ("spark.delta.logStore", "delta.logStore")
        names = [name for prefix in prefixes for name in (f"{prefix}.class", f"{prefix}.{scheme}.impl")]
        return scheme not in (_LOCAL, *_S3_SCHEMES) or any(conf.contains(name) for name in names)

    def _path(self) -> Any:
        return packages(self._spark).org.apache.hadoop.fs.Path(self._root)

    def _scheme(self) -> str:
        return str(self._path().getFileSystem(hadoop_configuration(self._spark)).getUri().getScheme()).lower()
