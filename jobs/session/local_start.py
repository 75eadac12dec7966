"""How `python -m` starts Spark on this machine: with all it needs, and quickly."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark import SparkConf

from jobs.session import class_data
from jobs.session.packages import DELTA, SHIPPED_WITH_SPARK, Package
from jobs.settings.settings import SparkSettings
from transforms.errors import SettingsError

_PACKAGES, _CLASS_PATH, _OPTIONS = (
    "spark.jars.packages",
    "spark.driver.extraClassPath",
    "spark.driver.extraJavaOptions",
)

LOCAL = {
    "spark.driver.memory": "2g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    # Delta computes the snapshot of a table's log in 50 tasks unless told otherwise: seconds for each write.
    "spark.databricks.delta.snapshotPartitions": "1",
    # By the size of their files, which is a tenth to a thirtieth of what the heap would hold of such a table.
    "spark.sql.autoBroadcastJoinThreshold": "2m",
    # Compiled twice as late by the JVM's second compiler, which takes a third of a short run's time.
    _OPTIONS: "-XX:Tier4InvocationThreshold=25000 -XX:Tier4MinInvocationThreshold=3000 "
    "-XX:Tier4CompileThreshold=75000 -XX:Tier4BackEdgeThreshold=200000",
}
"""Set for `local[…]` unless the settings' properties say otherwise: small tables, whose time goes into the driver."""

LITTLE = {
    # One thread of the first compiler costs a short run far less than two compilers, and a small heap needs no others.
    # On its own it has a fifth of the usual room for compiled code, which a run that finds more to do would fill.
    _OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m",
}
"""Set before these where there is little to read: with much, the code that runs longest is worth its compiling."""

_ENDS = "-XX:+ExitOnOutOfMemoryError"
"""A JVM that has lost a thread to a lack of memory may wait for it for ever: it ends, and the run with it."""

PER_CORE = ("spark.sql.shuffle.partitions", "spark.sql.sources.parallelPartitionDiscovery.parallelism")
"""Set likewise, to the number of cores."""


@dataclass(frozen=True)
class LocalStart:
    """What was done for a start on this machine.

    Attributes:
        fetched: packages that Spark fetches for it.
        jars: jars that are put on the class path instead.
        class_data: options that share class data; empty if none.
    """

    fetched: tuple[Package, ...]
    jars: tuple[str, ...] = ()
    class_data: str = ""


def prepare(conf: SparkConf, settings: SparkSettings, needed: Sequence[Package], is_little: bool = False) -> LocalStart:
    """Configure the JVM that `python -m` is about to start.

    Args:
        conf: configuration, to be completed.
        settings: what the user has set.
        needed: packages that Spark does not bring along.
        is_little: what is to be read is little.

    Raises:
        SettingsError: there is no Java.
    """
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise SettingsError("Spark needs Java 17 or 21: none is on the PATH, and JAVA_HOME is not set")
    for key, value in read_properties(settings.properties).items():
        conf.set(key, value)
    conf.setIfMissing("spark.master", "local[*]")
    cores = _local_cores(conf.get("spark.master", "") or "")
    if cores:
        for key, value in {**LOCAL, **(LITTLE if is_little else {}), **dict.fromkeys(PER_CORE, str(cores))}.items():
            conf.setIfMissing(key, value)
    _add_option(conf, _ENDS)
    if settings.log4j2:
        _add_option(conf, f"-Dlog4j2.configurationFile={Path(settings.log4j2).as_uri()}")
    # Tables have paths of their own; Spark makes the folder all the same, by default where the job was started.
    conf.setIfMissing("spark.sql.warehouse.dir", str(Path(tempfile.gettempdir()) / "rebalance-analytics-warehouse"))
    conf.setIfMissing("spark.jars.excludes", ",".join(SHIPPED_WITH_SPARK))
    # Workers are started by the JVM: without this they are the PATH's python3, and do not see our modules.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    modules = [str(Path(entry).absolute()) for entry in sys.path]
    conf.setIfMissing("spark.executorEnv.PYTHONPATH", os.pathsep.join(dict.fromkeys(modules)))
    if conf.contains(_PACKAGES):
        return LocalStart(())
    start = _with_class_data(conf, needed) if cores else LocalStart(tuple(needed))
    if start.fetched:
        conf.set(_PACKAGES, ",".join(map(str, start.fetched)))
    return start


def without_class_data(conf: SparkConf, start: LocalStart) -> None:
    """Take back what shares class data, and forget the archive: the JVM did not start with it."""
    options = (conf.get(_OPTIONS, "") or "").replace(start.class_data, "").strip()
    conf.set(_OPTIONS, options)
    class_data.forget(start.jars, options)


def read_properties(path: str) -> dict[str, str]:
    """Read a spark-defaults file: a key, white space, a value on each line; `#` begins a comment."""
    if not path:
        return {}
    lines = (line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines())
    pairs = (line.split(None, 1) for line in lines if line and not line.startswith("#"))
    return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}


def _with_class_data(conf: SparkConf, needed: Sequence[Package]) -> LocalStart:
    """Put Delta on the class path if it is known where it is: Java shares data of classes found there only."""
    jars = class_data.known_jars(DELTA)
    if not jars or DELTA not in needed or conf.contains(_CLASS_PATH):
        return LocalStart(tuple(needed))
    conf.set(_CLASS_PATH, os.pathsep.join(jars))
    options = class_data.jvm_options(jars, conf.get(_OPTIONS, "") or "")
    if options:
        _add_option(conf, options)
    return LocalStart(tuple(package for package in needed if package is not DELTA), tuple(jars), options)


def _add_option(conf: SparkConf, option: str) -> None:
    conf.set(_OPTIONS, f"{conf.get(_OPTIONS, '')} {option}".strip())


def _local_cores(master: str) -> int:
    """Return the cores that a master on this machine uses; 0 for a cluster."""
    found = re.fullmatch(r"local(?:\[(\*|\d+)(?:,\s*\d+)?\])?", master)
    if found is None:
        return 0
    return (os.cpu_count() or 1) if found[1] == "*" else int(found[1] or 1)
