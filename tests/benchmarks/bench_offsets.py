"""How fast records of `__consumer_offsets` become commits, on segment files as a busy broker leaves them.

    python -m tests.benchmarks.bench_offsets [--records N] [--folder FOLDER] [--only NAME ...]

Prints records per second: of pure Python in one process, on one core; of Spark with the settings of a laptop, into a
sink that keeps nothing; of the job itself, as a process, from segment files to the Delta tables, once from nothing and
once more with nothing new; and of Kafka's own DumpLogSegments. Ratios are of the same run. Of processes it is said what
they took, too: seconds, CPU time, and greatest resident size, with all that they start.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.session.spark_session import spark_session
from jobs.settings.settings import SparkSettings
from jobs.sources.segments import reader as source
from jobs.sources.segments.files import find_segments
from schemas.tables.bronze import OFFSETS_RECORDS
from tests.benchmarks import offsets_workload
from tests.benchmarks.rates import median_rate
from tests.benchmarks.whole_process import taken_by, taken_by_job
from tests.support.kafka_broker import Brokers
from tests.support.spark_session import LOG4J2
from transforms.silver import offsets
from transforms.wire import records
from transforms.wire.commit_columns import CommitColumns
from transforms.wire.segments import Record, read, read_batches

RUNS = 3
PURE_RECORDS = 200_000
PURE_BATCH = 8192
KAFKA = "4.2.0"
LAPTOP = LOG4J2.with_name("spark-defaults-laptop.conf")


def pure(folder: Path, _: int) -> None:
    file = sorted(folder.rglob("*.log"))[0]
    with file.open("rb") as opened:
        found = [each for _, each in zip(range(PURE_RECORDS), read(opened), strict=False) if isinstance(each, Record)]

    def batches() -> None:
        with file.open("rb", buffering=1 << 20) as opened:
            for _ in read_batches(opened):
                pass

    def one_by_one() -> None:
        for each in found:
            records.decode(each.key, each.value)

    keys, values = [each.key for each in found], [each.value for each in found]

    def by_the_many() -> None:
        commits = CommitColumns()
        for start in range(0, len(keys), PURE_BATCH):
            commits.decode(keys[start : start + PURE_BATCH], values[start : start + PURE_BATCH])

    tell("one core, segment file to columns of records", median_rate(offsets_workload.RECORDS_PER_FILE, batches, RUNS))
    tell("one core, decode by the many", median_rate(len(found), by_the_many, RUNS))
    tell("one core, decode record by record", median_rate(len(found), one_by_one, RUNS))


def spark(folder: Path, count: int) -> None:
    session = laptop_session()
    read_segments = source.read(session, find_segments(str(folder))).where("reason_code IS NULL")
    tell("Spark, segment files", median_rate(count, lambda: into_nothing(read_segments), RUNS))
    bronze_path = str(folder.with_name("bronze"))
    bronze_columns = [name for name in OFFSETS_RECORDS.columns if name in read_segments.columns]
    as_bronze = read_segments.select(F.lit("c").alias("cluster"), *bronze_columns)
    as_bronze.write.format("delta").mode("overwrite").save(bronze_path)
    bronze = session.read.format("delta").load(bronze_path)
    base = median_rate(count, lambda: into_nothing(bronze), RUNS)
    tell("Spark, bronze", base)
    rest = offsets.not_plain(bronze).persist()
    rest.count()
    commits = offsets.decode(bronze, rest)["offset_commits"]
    tell("Spark, bronze to commits", median_rate(count, lambda: into_nothing(commits), RUNS), base)
    rest.unpersist()

    def decode_all() -> None:
        kept = offsets.not_plain(bronze).persist()
        for table in offsets.decode(bronze, kept).values():
            into_nothing(table)
        kept.unpersist(blocking=True)

    tell("Spark, bronze to all silver tables", median_rate(count, decode_all, RUNS), base)


def job(folder: Path, count: int) -> None:
    arguments = ["--cluster=c", f"--lake.root={folder.with_name('lake')}", "--offsets.kind=segments"]
    for name in ("job as a process, segment files to Delta", "job again, nothing new"):
        taken = taken_by_job("jobs.ingest_offsets", *arguments, f"--offsets.path={folder}")
        tell(f"{name} ({taken})", count / taken.seconds)


def kafka(folder: Path, count: int) -> None:
    """Kafka's tool on files that take it some ten seconds, so that its start counts for little."""
    _dumped(sorted(folder.rglob("*.log"))[: offsets_workload.DISTINCT_FILES])


def kafka_whole(folder: Path, count: int) -> None:
    """Kafka's tool on all that the job reads."""
    _dumped(sorted(folder.rglob("*.log")))


def _dumped(files: list[Path]) -> None:
    tool = ["kafka.tools.DumpLogSegments", "--offsets-decoder", "--files", ",".join(map(str, files))]
    taken = taken_by(["java", "-cp", Brokers(KAFKA).class_path, *tool])
    dumped = len(files) * offsets_workload.RECORDS_PER_FILE
    tell(f"DumpLogSegments {KAFKA}, {dumped:,} records ({taken})", dumped / taken.seconds)


STAGES: dict[str, Callable[[Path, int], None]] = {"pure": pure, "spark": spark, "job": job, "kafka": kafka}
WHEN_ASKED: dict[str, Callable[[Path, int], None]] = {"kafka-whole": kafka_whole}
"""Stages that take too long for every run."""


def laptop_session() -> SparkSession:
    return spark_session(SparkSettings(properties=str(LAPTOP), log4j2=str(LOG4J2)), app_name="benchmark")


def into_nothing(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def tell(what: str, rate: float, base: float | None = None) -> None:
    ratio = f" (ratio to bronze {rate / base:.2f})" if base else ""
    sys.stdout.write(f"{what}: {rate:,.0f} records/s{ratio}\n")
    sys.stdout.flush()


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--folder", type=Path, help="where the files are written; they take about 90 bytes a record")
    parser.add_argument("--only", nargs="+", choices=[*STAGES, *WHEN_ASKED], default=list(STAGES))
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as scratch:
        folder = Path(scratch) / "segments"
        count = offsets_workload.write(folder, arguments.records)
        sys.stdout.write(f"{count:,} records in {sum(each.stat().st_size for each in folder.rglob('*.log')):,} bytes\n")
        for name in arguments.only:
            (STAGES | WHEN_ASKED)[name](folder, count)


if __name__ == "__main__":
    main(sys.argv[1:])
