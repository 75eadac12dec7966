"""How long the report of a lake of many groups takes, at first, without news, and with news of one group.

    python -m tests.benchmarks.bench_report LAKE CLUSTER [--groups N]

The groups of a lake that the pipeline has filled, that of the demo for one, are written again under further names until
there are as many as wanted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs import publish_report
from jobs.report.reading import READ
from jobs.session.spark_session import spark_session
from jobs.settings.settings import SparkSettings
from schemas.tables.silver import REJECTED

CONF = Path(__file__).resolve().parents[2] / "conf"


def multiply(spark: SparkSession, lake: Path, root: Path, groups: int) -> int:
    """Write the tables that the report reads with more groups; return how many there are."""
    generations = spark.read.format("delta").load(f"{lake}/gold/generations")
    times = -(-groups // generations.select("group_id").distinct().count())
    for spec in READ:
        rows = spark.read.format("delta").load(f"{lake}/{spec.layer.value}/{spec.name}")
        if spec is not REJECTED:
            copies = spark.range(times).withColumnRenamed("id", "copy")
            name = F.concat_ws("-", "group_id", F.col("copy").cast("string"))
            rows = rows.crossJoin(copies).withColumn("group_id", name).drop("copy")
        rows.write.format("delta").partitionBy(*spec.partitions).save(f"{root}/{spec.layer.value}/{spec.name}")
    return spark.read.format("delta").load(f"{root}/gold/generations").select("group_id").distinct().count()


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lake", type=Path)
    parser.add_argument("cluster")
    parser.add_argument("--groups", type=int, default=1000)
    arguments = parser.parse_args(argv)
    laptop = SparkSettings(properties=str(CONF / "spark-defaults-laptop.conf"), log4j2=str(CONF / "log4j2.properties"))
    spark = spark_session(laptop, "bench_report")
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "lake"
        groups = multiply(spark, arguments.lake, root, arguments.groups)
        for what in ("at first", "without news", "with news of one group"):
            if what == "with news of one group":
                one = spark.read.format("delta").load(f"{root}/gold/generations").first()
                assert one is not None
                spark.sql(
                    f"UPDATE delta.`{root}/gold/generations` SET reason = 'news' WHERE group_id = '{one.group_id}'"
                )
            started = time.monotonic()
            code = publish_report.main([f"--cluster={arguments.cluster}", f"--lake.root={root}"])
            assert code == 0
            sys.stdout.write(f"{groups:,} groups, {what}: {time.monotonic() - started:.1f} s\n")
        size = sum(path.stat().st_size for path in (root / "report").rglob("*") if path.is_file())
        sys.stdout.write(f"{size / 1e6:.1f} MB\n")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
