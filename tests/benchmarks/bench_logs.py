"""How fast logs are read, on the logs of a real broker: server.log and request log, many copies of each.

    python -m tests.benchmarks.bench_logs [capture] [copies] [logs | calm]

Prints medians of lines per second. In one process, on one core: entries out of lines, facts out of entries, and all
that the reader does for one task; with 0 copies that is all, so that it can be repeated quickly. In Spark, on two
cores, with the ratio of each to merely reading the lines of the same files: the entries of all files, and entries and
facts, into a sink that keeps nothing. And the whole of `ingest_logs` into a lake, bronze and silver, as a process: from
its start to its end.

`calm`: a request log of which one line in a hundred tells of groups, the others of Fetch, Produce and their like; how
fast a task and the job are where everything is kept, and where only that is (`logs.keep`), one after the other.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame

from jobs.session.spark_session import spark_session
from jobs.settings.settings import SparkSettings
from jobs.sources.logs import reader as source
from jobs.sources.logs.files import find_log_files
from tests.benchmarks.rates import median_rate
from tests.benchmarks.whole_process import taken_by_job
from tests.support.captures import capture
from transforms.loglines.entries.entries import entries
from transforms.loglines.parse import may_tell, parse_entry
from transforms.silver.logs import Wanted

CONF = Path(__file__).resolve().parents[2] / "conf"
RUNS = 3
COPIES = 60
_COPIES_OF_A_FILE = 20
"""Of a log that is nearly all of other requests: some 130 MB. A busy broker's is larger; each file costs some ms."""

Rates = dict[str, float]


def copies(folder: Path, into: Path, number: int) -> tuple[Path, int]:
    """Copy the logs of a broker; return the folder of the copies and the number of lines in all."""
    for copy in range(number):
        shutil.copytree(folder, into / f"broker-{copy}")
    return into, number * sum(file.read_bytes().count(b"\n") for file in folder.iterdir())


def in_one_process(folder: Path) -> Rates:
    files = find_log_files(str(folder), "1")
    texts = [Path(file.path).read_text(encoding="utf-8").splitlines(keepends=True) for file in files]
    found = [entry for lines in texts for entry in entries(lines)]
    count = sum(map(len, texts))

    def split() -> None:
        for lines in texts:
            for _ in entries(lines):
                pass

    def parse() -> None:
        for entry in found:
            parse_entry(entry.text, entry.logged_at)

    def task() -> None:
        for _ in source.arrow_batches(source.Share(tuple(files)), "UTC", "auto", tuple(Wanted)):
            pass

    steps = {"entries out of lines": split, "facts out of entries": parse, "a task": task}
    return {f"one core, {name}": median_rate(count, step, RUNS) for name, step in steps.items()}


def in_spark(root: Path, count: int, scratch: Path) -> Rates:
    spark = spark_session(
        SparkSettings(properties=str(CONF / "spark-defaults-laptop.conf"), log4j2=str(CONF / "log4j2.properties"))
    )
    files = find_log_files(str(root), "{dir}")

    def keep_nothing(frame: DataFrame) -> None:
        frame.write.format("noop").mode("overwrite").save()

    def text() -> None:
        keep_nothing(spark.read.option("recursiveFileLookup", "true").text(str(root)))

    def read_entries() -> None:
        keep_nothing(source.read(spark, files, "UTC", wanted=[Wanted.ENTRIES]))

    def parse() -> None:
        keep_nothing(source.read(spark, files, "UTC"))

    cores = spark.sparkContext.defaultParallelism
    steps = {"mere reading": text, "entries": read_entries, "entries and facts": parse}
    rates = {f"Spark, {cores} cores, {name}": median_rate(count, step, RUNS) for name, step in steps.items()}
    spark.stop()
    return rates


def of_jobs(root: Path, count: int, scratch: Path, *keep: str) -> Rates:
    """Run the job as a process, into a lake of its own, for each kind of what is kept."""
    rates = {}
    for each in keep:
        lake = tempfile.mkdtemp(dir=scratch)
        given = ["--cluster=bench", f"--lake.root={lake}", f"--logs.path={root}", "--logs.broker={dir}"]
        taken = taken_by_job("jobs.ingest_logs", *given, f"--logs.keep={each}")
        rates[f"ingest_logs as a process, keep {each} ({taken})"] = count / taken.seconds
        shutil.rmtree(lake)
    return rates


def calm(folder: Path, into: Path, number: int) -> tuple[Path, int]:
    """Write request logs that nearly say nothing of groups; return their folder and the number of lines in all."""
    with (folder / "kafka-request.log").open(encoding="utf-8", newline="\n") as opened:
        found = [(f"{entry.text}\n", may_tell(entry.text, entry.logged_at)) for entry in entries(opened)]
    others = [text for text, is_telling in found if not is_telling]
    telling = [text for text, is_telling in found if is_telling][: len(others) // 99]
    copy = "".join((*telling, *others))
    for first in range(0, number, _COPIES_OF_A_FILE):
        log = into / f"broker-{first}" / "kafka-request.log"
        log.parent.mkdir(parents=True)
        log.write_text(copy * min(_COPIES_OF_A_FILE, number - first), encoding="utf-8", newline="\n")
        os.utime(log, (first, first))
    return into, number * (len(telling) + len(others))


def by_what_is_kept(root: Path, count: int, scratch: Path) -> Rates:
    files = find_log_files(str(root), "{dir}")
    wanted = ([Wanted.ENTRIES], [Wanted.FACTS])

    def task(keep: str) -> None:
        for each in wanted:
            for _ in source.arrow_batches(source.Share(tuple(files)), "UTC", "auto", each, keep):
                pass

    reading = {
        f"one core, both readings, keep {keep}": median_rate(count, partial(task, keep), RUNS)
        for keep in (source.ALL, source.RELEVANT)
    }
    return reading | of_jobs(root, count, scratch, source.ALL, source.RELEVANT)


def main(name: str = "kafka-4.2.0", number: str = str(COPIES), kind: str = "logs") -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = capture(name, Path(scratch)) / "broker_logs"
        prepare = calm if kind == "calm" else copies
        root, count = prepare(folder, Path(scratch) / "copies", int(number) or 1)
        size = sum(file.stat().st_size for file in root.rglob("*.log"))
        sys.stdout.write(f"{count:,} lines, {size / 1e6:,.0f} MB; load {os.getloadavg()[0]:.1f}\n")
        if kind == "calm":
            for step, rate in by_what_is_kept(root, count, Path(scratch)).items():
                sys.stdout.write(f"{step:50} {rate:12,.0f} lines/s\n")
            return
        for step, rate in in_one_process(folder).items():
            sys.stdout.write(f"{step:40} {rate:12,.0f} lines/s\n")
        if int(number):
            rates = in_spark(root, count, Path(scratch))
            for step, rate in rates.items():
                mere = next(iter(rates.values()))
                sys.stdout.write(f"{step:40} {rate:12,.0f} lines/s   ratio to mere reading {rate / mere:.2f}\n")
            for step, rate in of_jobs(root, count, Path(scratch), source.ALL).items():
                sys.stdout.write(f"{step:40} {rate:12,.0f} lines/s\n")
        sys.stdout.write(f"load {os.getloadavg()[0]:.1f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
