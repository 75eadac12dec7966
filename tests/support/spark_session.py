"""The Spark session of the test suite: one for all tests, small, and apart from anything on the machine."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from jobs.session.packages import DELTA
from jobs.session.spark_session import spark_session
from jobs.settings.settings import SparkSettings
from tests.support.maven import jars

KAFKA_SOURCE = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3",
    # Mirrors of Maven Central lack later ones of this module, which the source needs.
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)
"""Spark's Kafka source, for tests that read from a real broker."""

DEFAULTS = Path(__file__).resolve().parents[2] / "conf" / "spark-defaults-demo.conf"
LOG4J2 = DEFAULTS.with_name("log4j2.properties")


def start(scratch: Path) -> SparkSession:
    """Start the session with the demo's settings, its warehouse and metastore below `scratch`."""
    settings = SparkSettings(properties=str(properties(scratch)), log4j2=str(LOG4J2))
    return spark_session(settings, app_name="tests")


def properties(scratch: Path) -> Path:
    """Write the properties of the session to a file."""
    own = {
        "spark.jars.packages": DELTA,
        "spark.jars": ",".join(map(str, jars("spark-kafka-source", *KAFKA_SOURCE, is_transitive=False).iterdir())),
        "spark.sql.warehouse.dir": scratch / "warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={scratch}/metastore;create=true",
        "spark.local.dir": scratch / "local",
    }
    lines = [DEFAULTS.read_text(encoding="utf-8"), *(f"{key} {value}" for key, value in own.items())]
    file = scratch / "spark-defaults.conf"
    file.write_text("\n".join(lines), encoding="utf-8")
    os.environ.setdefault("TZ", "UTC")
    return file


if __name__ == "__main__":
    # Brings what a session needs before several processes ask for it: Spark's own Ivy has no lock on its cache.
    with tempfile.TemporaryDirectory() as folder:
        start(Path(folder)).stop()
