"""Messages of magic 0 and 1, which brokers wrote before 0.11.

A message stands alone, or its value holds other messages, compressed together. They are read here and not by
aiokafka's parser because that one trusts the lengths inside: on damaged ones it reads beyond its memory.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from aiokafka import codec

from transforms.errors import BatchError, ChecksumMismatch
from transforms.wire import inflation
from transforms.wire.primitives import need, read_int8, read_int32, read_int64, read_nullable_bytes

_CRC_AT = 12
_MAGIC_AT = 16
_CODEC_MASK = 0x07
_LOG_APPEND_TIME = 0x08
_OVERHEAD = 12
"""Bytes of offset and length, which the length does not count."""
_INFLATE = {
    inflation.GZIP: codec.gzip_decode,
    inflation.SNAPPY: codec.snappy_decode,
    inflation.LZ4: codec.lz4_decode,
}


class Message(NamedTuple):
    """One message; `offset` is relative where a message of magic 1 lies in another one."""

    offset: int
    timestamp: int | None
    attributes: int
    key: bytes | None
    value: bytes | None


def messages(raw: bytes, max_inflated_bytes: int) -> Iterator[Message]:
    """Read a message and those it holds.

    Args:
        raw: the whole outer message.
        max_inflated_bytes: limit of what a compressed value may become.

    Yields:
        The messages that hold records, with their offsets in the partition.

    Raises:
        DecodeError: they cannot be read.
    """
    if not has_valid_checksum(raw):
        raise ChecksumMismatch("checksum of the message does not match")
    outer, _ = _message(raw, 0)
    codec_number = outer.attributes & _CODEC_MASK
    if codec_number == inflation.NONE:
        yield outer
        return
    inner = _inner(outer, codec_number, max_inflated_bytes)
    # Since magic 1 the offsets inside count from 0, and the outer one is that of the last (KIP-31).
    base = max(outer.offset - inner[-1].offset, 0) if raw[_MAGIC_AT] and inner else 0
    for each in inner:
        timestamp = outer.timestamp if outer.attributes & _LOG_APPEND_TIME else each.timestamp
        yield each._replace(offset=each.offset + base, timestamp=timestamp)


def has_valid_checksum(raw: bytes) -> bool:
    """Say whether the bytes from the magic on have the checksum in the header."""
    (crc,) = struct.unpack_from(">I", raw, _CRC_AT)
    return bool(zlib.crc32(memoryview(raw)[_MAGIC_AT:]) == crc)


def _inner(outer: Message, codec_number: int, max_inflated_bytes: int) -> list[Message]:
    if outer.value is None or codec_number not in _INFLATE:
        raise BatchError(f"compressed message without a value, or of codec {codec_number}")
    inflation.check(codec_number, outer.value, max_inflated_bytes)
    try:
        data = _INFLATE[codec_number](outer.value)
    except Exception as error:  # each codec has exceptions of its own, and all mean the same
        raise BatchError(f"{type(error).__name__}: {error}") from error
    found, at = [], 0
    while at < len(data):
        message, size = _message(data, at)
        if message.attributes & _CODEC_MASK:
            raise BatchError("compressed message inside a compressed one")
        found.append(message)
        at += size
    return found


def _message(buf: bytes, offset: int) -> tuple[Message, int]:
    """Read a message and what it takes, by its own length."""
    message_offset, _ = read_int64(buf, offset)
    length, _ = read_int32(buf, offset + 8)
    if length < 0:
        raise BatchError(f"message of {length} bytes")
    need(buf, offset + _OVERHEAD, length)
    body = buf[offset : offset + _OVERHEAD + length]
    magic, _ = read_int8(body, _MAGIC_AT)
    attributes, _ = read_int8(body, _MAGIC_AT + 1)
    at = _MAGIC_AT + 2
    timestamp = None
    if magic:
        timestamp, size = read_int64(body, at)
        at += size
    key, size = read_nullable_bytes(body, at)
    value, _ = read_nullable_bytes(body, at + size)
    return Message(message_offset, timestamp, attributes, key, value), _OVERHEAD + length
