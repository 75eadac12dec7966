"""A segment that has grown is read on from its last batch; one that was written anew is read from its beginning."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from jobs.sources.record_type import RECORD_TYPE
from jobs.sources.segments.files import SegmentFile, find_segments, newest
from jobs.sources.segments.reader import SegmentReader
from tests.support.record_writer import batch

ROWS = [(b"key %d" % index, b"value" * index) for index in range(4)]
BATCHES = [batch(base, ROWS, codec=codec) for base, codec in ((0, 0), (4, 1), (8, 0), (12, 4), (16, 0))]
SEGMENT = b"".join(BATCHES)


def found(folder: Path, raw: bytes) -> SegmentFile:
    segment = folder / "__consumer_offsets-7" / f"{0:020d}.log"
    segment.parent.mkdir(exist_ok=True)
    segment.write_bytes(raw)
    (file,) = find_segments(str(folder))
    return file


def rows_of(file: SegmentFile) -> dict[int, tuple[Any, ...]]:
    """Records by their offset; batches that are cut short are left out."""
    reader = SegmentReader([file], RECORD_TYPE)
    rows = [row for share in reader.partitions() for each in reader.read(share) for row in each.to_pylist()]
    return {row["record_offset"]: tuple(row.values()) for row in rows if row["reason_code"] is None}


def test_wherever_it_was_read_to_the_records_are_those_of_one_reading(tmp_path: Path) -> None:
    whole = rows_of(found(tmp_path, SEGMENT))
    assert [*whole] == [*range(20)]
    ends = [sum(map(len, BATCHES[:count])) for count in range(6)]
    for cut in range(1, len(SEGMENT) + 1):
        before = found(tmp_path, SEGMENT[:cut])
        first, tail = rows_of(before), before.tail(cut)
        grown = found(tmp_path, SEGMENT).read_on(cut, tail)
        assert first | rows_of(grown) == whole, cut
        assert grown.start == max(end for end in ends if end < cut), "at the last batch that begins before"


@pytest.mark.parametrize("size", [40_000, 400_000, 3_000_000])
def test_the_last_batch_is_found_however_large_it_is_unless_it_begins_far_before(tmp_path: Path, size: int) -> None:
    large = batch(20, [(b"key", random.Random(size).randbytes(size))])
    for cut in (1, len(large) // 2, len(large)):
        read_to = len(SEGMENT) + cut
        tail = found(tmp_path, (SEGMENT + large)[:read_to]).tail(read_to)
        grown = found(tmp_path, SEGMENT + large + batch(21, ROWS)).read_on(read_to, tail)
        assert grown.start == (len(SEGMENT) if cut <= 2 << 20 else 0)


def test_only_what_is_new_is_read_and_counted(tmp_path: Path) -> None:
    read_to = len(SEGMENT) - len(BATCHES[-1])
    tail = found(tmp_path, SEGMENT[:read_to]).tail(read_to)
    grown = found(tmp_path, SEGMENT).read_on(read_to, tail)
    assert [*rows_of(grown)] == [*range(12, 20)]
    assert grown.unread == len(BATCHES[-1]) + len(BATCHES[-2])


@pytest.mark.parametrize(
    "rewritten",
    [b"".join(BATCHES[1:]) + SEGMENT, b"".join(BATCHES[2:]), SEGMENT[:-1] + b"\1", b""],
    ids=["grown and compacted", "compacted", "another last byte", "empty"],
)
def test_a_segment_that_was_written_anew_is_read_whole(tmp_path: Path, rewritten: bytes) -> None:
    tail = found(tmp_path, SEGMENT).tail(len(SEGMENT))
    again = found(tmp_path, rewritten)
    assert again.read_on(len(SEGMENT), tail) == again


def test_a_segment_without_a_sound_batch_nearby_is_read_whole(tmp_path: Path) -> None:
    rubbish = b"x" * 5000
    tail = found(tmp_path, rubbish).tail(len(rubbish))
    grown = found(tmp_path, rubbish + SEGMENT).read_on(len(rubbish), tail)
    assert grown.start == 0
    assert [*rows_of(grown)] == [*range(20)]


def test_brokers_append_to_the_last_segment_of_each_partition(tmp_path: Path) -> None:
    for partition, base in ((3, 0), (3, 4000), (12, 0)):
        folder = tmp_path / f"__consumer_offsets-{partition}"
        folder.mkdir(exist_ok=True)
        (folder / f"{base:020d}.log").write_bytes(SEGMENT)
    names = {file.source for file in newest(find_segments(str(tmp_path)))}
    assert names == {f"__consumer_offsets-12/{0:020d}.log", f"__consumer_offsets-3/{4000:020d}.log"}


def test_a_segment_that_a_broker_removes_meanwhile_is_left_out(tmp_path: Path) -> None:
    file = found(tmp_path, SEGMENT)
    shares = SegmentReader([file], RECORD_TYPE).partitions()
    path = Path(file.path)
    path.rename(path.with_suffix(".log.deleted"))
    assert rows_of(file) == {}, "before it was cut into shares"
    assert [row for share in shares for row in SegmentReader((), RECORD_TYPE).read(share)] == [], "and after it"
    assert file.tail(file.size) == ""
    assert file.read_on(file.size, "as it was") == file
    again = found(tmp_path, SEGMENT + batch(20, ROWS))
    assert again.read_on(file.size, file.tail(file.size)).start > 0
    assert again.read_on(file.size, "").start == 0, "what was noted of one that was gone is no place to go on from"
