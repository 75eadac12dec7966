"""The one place that builds a SparkSession.

Started by `python -m` it brings all it needs: Delta's jars from Maven Central, and Python workers that see the same
modules as the driver. Started by spark-submit it takes the session as it was submitted, and only adds what no job can
do without.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from jobs.jvm.gateway import has_resource
from jobs.jvm.remembered_names import remember_names
from jobs.session.class_data import note_jars
from jobs.session.local_start import LocalStart, prepare, without_class_data
from jobs.session.packages import DELTA, Package
from jobs.session.startup_noise import StartupNoise
from jobs.settings.settings import SparkSettings
from transforms.errors import LakeError, SettingsError

REQUIRED = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",  # all times of the tables are UTC
    # Spark's default has no earliest and latest moment of a file's pages, so that none could be left out.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.hadoop.parquet.page.row.count.limit": "5000",  # a group's late rows are read, and few others
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # to note where it was made costs more than an expression
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}
"""Set unless the submitted configuration says otherwise."""


def is_submitted() -> bool:
    """Tell whether spark-submit started this process, so that its JVM is up and configured already."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def spark_session(
    settings: SparkSettings,
    app_name: str = "rebalance-analytics",
    packages: Sequence[Package] = (),
    is_little: bool = False,
) -> SparkSession:
    """Return the running session, or start one.

    Args:
        settings: how it is started by `python -m`.
        app_name: its name.
        packages: what it needs besides Delta.
        is_little: what is to be read is little, so that the start counts for more than the speed.

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
    local = None if is_submitted() else prepare(conf, settings, needed, is_little)
    for key, value in REQUIRED.items():
        conf.setIfMissing(key, value)
    if not conf.contains("spark.app.name"):
        conf.setAppName(app_name)
    has_own_jars = conf.contains("spark.jars")
    spark = _equipped(_started(conf, local, needed), needed)
    if local and local.fetched == (DELTA,) and not has_own_jars:
        fetched = spark.sparkContext.getConf().get("spark.jars", "") or ""
        note_jars(DELTA, [jar.removeprefix("file://") for jar in fetched.split(",") if jar])
    return spark


def _started(conf: SparkConf, local: LocalStart | None, needed: Sequence[Package]) -> SparkSession:
    """Start a session; where sharing class data does not let the JVM start, without it."""
    noise = StartupNoise()
    try:
        with noise:
            return SparkSession.builder.config(conf=conf).getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        if local and local.class_data:
            without_class_data(conf, local)
            return _started(conf, None, needed)
        _explain_failed_start(noise.text(), needed, error)
        raise


def _equipped(spark: SparkSession, needed: Sequence[Package]) -> SparkSession:
    """Return the session if it has what is needed; names of Java's are looked up once from here on."""
    remember_names(spark)
    for package in needed:
        if not has_resource(spark, package.resource):
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
