"""How much memory a worker takes to read a large segment file.

    python -m tests.benchmarks.bench_memory [--megabytes N] [--folder FOLDER]

One process reads one file in one piece, as a task does that is given it whole, and says by how much its greatest
resident size grew. Fails where that is more than `LIMIT_BYTES`, whatever the size of the file.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import tempfile
from pathlib import Path

from jobs.sources.record_type import RECORD_TYPE
from jobs.sources.segments.files import find_segments, plan
from jobs.sources.segments.reader import SegmentReader
from tests.benchmarks import offsets_workload

LIMIT_BYTES = 200 << 20


def grown_file(folder: Path, size: int) -> Path:
    """Write a segment file of at least this size: the same batches again and again."""
    part = folder / "part"
    offsets_workload.write(part, offsets_workload.RECORDS_PER_FILE)
    source = next(part.rglob("*.log"))
    file = folder / "segments" / "__consumer_offsets-0" / source.name
    file.parent.mkdir(parents=True)
    with file.open("wb") as out:
        while out.tell() < size:
            with source.open("rb") as again:
                shutil.copyfileobj(again, out)
    return file


def peak_bytes() -> int:
    """Return the greatest resident size that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--folder", type=Path, help="where the file is written")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as scratch:
        file = grown_file(Path(scratch), arguments.megabytes << 20)
        files = find_segments(str(file.parents[1]))
        [share] = plan(files, share_bytes=file.stat().st_size + 1)
        reader = SegmentReader(files, RECORD_TYPE)
        before = peak_bytes()
        count = sum(batch.num_rows for batch in reader.read(share))
        grown = peak_bytes() - before
        sys.stdout.write(f"{count:,} records of {file.stat().st_size >> 20} MiB, memory grew by {grown >> 20} MiB\n")
        assert grown < LIMIT_BYTES


if __name__ == "__main__":
    main(sys.argv[1:])
