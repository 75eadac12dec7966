"""Segment files of every format, whole and damaged."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from typing import Any

import cramjam
import pytest
from aiokafka.codec import gzip_encode
from aiokafka.record.util import calc_crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.record_writer import batch, legacy_messages, marker
from transforms.wire.segments import Limits, Record, RejectedBatch, read, split_points

ROWS = [(b"k%d" % index, b"v" * index) for index in range(5)]


def read_all(raw: bytes, **options: Any) -> tuple[list[Record], list[RejectedBatch]]:
    items = list(read(io.BytesIO(raw), **options))
    good = [each for each in items if isinstance(each, Record)]
    return good, [each for each in items if isinstance(each, RejectedBatch)]


def offsets(raw: bytes, **options: Any) -> list[int]:
    good, bad = read_all(raw, **options)
    assert not bad
    return [each.offset for each in good]


@pytest.mark.parametrize("codec", range(5), ids=["none", "gzip", "snappy", "lz4", "zstd"])
def test_batches_of_every_codec(codec: int) -> None:
    rows = [*ROWS, (None, b""), (b"", None)]
    good, bad = read_all(batch(100, rows, codec=codec) + batch(200, ROWS, codec=codec))
    assert not bad
    assert [(each.key, each.value) for each in good] == rows + ROWS
    assert [each.offset for each in good] == [*range(100, 107), *range(200, 205)]
    assert [each.timestamp for each in good[:2]] == [1_700_000_000_000, 1_700_000_000_001]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", range(4), ids=["none", "gzip", "snappy", "lz4"])
def test_messages_of_old_formats(magic: int, codec: int) -> None:
    if (magic, codec) == (0, 3):
        pytest.skip("lz4 came with magic 1")
    raw = legacy_messages(magic, codec, [(index, 1_000 + index, *row) for index, row in enumerate(ROWS)])
    good, bad = read_all(raw)
    assert not bad
    assert [(each.offset, each.key, each.value) for each in good] == [(i, *row) for i, row in enumerate(ROWS)]
    assert [each.timestamp for each in good] == [None if magic == 0 else 1_000 + index for index in range(5)]
    assert {each[4:] for each in good} == {(-1, -1, False, None)}


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_offsets_inside_a_wrapped_message_are_relative_to_its_own(codec: int) -> None:
    """The broker gives the wrapping message the offset of the last one in it; after compaction some are missing."""
    raw = legacy_messages(1, codec, [(0, 1, b"a", b"1"), (2, 2, b"b", None), (4, 3, None, b"3")])
    assert offsets(struct.pack(">q", 104) + raw[8:]) == [100, 102, 104]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damage_below_a_right_checksum_is_no_crash(data: st.DataObject) -> None:
    magic = data.draw(st.integers(0, 2))
    if magic == 2:
        raw = bytearray(batch(0, ROWS, codec=data.draw(st.integers(0, 4))))
    else:
        rows = [(index, 1, *row) for index, row in enumerate(ROWS)]
        raw = bytearray(legacy_messages(magic, data.draw(st.integers(0, 2 + magic)), rows))
    end = 12 + struct.unpack_from(">i", raw, 8)[0]
    first = {0: 17, 1: 17, 2: 21}[magic]
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(first, end - 1))] = data.draw(st.integers(0, 255))
    if magic == 2:
        raw[17:21] = struct.pack(">I", calc_crc32c(bytes(raw[21:])))
    else:
        raw[12:16] = struct.pack(">I", zlib.crc32(bytes(raw[16:end])))
    read_all(bytes(raw), limits=Limits(batch_bytes=1 << 20))


def test_transactions_and_their_markers() -> None:
    raw = batch(0, ROWS[:1], producer=(7, 2), transactional=True) + marker(1, 1, (7, 2)) + marker(2, 0, (8, 0))
    good, bad = read_all(raw)
    assert not bad
    assert [each[4:] for each in good] == [(7, 2, True, None), (7, 2, True, "commit"), (8, 0, True, "abort")]


def test_a_control_record_of_another_kind_is_set_aside() -> None:
    good, bad = read_all(marker(0, 5, (1, 0)) + batch(1, ROWS))
    assert [each.reason_code for each in bad] == ["unknown_control_type"]
    assert len(good) == 5


def test_log_append_time_is_the_batch_s_own() -> None:
    good, _ = read_all(batch(0, ROWS, log_append_time=True))
    assert {each.timestamp for each in good} == {1_700_000_000_004}


def test_a_batch_that_compaction_emptied_is_no_error() -> None:
    assert offsets(batch(0, []) + batch(9, ROWS)) == [9, 10, 11, 12, 13]


def test_space_set_aside_at_the_end_is_no_error() -> None:
    assert offsets(batch(0, ROWS) + bytes(3 << 20)) == [0, 1, 2, 3, 4]
    assert offsets(bytes(100)) == offsets(bytes(5)) == offsets(b"") == []


@pytest.mark.parametrize("left", [8, 11, 16, 17, 40, 70])
def test_a_torn_end_is_told_and_loses_nothing(left: int) -> None:
    whole = batch(0, ROWS)
    good, [torn] = read_all(whole + batch(5, ROWS)[:left])
    assert len(good) == 5
    assert (torn.reason_code, torn.byte_position, len(torn.raw)) == ("truncated_batch", len(whole), left)
    assert torn.base_offset == (5 if left >= 17 else None)


def test_a_damaged_batch_is_set_aside_and_the_rest_is_read() -> None:
    first, second, third = (batch(base, ROWS) for base in (0, 5, 10))
    damaged = bytearray(second)
    damaged[-1] ^= 1
    good, [bad] = read_all(first + damaged + third)
    assert [each.offset for each in good] == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    assert (bad.reason_code, bad.base_offset, bad.byte_position) == ("checksum_mismatch", 5, len(first))
    assert bad.raw == damaged


@pytest.mark.parametrize("length", [-1, 0, 5, 48, 60, 130, 1 << 30])
def test_a_wrong_length_does_not_hide_the_batches_behind(length: int) -> None:
    first, second, third = (batch(base, ROWS) for base in (0, 5, 10))
    damaged = second[:8] + struct.pack(">i", length) + second[12:]
    good, bad = read_all(first + damaged + third)
    assert [each.offset for each in good] == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    assert [each.byte_position for each in bad] == [len(first)]


def test_rubbish_between_batches_is_set_aside() -> None:
    good, bad = read_all(batch(0, ROWS) + b"\xffrubbish" * 1000 + batch(5, ROWS), limits=Limits(raw_bytes=10))
    assert len(good) == 10
    assert [(each.reason_code, each.raw) for each in bad] == [("corrupt_batch", b"\xffrubbish\xff\x72")]


def test_records_before_a_damaged_one_are_kept() -> None:
    """A batch with a right checksum, written by something that miscounts its records."""
    raw = bytearray(batch(0, ROWS))
    raw[57:61] = struct.pack(">i", 6)
    raw[17:21] = struct.pack(">I", calc_crc32c(bytes(raw[21:])))
    good, [bad] = read_all(bytes(raw) + batch(9, ROWS))
    assert [each.offset for each in good] == [0, 1, 2, 3, 4, 9, 10, 11, 12, 13]
    assert bad.reason_code == "corrupt_batch"


BOMB = bytes(64 << 20)


@pytest.mark.parametrize("codec", [1, 2, 3, 4], ids=["gzip", "snappy", "lz4", "zstd"])
def test_a_batch_that_inflates_too_far_is_never_inflated(codec: int) -> None:
    bomb = batch(0, [(b"k", BOMB)], codec=codec)
    raw = bomb + batch(1, ROWS)
    tracemalloc.start()
    good, [bad] = read_all(raw, limits=Limits(batch_bytes=8 << 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (bad.reason_code, bad.base_offset) == ("oversized_batch", 0)
    assert len(good) == 5
    assert peak < 4 * len(bomb) + (20 << 20)


def test_a_wrapped_message_that_inflates_too_far_is_never_inflated() -> None:
    raw = legacy_messages(1, 1, [(0, 1, b"k", bytes(16 << 20))])
    _, [bad] = read_all(raw, limits=Limits(batch_bytes=1 << 20))
    assert bad.reason_code == "oversized_batch"


def test_a_batch_beyond_the_limit_is_passed_over() -> None:
    raw = batch(0, [(b"k", bytes(2 << 20))]) + batch(1, ROWS)
    good, [bad] = read_all(raw, limits=Limits(batch_bytes=1 << 20, raw_bytes=100))
    assert (bad.reason_code, len(bad.raw), len(good)) == ("oversized_batch", 100, 5)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_large_but_honest_batches_pass_the_limit(codec: int) -> None:
    value = b"".join(b"%d" % (index * 7919) for index in range(1 << 20))
    assert offsets(batch(0, [(b"k", value)], codec=codec), limits=Limits(batch_bytes=len(value) + (1 << 20))) == [0]


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_frames_as_other_clients_write_them(codec: int) -> None:
    """Plain snappy, linked lz4 blocks with checksums and sizes, zstd with a content size."""
    body = batch(0, ROWS)[61:]
    written = {
        1: lambda: gzip_encode(body[:20]) + gzip_encode(body[20:]),
        2: lambda: bytes(cramjam.snappy.compress_raw(body)),
        3: lambda: bytes(cramjam.lz4.compress(body)),
        4: lambda: bytes(cramjam.zstd.compress(body)),
    }[codec]()
    assert offsets(_with_records(batch(0, ROWS), written, codec)) == [0, 1, 2, 3, 4]


def _with_records(raw: bytes, written: bytes, codec: int) -> bytes:
    checked = struct.pack(">h", codec) + raw[23:61] + written
    return (
        raw[:8] + struct.pack(">i", len(checked) + 9) + raw[12:17] + struct.pack(">I", calc_crc32c(checked)) + checked
    )


def test_unknown_codecs_and_broken_frames_are_set_aside() -> None:
    for codec in (1, 2, 3, 4, 5, 7):
        good, [bad] = read_all(_with_records(batch(0, ROWS), b"\x01\x02\x03", codec) + batch(9, ROWS))
        assert (bad.reason_code, len(good)) == ("corrupt_batch", 5), codec


@pytest.mark.parametrize("share", [1, 100, 500, 1 << 20])
def test_shares_of_a_file_are_the_file(share: int) -> None:
    raw = b"".join(batch(base, ROWS, codec=base % 5) for base in range(0, 100, 5)) + bytes(50)
    points = split_points(io.BytesIO(raw), share)
    assert points[0] == 0 and (share > len(raw) or len(points) > 1)
    parts = [offsets(raw, start=start, end=end) for start, end in zip(points, [*points[1:], None], strict=True)]
    assert [offset for part in parts for offset in part] == list(range(100))


@pytest.mark.parametrize("further", [[], [batch(10, ROWS)]], ids=["the last one", "one in between"])
@pytest.mark.parametrize("short_of", [0, 1], ids=["whole", "but for a zero at its end"])
def test_a_batch_that_claims_the_next_one_as_its_own_does_not_take_it_along(
    short_of: int, further: list[bytes]
) -> None:
    first, second = batch(0, ROWS), batch(5, ROWS)
    longer = bytearray(first)
    longer[8:12] = struct.pack(">i", len(first) + len(second) - 12 - short_of)
    good, bad = read_all(b"".join([longer, second, *further]))
    assert {each.offset for each in good} == set(range(5, 10 + 5 * len(further)))
    assert [each.byte_position for each in bad] == [0]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_damage_leaves_the_other_batches(data: st.DataObject) -> None:
    """Bytes are flipped in one batch of ten: the nine others are read, whatever the damage is."""
    parts = [batch(base, ROWS, codec=data.draw(st.integers(0, 4))) for base in range(0, 50, 5)]
    index = data.draw(st.integers(0, 9))
    damaged = bytearray(parts[index])
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
    good, bad = read_all(b"".join([*parts[:index], damaged, *parts[index + 1 :]]))
    kept = {each.offset for each in good}
    assert kept >= {offset for offset in range(50) if offset // 5 != index}
    assert bad or len(good) == 50


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=500))
def test_no_bytes_make_it_raise(raw: bytes) -> None:
    read_all(raw)
    read_all(batch(0, ROWS) + raw)
