"""How fast logs are read, on the logs of a real broker: server.log and request log, several copies of each.

    python -m tests.benchmarks.bench_logs [capture] [--spark]

Prints medians of lines per second. In one process, on one core: entries out of lines, rows out of entries, and both
with files and Arrow around them. With `--spark`, on the cores of the session: files to bronze rows, and files to the
rows of all silver tables; both into a sink that keeps nothing.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from pyspark.sql.pandas.types import to_arrow_schema

from jobs._runtime.sources import logs as source
from tests.benchmarks.rates import median_rate
from tests.support.captures import capture
from transforms.loglines.entries import entries
from transforms.loglines.parse import parse_entry
from transforms.silver import logs

RUNS = 5
COPIES = 8
SPARK_COPIES = 24


def copies(folder: Path, into: Path, number: int) -> tuple[Path, int]:
    """Copy the logs of a broker; return the folder of the copies and the number of lines in all."""
    lines = 0
    for copy in range(number):
        shutil.copytree(folder, into / f"broker-{copy}")
    for file in folder.iterdir():
        lines += file.read_bytes().count(b"\n")
    return into, lines * number


def in_one_process(folder: Path, scratch: Path) -> None:
    root, count = copies(folder, scratch / "pure", COPIES)
    texts = [file.read_text(encoding="utf-8").splitlines(keepends=True) for file in sorted(root.rglob("*.log"))]
    found = [entry for lines in texts for entry in entries(lines)]
    schema = to_arrow_schema(source.LINE_TYPE)

    def split() -> None:
        for lines in texts:
            for _ in entries(lines):
                pass

    def parse() -> None:
        for entry in found:
            parse_entry(entry.text, entry.logged_at)

    def files() -> None:
        for share in source.plan(str(root), "{dir}"):
            for _ in source._arrow_batches(share, "UTC", "auto", schema):
                pass

    rates = {
        name: median_rate(count, run, RUNS) for name, run in (("entries", split), ("rows", parse), ("files", files))
    }
    for name, rate in rates.items():
        sys.stdout.write(f"{name}: {rate:,.0f} lines/s (ratio to entries {rate / rates['entries']:.2f})\n")


def in_spark(folder: Path, scratch: Path) -> None:
    from tests.support.spark_session import start

    root, count = copies(folder, scratch / "spark", SPARK_COPIES)
    spark = start(scratch)

    def bronze() -> None:
        source.read(spark, str(root), "{dir}", "UTC").write.format("noop").mode("overwrite").save()

    def silver() -> None:
        logs.tagged(source.read(spark, str(root), "{dir}", "UTC")).write.format("noop").mode("overwrite").save()

    cores = spark.sparkContext.defaultParallelism
    rates = {name: median_rate(count, run, RUNS) for name, run in (("bronze", bronze), ("silver", silver))}
    for name, rate in rates.items():
        ratio = rate / rates["bronze"]
        sys.stdout.write(f"Spark, {cores} cores, {name}: {rate:,.0f} lines/s (ratio to bronze {ratio:.2f})\n")
    spark.stop()


def main(arguments: list[str]) -> None:
    names = [each for each in arguments if not each.startswith("--")] or ["kafka-4.2.0"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = capture(names[0], Path(scratch)) / "broker_logs"
        in_one_process(folder, Path(scratch))
        if "--spark" in arguments:
            in_spark(folder, Path(scratch))


if __name__ == "__main__":
    main(sys.argv[1:])
