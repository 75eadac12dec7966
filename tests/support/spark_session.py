"""The Spark session of the test suite: one for all tests, small, and apart from anything on the machine."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import SparkSession

from jobs._runtime.session import spark_session
from jobs._runtime.settings import SparkSettings

DEFAULTS = Path(__file__).resolve().parents[2] / "conf" / "spark-defaults-demo.conf"
LOG4J2 = DEFAULTS.with_name("log4j2.properties")


def start(scratch: Path) -> SparkSession:
    """Start the session with the demo's settings, its warehouse and metastore below `scratch`."""
    properties = scratch / "spark-defaults.conf"
    own = {
        "spark.sql.warehouse.dir": scratch / "warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={scratch}/metastore;create=true",
        "spark.local.dir": scratch / "local",
    }
    lines = [DEFAULTS.read_text(encoding="utf-8"), *(f"{key} {value}" for key, value in own.items())]
    properties.write_text("\n".join(lines), encoding="utf-8")
    os.environ.setdefault("TZ", "UTC")
    return spark_session(SparkSettings(properties=str(properties), log4j2=str(LOG4J2)), app_name="tests")
