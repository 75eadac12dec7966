"""One record batch of a segment file, from its bytes to its records; aiokafka's parser does the reading.

Magic 2 is a batch with a header of its own (since 0.11); magic 0 and 1 are single messages, or a compressed message
that wraps others.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from aiokafka.record.memory_records import MemoryRecords

from transforms.errors import BatchError, ChecksumMismatch, UnknownControlType
from transforms.wire import inflation

OVERHEAD = 12
"""Bytes of base offset and length, which the length does not count."""
PEEK = 17
"""Bytes that tell a batch's kind: up to and with the magic, which every format has at the same place."""

_PEEK = struct.Struct(">qi4xb")
_V2_ATTRIBUTES_AT = 21
_V2_HEADER_SIZE = 61
_LEGACY_ATTRIBUTES_AT = 17
_LEGACY_KEY_AT = {0: 18, 1: 26}
_SMALLEST_LENGTH = {0: 14, 1: 22, 2: _V2_HEADER_SIZE - OVERHEAD}
_CODEC_MASK = 0x07
_CONTROL_TYPES = {0: "abort", 1: "commit"}
"""ControlRecordType: the second int16 of a control record's key."""
_NO_PRODUCER = -1


class Peek(NamedTuple):
    """What the first bytes of a batch say."""

    base_offset: int
    size: int
    magic: int


class Record(NamedTuple):
    """One record of a segment file.

    Attributes:
        offset: its offset in the partition.
        timestamp: epoch milliseconds; None where the format has none (magic 0, or -1).
        key: key, or None.
        value: value; None is a tombstone.
        producer_id: of its batch; -1 = no producer id.
        producer_epoch: of its batch; -1 = none.
        is_transactional: its batch is part of a transaction.
        control_type: commit or abort for a transaction marker; None for data.
    """

    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    producer_id: int
    producer_epoch: int
    is_transactional: bool
    control_type: str | None


def peek(head: bytes) -> Peek | None:
    """Read the first `PEEK` bytes of a batch; None where no batch can begin so."""
    if len(head) < PEEK:
        return None
    base_offset, length, magic = _PEEK.unpack_from(head)
    if base_offset < 0 or length < _SMALLEST_LENGTH.get(magic, length + 1):
        return None
    return Peek(base_offset, OVERHEAD + length, magic)


def records(raw: bytes, max_inflated_bytes: int) -> Iterator[Record]:
    """Read the records of one batch.

    Args:
        raw: the whole batch.
        max_inflated_bytes: limit of what its compressed part may become.

    Yields:
        Its records in order. Those before a damaged one are yielded first.

    Raises:
        BatchError: the batch, or the rest of it, cannot be read.
    """
    is_v2 = raw[PEEK - 1] == 2
    batch = parse(raw)
    if not batch.validate_crc():
        raise ChecksumMismatch("checksum of the batch does not match")
    codec = raw[_V2_ATTRIBUTES_AT + 1 if is_v2 else _LEGACY_ATTRIBUTES_AT] & _CODEC_MASK
    if codec != inflation.NONE:
        inflation.check(codec, _compressed_part(raw), max_inflated_bytes)
    producer_id, producer_epoch = (batch.producer_id, batch.producer_epoch) if is_v2 else (_NO_PRODUCER, _NO_PRODUCER)
    is_transactional, is_control = is_v2 and batch.is_transactional, is_v2 and batch.is_control_batch
    for record in _parsed(batch):
        key = record.key
        yield Record(
            record.offset,
            None if record.timestamp == -1 else record.timestamp,
            key,
            record.value,
            producer_id,
            producer_epoch,
            is_transactional,
            _control_type(key) if is_control else None,
        )


def has_valid_checksum(raw: bytes) -> bool:
    """Say whether bytes are a batch with the checksum that its header gives."""
    try:
        return bool(parse(raw).validate_crc())
    except BatchError:
        return False


def parse(raw: bytes) -> Any:
    """Hand one batch to aiokafka's parser.

    Raises:
        BatchError: it is none.
    """
    try:
        return MemoryRecords(raw).next_batch()
    except Exception as error:  # a foreign parser on damaged bytes: any exception means the same
        raise BatchError(f"{type(error).__name__}: {error}") from error


def _parsed(batch: Any) -> Iterator[Any]:
    try:
        yield from batch
    except Exception as error:  # as above
        raise BatchError(f"{type(error).__name__}: {error}") from error


def _compressed_part(raw: bytes) -> bytes:
    """A batch's records, or the value of the message that wraps others."""
    magic = raw[PEEK - 1]
    if magic == 2:
        return raw[_V2_HEADER_SIZE:]
    at = _LEGACY_KEY_AT[magic]
    try:
        for _ in ("key", "value"):
            (length,) = struct.unpack_from(">i", raw, at)
            at += 4
            part = raw[at : at + max(length, 0)]
            at += max(length, 0)
    except struct.error as error:
        raise BatchError("wrapping message ends early") from error
    return part


def _control_type(key: bytes | None) -> str:
    if key is None or len(key) < 4:
        raise BatchError("control record without a type")
    (number,) = struct.unpack_from(">h", key, 2)
    if number not in _CONTROL_TYPES:
        raise UnknownControlType(f"control record of type {number}")
    return _CONTROL_TYPES[number]
