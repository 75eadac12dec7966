"""Kafka's primitive types: readers `(buf, offset) -> (value, size)`.

Each checks a length against the bytes that are left before it takes them, so that no length, however wrong, makes it
allocate. `size` is what the value takes on the wire, its length prefix included.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from typing import Any

from transforms.errors import BufferUnderflow, InvalidUtf8, MalformedVarint, NegativeLength, UnexpectedNull

Reader = Callable[[bytes, int], "tuple[Any, int]"]

_VARINT_MAX_BYTES = 5
"""An unsigned varint holds 32 bits, seven to a byte (ByteUtils.readUnsignedVarint)."""


def need(buf: bytes, offset: int, size: int) -> None:
    """Check that `size` more bytes are there.

    Raises:
        BufferUnderflow: they are not.
    """
    if offset + size > len(buf):
        raise BufferUnderflow(f"{size} bytes wanted at {offset}, {max(len(buf) - offset, 0)} left")


def _fixed(layout: str) -> Reader:
    unpack = struct.Struct(layout)

    def read(buf: bytes, offset: int) -> tuple[int, int]:
        need(buf, offset, unpack.size)
        return unpack.unpack_from(buf, offset)[0], unpack.size

    return read


read_int8 = _fixed(">b")
read_int16 = _fixed(">h")
read_uint16 = _fixed(">H")
read_int32 = _fixed(">i")
read_int64 = _fixed(">q")


def read_uvarint(buf: bytes, offset: int) -> tuple[int, int]:
    """Read an unsigned varint of at most 32 bits."""
    value = 0
    for index in range(_VARINT_MAX_BYTES):
        need(buf, offset + index, 1)
        byte = buf[offset + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if value >> 32:
                break
            return value, index + 1
    raise MalformedVarint(f"varint at {offset} has more than 32 bits")


def read_uuid(buf: bytes, offset: int) -> tuple[str, int]:
    """Read a uuid as Kafka prints it: base64url without padding."""
    need(buf, offset, 16)
    return base64.urlsafe_b64encode(buf[offset : offset + 16]).rstrip(b"=").decode("ascii"), 16


def _prefixed(read_prefix: Reader) -> Reader:
    """Length as a signed number; -1 is null."""

    def read(buf: bytes, offset: int) -> tuple[int | None, int]:
        length, size = read_prefix(buf, offset)
        if length < -1:
            raise NegativeLength(f"length {length} at {offset}")
        return (None if length == -1 else length), size

    return read


def read_compact_length(buf: bytes, offset: int) -> tuple[int | None, int]:
    """Read a length of a flexible version: one more than the length, 0 is null."""
    length, size = read_uvarint(buf, offset)
    return (None if length == 0 else length - 1), size


read_short_length = _prefixed(read_int16)
read_length = _prefixed(read_int32)


def _nullable_bytes(read_prefix: Reader) -> Reader:
    def read(buf: bytes, offset: int) -> tuple[bytes | None, int]:
        length, size = read_prefix(buf, offset)
        if length is None:
            return None, size
        need(buf, offset + size, length)
        return bytes(buf[offset + size : offset + size + length]), size + length

    return read


def _nullable_string(read_raw: Reader) -> Reader:
    def read(buf: bytes, offset: int) -> tuple[str | None, int]:
        raw, size = read_raw(buf, offset)
        try:
            return (None if raw is None else raw.decode("utf-8")), size
        except UnicodeDecodeError as error:
            raise InvalidUtf8(f"byte {error.start} of a string of {len(raw)} bytes: {error.reason}") from error

    return read


def not_null(read_nullable: Reader) -> Reader:
    """Turn a reader of a nullable value into one that refuses null."""

    def read(buf: bytes, offset: int) -> tuple[Any, int]:
        value, size = read_nullable(buf, offset)
        if value is None:
            raise UnexpectedNull(f"null at {offset}")
        return value, size

    return read


read_nullable_bytes = _nullable_bytes(read_length)
read_compact_nullable_bytes = _nullable_bytes(read_compact_length)
read_nullable_string = _nullable_string(_nullable_bytes(read_short_length))
read_compact_nullable_string = _nullable_string(read_compact_nullable_bytes)
