"""Feeds the decoder damaged records and damaged segment files, made of those of real brokers.

    python -m tests.benchmarks.fuzz_records [--inputs N] [--seed SEED]

Ends with an error at the first input that raises, takes too long, or gives another number of rows than it has records.
One input in a hundred is a segment file, the others are records.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.captures import CAPTURES, capture
from tests.support.mutations import mutated
from transforms.wire import records, segments
from transforms.wire.commit_columns import CommitColumns
from transforms.wire.segments import Record

SECONDS_PER_INPUT = 5.0
"""Far more than any takes, also on a busy machine."""
SEGMENT_EVERY = 100
SEGMENT_BYTES = 16 << 10
TABLES = {"offset_commits", "group_metadata", "modern_group_records", "rejected"}

Pair = tuple[bytes | None, bytes | None]


@dataclass
class Tally:
    """What came of the inputs.

    Attributes:
        pairs: records to damage, each list of one type.
        files: beginnings of segment files to damage.
        outcomes: number of inputs by what became of them.
        slowest: seconds that the slowest input took.
        commits: decodes commits by the many; it must agree.
    """

    pairs: Sequence[Sequence[Pair]]
    files: Sequence[bytes]
    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    commits: CommitColumns = field(default_factory=CommitColumns)

    def run(self, inputs: int, draw: random.Random) -> None:
        """Try inputs.

        Raises:
            AssertionError: one gives another number of rows than it has records, or takes too long.
        """
        for number in range(inputs):
            begin = time.perf_counter()
            if number % SEGMENT_EVERY:
                self.outcomes[decode_record(draw, self.pairs, self.commits)] += 1
            else:
                self.outcomes[read_segment(draw, self.files)] += 1
            self.slowest = max(self.slowest, time.perf_counter() - begin)
            assert self.slowest < SECONDS_PER_INPUT, f"input {number} took {self.slowest:.1f} s"


def seeds(folder: Path) -> Tally:
    """Read the records and the beginnings of the segment files of all captures."""
    pairs: dict[bytes, list[Pair]] = {}
    files = []
    for name in CAPTURES:
        for file in sorted((capture(name, folder) / "consumer_offsets").rglob("*.log")):
            with file.open("rb") as opened:
                for each in segments.read(opened):
                    assert isinstance(each, Record)
                    pairs.setdefault((each.key or b"")[:2], []).append((each.key, each.value))
            files.append(file.read_bytes()[:SEGMENT_BYTES])
    return Tally(list(pairs.values()), [each for each in files if each])


def decode_record(draw: random.Random, pairs: Sequence[Sequence[Pair]], commits: CommitColumns) -> str:
    """Damage a key, a value or both; return the table that the record ends up in."""
    key, value = draw.choice(draw.choice(pairs))
    which = draw.randrange(4)
    if which != 1:
        value = None if value is None else mutated(value, draw)
    if which in (1, 2):
        key = None if key is None else mutated(key, draw)
    if which == 3:
        value = draw.choice(draw.choice(pairs))[1]  # of another record, whole or not
    decoded = records.decode(key, value)
    assert decoded.table in TABLES
    assert (decoded.table == "rejected") == ("reason_code" in decoded.row)
    columns, others = commits.decode([key], [value])
    assert len(columns["at"]) + len(others) == 1
    if columns["at"]:
        row = {name: column[0] for name, column in columns.items() if name != "at"}
        assert (decoded.table, decoded.row) == ("offset_commits", row)
    return decoded.table


def read_segment(draw: random.Random, files: Sequence[bytes]) -> str:
    """Damage a segment file; return whether anything in it was rejected.

    The batches in front of the first changed byte must be read, and a file of which nothing is read must be rejected.
    """
    whole = draw.choice(files)
    raw = mutated(whole, draw)
    same = next((at for at, (old, new) in enumerate(zip(whole, raw, strict=False)) if old != new), len(raw))
    before, _ = read(whole[:same])
    found, rejected = read(raw)
    assert not before - found, f"lost {sorted((before - found).elements())[:10]}"
    assert found or rejected or not raw.strip(b"\x00")
    return "segment, something rejected" if rejected else "segment, nothing rejected"


def read(raw: bytes) -> tuple[Counter[int], int]:
    """Return the offsets of the records of a segment file, and the number of rejected batches."""
    items = list(segments.read(io.BytesIO(raw)))
    offsets = [each.offset for each in items if isinstance(each, Record)]
    return Counter(offsets), len(items) - len(offsets)


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        tally = seeds(Path(folder))
    draw = random.Random(arguments.seed)
    begin, step = time.monotonic(), max(arguments.inputs // 10, 1)
    for done in range(0, arguments.inputs, step):
        tally.run(min(step, arguments.inputs - done), draw)
        tell(tally, time.monotonic() - begin)


def tell(tally: Tally, seconds: float) -> None:
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(tally.outcomes.items()))
    inputs = sum(tally.outcomes.values())
    sys.stdout.write(f"{inputs:,} inputs in {seconds:,.0f} s, slowest {tally.slowest * 1000:,.0f} ms: {counts}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
