"""One record batch of a segment file, from its bytes to its records.

Magic 2 is a batch with a header of its own (since 0.11), which aiokafka's parser reads; the messages of magic 0 and 1
are read by `transforms.wire.legacy`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from aiokafka.record.memory_records import MemoryRecords

from transforms.errors import BatchError, ChecksumMismatch, DecodeError, UnknownControlType
from transforms.wire import inflation, legacy

OVERHEAD = 12
"""Bytes of base offset and length, which the length does not count."""
PEEK = 17
"""Bytes that tell a batch's kind: up to and with the magic, which every format has at the same place."""

_PEEK = struct.Struct(">qi4xb")
_ATTRIBUTES_AT = 21
_HEADER_SIZE = 61
_SMALLEST_LENGTH = {0: 14, 1: 22, 2: _HEADER_SIZE - OVERHEAD}
_CODEC_MASK = 0x07
_CONTROL_TYPES = {0: "abort", 1: "commit"}
"""ControlRecordType: the second int16 of a control record's key."""
_NONE = -1
"""Kafka's sign for no timestamp, no producer id and no epoch."""


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
    return _batch_records(raw, max_inflated_bytes) if _is_batch(raw) else _message_records(raw, max_inflated_bytes)


def has_valid_checksum(raw: bytes) -> bool:
    """Say whether bytes that begin as a batch have the checksum that its header gives."""
    try:
        return bool(_parse(raw).validate_crc()) if _is_batch(raw) else legacy.has_valid_checksum(raw)
    except BatchError:
        return False


def _is_batch(raw: bytes) -> bool:
    """Magic 2 is a batch of records, magic 0 and 1 are messages."""
    return raw[PEEK - 1] == 2


def _message_records(raw: bytes, max_inflated_bytes: int) -> Iterator[Record]:
    try:
        for each in legacy.messages(raw, max_inflated_bytes):
            yield Record(each.offset, _moment(each.timestamp), each.key, each.value, _NONE, _NONE, False, None)
    except BatchError:
        raise
    except DecodeError as error:
        raise BatchError(str(error)) from error


def _batch_records(raw: bytes, max_inflated_bytes: int) -> Iterator[Record]:
    batch = _parse(raw)
    if not batch.validate_crc():
        raise ChecksumMismatch("checksum of the batch does not match")
    codec = raw[_ATTRIBUTES_AT + 1] & _CODEC_MASK
    if codec != inflation.NONE:
        inflation.check(codec, raw[_HEADER_SIZE:], max_inflated_bytes)
    producer_id, producer_epoch = batch.producer_id, batch.producer_epoch
    is_transactional, is_control = batch.is_transactional, batch.is_control_batch
    for record in _parsed(batch):
        key = record.key
        yield Record(
            record.offset,
            _moment(record.timestamp),
            key,
            record.value,
            producer_id,
            producer_epoch,
            is_transactional,
            _control_type(key) if is_control else None,
        )


def _moment(timestamp: int | None) -> int | None:
    return None if timestamp == _NONE else timestamp


def _parse(raw: bytes) -> Any:
    """Hand one batch of magic 2 to aiokafka's parser."""
    try:
        return MemoryRecords(raw).next_batch()
    except Exception as error:  # a foreign parser on damaged bytes: any exception means the same
        raise BatchError(f"{type(error).__name__}: {error}") from error


def _parsed(batch: Any) -> Iterator[Any]:
    try:
        yield from batch
    except Exception as error:  # as above
        raise BatchError(f"{type(error).__name__}: {error}") from error


def _control_type(key: bytes | None) -> str:
    if key is None or len(key) < 4:
        raise BatchError("control record without a type")
    (number,) = struct.unpack_from(">h", key, 2)
    if number not in _CONTROL_TYPES:
        raise UnknownControlType(f"control record of type {number}")
    return _CONTROL_TYPES[number]
