"""Jars that Spark does not bring along, in the versions that fit what is installed."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass


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
