"""A segment file of `__consumer_offsets`: its record batches, the bad ones set aside.

A batch is read whole, a file never. What cannot be read is reported with its bytes and its place, and reading goes
on with the next batch: at the length that the bad one gives if a batch follows there and none lies before, else at the
next place where bytes are a batch with the right checksum. Zeros at the end are space that the broker had set aside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import BinaryIO, NamedTuple

from transforms.errors import BatchError, ChecksumMismatch, DecodeError, OversizedBatch, TruncatedBatch
from transforms.wire import batches
from transforms.wire.batches import PEEK, Records


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is held in memory, in bytes."""

    batch_bytes: int = 64 << 20
    """Of one batch, as it lies in the file and when inflated (message.max.bytes is 1 MiB by default)."""
    raw_bytes: int = 64 << 10
    """Kept of a batch that cannot be read."""


DEFAULT_LIMITS = Limits()

_STEP = 1 << 20
_LOOKS_BACK = (1 << 14, 1 << 17, 2 * _STEP)
_BATCH_START = re.compile(rb"(?=\x00\x00.{6}(?!\x00{4})[\x00-\x03].{7}[\x00-\x02])", re.DOTALL)
"""Where a batch can begin: an offset below 2^48, a length above 0 and below 2^26, a known magic."""


class Record(NamedTuple):
    """One record of a segment file; the columns of `transforms.wire.batches.Records`, for one of them."""

    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    producer_id: int
    producer_epoch: int
    is_transactional: bool
    control_type: str | None


class RejectedBatch(NamedTuple):
    """Bytes of a segment file that could not be read.

    Attributes:
        base_offset: offset of the batch's first record, if its header can be believed; else None.
        byte_position: where it begins in the file.
        reason_code: code of the error (`transforms.errors`).
        detail: the error in words.
        raw: its first bytes.
    """

    base_offset: int | None
    byte_position: int
    reason_code: str
    detail: str
    raw: bytes


def read(
    file: BinaryIO, *, start: int = 0, end: int | None = None, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record | RejectedBatch]:
    """Read a range of a segment file record by record; see `read_batches`."""
    for item in read_batches(file, start=start, end=end, limits=limits):
        if isinstance(item, RejectedBatch):
            yield item
        else:
            of_batch = (repeat(each) for each in (item.producer_id, item.producer_epoch, item.is_transactional))
            types = item.control_types or repeat(None)
            yield from map(Record, item.offsets, item.timestamps, item.keys, item.values, *of_batch, types)


def read_batches(
    file: BinaryIO, *, start: int = 0, end: int | None = None, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Records | RejectedBatch]:
    """Read the batches that begin in a range of a segment file.

    Args:
        file: the file, open for reading bytes, seekable.
        start: first byte; a batch begins there.
        end: byte behind the range; None = the whole file.
        limits: what may be held in memory.

    Yields:
        The records of each batch, and rejected batches, in the order of the file. A batch that can be read in part
        gives both.
    """
    size = file.seek(0, os.SEEK_END)
    end = size if end is None else min(end, size)
    position = start
    while position < end:
        head = batches.peek(_bytes_at(file, position, PEEK))
        if head is None or position + head.size > size:
            if _only_zeros(file, position, size):
                return
            position = yield from _damaged(file, position, size, head, limits)
        else:
            position = yield from _batch(file, position, size, head, limits)


def split_points(file: BinaryIO, target_bytes: int, start: int = 0) -> list[int]:
    """Cut a segment file into ranges of about `target_bytes`, at batches.

    Only headers are read. The walk ends at the first header that is none, so what follows it stays in one range.

    Args:
        file: the file, open for reading bytes, seekable.
        target_bytes: how large a range is to be, about.
        start: first byte; a batch begins there.

    Returns:
        Where the ranges begin; the first is `start`.
    """
    size = file.seek(0, os.SEEK_END)
    points, position = [start], start
    while size - points[-1] > target_bytes and position < size:
        head = batches.peek(_bytes_at(file, position, PEEK))
        if head is None:
            break
        if position - points[-1] >= target_bytes:
            points.append(position)
        position += head.size
    return points


def batch_before(file: BinaryIO, position: int, limits: Limits = DEFAULT_LIMITS) -> int | None:
    """Return where the last batch with the right checksum begins before a position; None = there is none nearby."""
    size = file.seek(0, os.SEEK_END)
    end = position
    for reach in _LOOKS_BACK:  # mostly it lies close by, and there are some fifty files to look for it in
        start = max(position - reach, 0)
        begins = [match.start() for match in _BATCH_START.finditer(_bytes_at(file, start, end - start + PEEK))]
        nearby = (start + begin for begin in reversed(begins) if start + begin < end)
        found = next((begin for begin in nearby if _is_sound(file, begin, size, limits)), None)
        if found is not None or not start:
            return found
        end = start
    return None


def _batch(
    file: BinaryIO, position: int, size: int, head: batches.Peek, limits: Limits
) -> Generator[Records | RejectedBatch, None, int]:
    """Read the batch at a position; returns where to go on."""
    following = position + head.size
    error: DecodeError | None
    if head.size > limits.batch_bytes:
        error = OversizedBatch(f"batch of {head.size} bytes, the limit is {limits.batch_bytes}")
    else:
        found, error = batches.read(_bytes_at(file, position, head.size), limits.batch_bytes)
        if found.offsets:
            yield found
    if error is not None:
        is_length_doubtful = isinstance(error, ChecksumMismatch) or head.size > limits.batch_bytes
        if is_length_doubtful:
            following = _end_of_bad(file, position, following, size, limits)
        yield _rejected(file, position, following, head, error, limits)
    return following


def _damaged(
    file: BinaryIO, position: int, size: int, head: batches.Peek | None, limits: Limits
) -> Generator[RejectedBatch, None, int]:
    """Set bytes aside in which no whole batch begins; returns where the next good one does."""
    following = _next_batch(file, position + 1, size, limits)
    is_torn = following is None and (head is not None or size - position < PEEK)
    error = (TruncatedBatch if is_torn else BatchError)(
        f"file ends after {size - position} bytes" if is_torn else "no batch begins here"
    )
    yield _rejected(file, position, following or size, head, error, limits)
    return following or size


def _rejected(
    file: BinaryIO, position: int, following: int, head: batches.Peek | None, error: DecodeError, limits: Limits
) -> RejectedBatch:
    size = following - position
    raw = _bytes_at(file, position, min(size, limits.raw_bytes))
    return RejectedBatch(
        None if head is None else head.base_offset, position, error.code, f"{error} ({size} bytes skipped)", raw
    )


def _next_batch(file: BinaryIO, position: int, size: int, limits: Limits) -> int | None:
    """Find the next place where bytes are a batch with the right checksum."""
    while position < size:
        chunk = _bytes_at(file, position, _STEP + PEEK)
        for match in _BATCH_START.finditer(chunk):
            if _is_sound(file, position + match.start(), size, limits):
                return position + match.start()
        position += _STEP
    return None


def _is_sound(file: BinaryIO, position: int, size: int, limits: Limits) -> bool:
    """Say whether a batch with the right checksum begins here."""
    head = batches.peek(_bytes_at(file, position, PEEK))
    if head is None or position + head.size > size or head.size > limits.batch_bytes:
        return False
    return batches.has_valid_checksum(_bytes_at(file, position, head.size))


def _end_of_bad(file: BinaryIO, position: int, said: int, size: int, limits: Limits) -> int:
    """Return where a bad batch ends.

    That is where it says, if something can follow there and no sound batch begins before, which would be lost; else
    where the next sound one begins.
    """
    found = _next_batch(file, position + 1, size, limits)
    is_one_lost = found is not None and found < said
    if not is_one_lost and _can_follow(file, said, size, limits):
        return said
    return found or size


def _can_follow(file: BinaryIO, position: int, size: int, limits: Limits) -> bool:
    """Say whether a sound batch, the end of the file or its empty space begins here."""
    return not _bytes_at(file, position, PEEK).strip(b"\x00") or _is_sound(file, position, size, limits)


def _only_zeros(file: BinaryIO, position: int, size: int) -> bool:
    while position < size:
        if _bytes_at(file, position, _STEP).strip(b"\x00"):
            return False
        position += _STEP
    return True


def _bytes_at(file: BinaryIO, position: int, size: int) -> bytes:
    file.seek(position)
    return file.read(size)
