"""Segment files of `__consumer_offsets` with commits of any number of groups, that can be gone on with.

The groups of a partition commit what those of every other do, under names of their own. They have no members: what
they commit is all that is known of them.
"""

from __future__ import annotations

import struct
from pathlib import Path

from aiokafka.record.util import calc_crc32c

from tests.benchmarks import offsets_workload

_NAME = b"billing-service-0-"
_TOMBSTONE_EVERY = 50_000
"""Offsets are seldom deleted, and each time is a finding."""

_BATCH_EVERY_MS = 2_700
"""A member commits its partitions every ten minutes."""

_LENGTH_AT, _CRC_AT, _CHECKED_FROM = 8, 17, 21
"""Of a record batch: where its length is (counted from behind it), its checksum, and what that is of."""


def write(root: Path, partitions: range, first: int, records: int) -> None:
    """Write one more segment of each of some partitions.

    Args:
        root: folder.
        partitions: their numbers, up to 999.
        first: offset that the segments begin with: number of the records before.
        records: number of the records of each.
    """
    model = root / "model.log"
    offsets_workload.write_segment(
        model,
        first + records,
        seed=0,
        tombstone_every=_TOMBSTONE_EVERY,
        metadata_every=None,
        batch_every_ms=_BATCH_EVERY_MS,
    )
    told = model.read_bytes()
    model.unlink()
    batches = _batches(told)
    for partition in partitions:
        file = root / "segments" / f"__consumer_offsets-{partition}" / f"{first:020}.log"
        file.parent.mkdir(parents=True, exist_ok=True)
        name = b"billing-%s-" % format(partition, "09").encode("ascii")
        assert len(name) == len(_NAME), "a batch is as long as before"
        with file.open("wb") as out:
            for begin, end in batches:
                if struct.unpack_from(">q", told, begin)[0] >= first:
                    out.write(_checked(told[begin:end].replace(_NAME, name)))


def _batches(told: bytes) -> list[tuple[int, int]]:
    found, begin = [], 0
    while begin < len(told):
        end = begin + _LENGTH_AT + 4 + struct.unpack_from(">i", told, begin + _LENGTH_AT)[0]
        found.append((begin, end))
        begin = end
    return found


def _checked(batch: bytes) -> bytes:
    checksum = struct.pack(">I", calc_crc32c(batch[_CHECKED_FROM:]))
    return batch[:_CRC_AT] + checksum + batch[_CHECKED_FROM:]
