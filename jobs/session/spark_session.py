"""The one place that builds a SparkSession.

Started by `python -m` it brings all it needs: Delta's jars from Maven Central, and Python workers that see the same
modules as the driver. Started by spark-submit it takes the session as it was submitted, and only adds what no job can
do without.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from jobs.session.startup_noise import StartupNoise
from jobs.settings.settings import SparkSettings
from transforms.errors import LakeError, SettingsError


@dataclass(frozen=True)
class Package:
    """A jar that Spark does not bring along.

    Attributes:
        name: what it is for.
        coordinate: of Maven, with the installed versions of PySpark and delta-spark to be filled in.
        resource: a file in it, by which its presence is known.
    """

    name: str
    coordinate: str
    resource: str

    def __str__(self) -> str:
        """Return the coordinate of the version that fits what is installed."""
        spark, delta = (importlib.metadata.version(name) for name in ("pyspark", "delta-spark"))
        return self.coordinate.format(spark=spark, spark_line=".".join(spark.split(".")[:2]), delta=delta)


DELTA = Package("Delta", "io.delta:delta-spark_{spark_line}_2.13:{delta}", "io/delta/tables/DeltaTable.class")
KAFKA = Package(
    "Spark's Kafka source",
    "org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
    "org/apache/spark/sql/kafka010/KafkaSourceProvider.class",
)

REQUIRED = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",  # all times of the tables are UTC
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}
"""Set unless the submitted configuration says otherwise."""

SHIPPED_WITH_SPARK = (
    "org.apache.hadoop:*",
    "org.apache.parquet:*",
    "org.apache.logging.log4j:*",
    "org.slf4j:*",
    "com.fasterxml.jackson.core:*",
    "com.fasterxml.jackson.datatype:*",
    "com.github.luben:*",
    "org.xerial.snappy:*",
    "io.airlift:*",
    "org.roaringbitmap:*",
    "commons-logging:*",
    "commons-pool:*",
    "javax.annotation:*",
    "com.google.code.findbugs:*",
)
"""Dependencies of Delta that PySpark has among its own jars; left out, they are 73 of 87 MB less to download."""


def is_submitted() -> bool:
    """Tell whether spark-submit started this process, so that its JVM is up and configured already."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def spark_session(
    settings: SparkSettings, app_name: str = "rebalance-analytics", packages: Sequence[Package] = ()
) -> SparkSession:
    """Return the running session, or start one.

    Args:
        settings: how it is started by `python -m`.
        app_name: its name.
        packages: what it needs besides Delta.

    Raises:
        SettingsError: there is no Java, or the submitted session lacks a package.
        LakeError: packages cannot be fetched.
    """
    needed = (DELTA, *packages)
    running = SparkSession.getActiveSession()
    if running is not None:
        return _equipped(running, needed)
    # A submitted JVM brings its configuration along; one that is yet to start has none.
    conf = SparkConf()
    if not is_submitted():
        _prepare_local_start(conf, settings, needed)
    for key, value in REQUIRED.items():
        conf.setIfMissing(key, value)
    if not conf.contains("spark.app.name"):
        conf.setAppName(app_name)
    noise = StartupNoise()
    try:
        with noise:
            spark = SparkSession.builder.config(conf=conf).getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        _explain_failed_start(noise.text(), needed, error)
        raise
    return _equipped(spark, needed)


def _prepare_local_start(conf: SparkConf, settings: SparkSettings, needed: Sequence[Package]) -> None:
    """Configure the JVM that `python -m` is about to start."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise SettingsError("Spark needs Java 17 or 21: none is on the PATH, and JAVA_HOME is not set")
    for key, value in read_properties(settings.properties).items():
        conf.set(key, value)
    if settings.log4j2:
        option = f"-Dlog4j2.configurationFile={Path(settings.log4j2).as_uri()}"
        conf.set("spark.driver.extraJavaOptions", f"{conf.get('spark.driver.extraJavaOptions', '')} {option}".strip())
    conf.setIfMissing("spark.master", "local[*]")
    conf.setIfMissing("spark.jars.packages", ",".join(map(str, needed)))
    # Tables have paths of their own; Spark makes the folder all the same, by default where the job was started.
    conf.setIfMissing("spark.sql.warehouse.dir", str(Path(tempfile.gettempdir()) / "rebalance-analytics-warehouse"))
    conf.setIfMissing("spark.jars.excludes", ",".join(SHIPPED_WITH_SPARK))
    # Workers are started by the JVM: without this they are the PATH's python3, and do not see our modules.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    modules = [str(Path(entry).absolute()) for entry in sys.path]
    conf.setIfMissing("spark.executorEnv.PYTHONPATH", os.pathsep.join(dict.fromkeys(modules)))


def read_properties(path: str) -> dict[str, str]:
    """Read a spark-defaults file: a key, white space, a value on each line; `#` begins a comment."""
    if not path:
        return {}
    lines = (line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines())
    pairs = (line.split(None, 1) for line in lines if line and not line.startswith("#"))
    return {pair[0]: pair[1] if len(pair) > 1 else "" for pair in pairs}


def _equipped(spark: SparkSession, needed: Sequence[Package]) -> SparkSession:
    """Return the session if it has what is needed."""
    loader = spark.sparkContext._jvm.java.lang.Thread.currentThread().getContextClassLoader()  # type: ignore[union-attr]
    for package in needed:
        if loader.getResource(package.resource) is None:
            raise SettingsError(f"{package.name} is not on Spark's class path; add --packages {package}")
    return spark


def _explain_failed_start(output: str, needed: Sequence[Package], error: BaseException) -> None:
    """Raise the one sentence that a known failure to start comes down to."""
    if "unresolved dependency" in output or "UNRESOLVED DEPENDENCIES" in output or "download failed" in output:
        raise LakeError(f"{', '.join(map(str, needed))} could not be fetched from Maven Central") from error
    if "UnsupportedClassVersionError" in output or "java: not found" in output or "java: No such file" in output:
        raise SettingsError("Spark needs Java 17 or 21; see JAVA_HOME and the PATH") from error
    if SparkContext._active_spark_context is None and output:
        last = [line for line in output.splitlines() if line.strip()][-1]
        raise SettingsError(f"Spark could not be started: {last.strip()}") from error
