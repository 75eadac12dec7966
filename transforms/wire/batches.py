"""One record batch of a segment file, from its bytes to its records.

Magic 2 is a batch with a header of its own (since 0.11), which aiokafka's parser reads; the messages of magic 0 and 1
are read by `transforms.wire.legacy`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

from aiokafka.record.memory_records import MemoryRecords

from transforms.errors import BatchError, ChecksumMismatch, UnknownControlType
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


class Records(NamedTuple):
    """The records of one batch, column by column: a list has an item for each record.

    Attributes:
        offsets: in the partition.
        timestamps: epoch milliseconds; None where the format has none (magic 0, or -1).
        keys: key, or None.
        values: value; None is a tombstone.
        control_types: commit or abort for transaction markers; None for a batch of data.
        producer_id: -1 = no producer id.
        producer_epoch: -1 = none.
        is_transactional: the batch is part of a transaction.
    """

    offsets: list[int]
    timestamps: list[int | None]
    keys: list[bytes | None]
    values: list[bytes | None]
    control_types: list[str] | None = None
    producer_id: int = _NONE
    producer_epoch: int = _NONE
    is_transactional: bool = False


def peek(head: bytes) -> Peek | None:
    """Read the first `PEEK` bytes of a batch; None where no batch can begin so."""
    if len(head) < PEEK:
        return None
    base_offset, length, magic = _PEEK.unpack_from(head)
    if base_offset < 0 or length < _SMALLEST_LENGTH.get(magic, length + 1):
        return None
    return Peek(base_offset, OVERHEAD + length, magic)


def read(raw: bytes, max_inflated_bytes: int) -> tuple[Records, BatchError | None]:
    """Read the records of one batch.

    Args:
        raw: the whole batch.
        max_inflated_bytes: limit of what its compressed part may become.

    Returns:
        Its records in order, and why the batch, or the rest of it, cannot be read (None: it is read to its end).
    """
    return _read_batch(raw, max_inflated_bytes) if _is_batch(raw) else _read_messages(raw, max_inflated_bytes)


def has_valid_checksum(raw: bytes) -> bool:
    """Say whether bytes that begin as a batch have the checksum that its header gives."""
    try:
        return bool(_parse(raw).validate_crc()) if _is_batch(raw) else legacy.has_valid_checksum(raw)
    except BatchError:
        return False


def _is_batch(raw: bytes) -> bool:
    """Magic 2 is a batch of records, magic 0 and 1 are messages."""
    return raw[PEEK - 1] == 2


def _read_messages(raw: bytes, max_inflated_bytes: int) -> tuple[Records, BatchError | None]:
    found: list[legacy.Message] = []
    error = _gather(legacy.messages(raw, max_inflated_bytes), found)
    timestamps = _moments([each.timestamp for each in found])
    keys, values = [each.key for each in found], [each.value for each in found]
    return Records([each.offset for each in found], timestamps, keys, values), error


def _read_batch(raw: bytes, max_inflated_bytes: int) -> tuple[Records, BatchError | None]:
    try:
        batch = _parse(raw)
        if not batch.validate_crc():
            raise ChecksumMismatch("checksum of the batch does not match")
        codec = raw[_ATTRIBUTES_AT + 1] & _CODEC_MASK
        if codec != inflation.NONE:
            inflation.check(codec, raw[_HEADER_SIZE:], max_inflated_bytes)
    except BatchError as refused:
        return Records([], [], [], []), refused
    found: list[Any] = []
    error = _gather(batch, found)
    types: list[str] | None = None
    if batch.is_control_batch:
        types = []
        error = _gather((_control_type(each.key) for each in found), types) or error
        found = found[: len(types)]
    return (
        Records(
            [each.offset for each in found],
            _moments([each.timestamp for each in found]),
            [each.key for each in found],
            [each.value for each in found],
            types,
            batch.producer_id,
            batch.producer_epoch,
            batch.is_transactional,
        ),
        error,
    )


def _gather(items: Iterable[Any], into: list[Any]) -> BatchError | None:
    """Append items up to the first that cannot be read; return why it cannot."""
    try:
        _append_all(items, into)
    except BatchError as error:
        return error
    return None


def _append_all(items: Iterable[Any], into: list[Any]) -> None:
    try:
        for item in items:
            into.append(item)
    except BatchError:
        raise
    except Exception as error:  # a foreign parser on damaged bytes: any exception means the same
        raise BatchError(f"{type(error).__name__}: {error}") from error


def _moments(timestamps: list[int | None]) -> list[int | None]:
    return [None if each == _NONE else each for each in timestamps] if _NONE in timestamps else timestamps


def _parse(raw: bytes) -> Any:
    """Hand one batch of magic 2 to aiokafka's parser."""
    try:
        return MemoryRecords(raw).next_batch()
    except Exception as error:  # as above
        raise BatchError(f"{type(error).__name__}: {error}") from error


def _control_type(key: bytes | None) -> str:
    if key is None or len(key) < 4:
        raise BatchError("control record without a type")
    (number,) = struct.unpack_from(">h", key, 2)
    if number not in _CONTROL_TYPES:
        raise UnknownControlType(f"control record of type {number}")
    return _CONTROL_TYPES[number]
