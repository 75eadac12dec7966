"""One small interpreter of the field tables in `schemas.records`.

A layout is turned into readers once per version and then walked. Fields a version does not hold, and tagged fields
at their default, are absent from the result, as they are from the JSON of Kafka's own tools.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from schemas.records.fields import ArrayOf, Field, Kind, Scalar, StructOf
from transforms.errors import BufferUnderflow, DecodeError, TrailingBytes
from transforms.wire import primitives
from transforms.wire.primitives import Reader

_FIXED: dict[Scalar, Reader] = {
    Scalar.INT8: primitives.read_int8,
    Scalar.INT16: primitives.read_int16,
    Scalar.UINT16: primitives.read_uint16,
    Scalar.INT32: primitives.read_int32,
    Scalar.INT64: primitives.read_int64,
    Scalar.UUID: primitives.read_uuid,
}

_NULLABLE: dict[tuple[Scalar, bool], Reader] = {
    (Scalar.STRING, False): primitives.read_nullable_string,
    (Scalar.STRING, True): primitives.read_compact_nullable_string,
    (Scalar.BYTES, False): primitives.read_nullable_bytes,
    (Scalar.BYTES, True): primitives.read_compact_nullable_bytes,
}


def walk(layout: StructOf, buf: bytes, offset: int, version: int, *, flexible: bool) -> tuple[dict[str, Any], int]:
    """Read one struct.

    Args:
        layout: its fields.
        buf: bytes that hold it.
        offset: where it begins.
        version: version of the message it belongs to.
        flexible: that version has compact lengths and tagged sections.

    Returns:
        Values by Kafka's field names, in wire order, and the bytes taken.

    Raises:
        DecodeError: the bytes are not what the layout says.
    """
    values, size = _struct_reader(layout, version, flexible)(buf, offset)
    return values, size


def walk_to_end(layout: StructOf, buf: bytes, offset: int, version: int, *, flexible: bool) -> dict[str, Any]:
    """Read one struct that must fill the buffer.

    Raises:
        DecodeError: as `walk`; TrailingBytes where something follows.
    """
    values, size = walk(layout, buf, offset, version, flexible=flexible)
    _must_end(buf, offset + size)
    return values


def walk_while_readable(
    layout: StructOf, buf: bytes, offset: int, version: int
) -> tuple[dict[str, Any], DecodeError | None]:
    """Read the fields of a non-flexible struct up to the first one that is broken.

    Returns:
        The fields that were read whole, and what was wrong with the next one (None = nothing).
    """
    values: dict[str, Any] = {}
    for name, read in _plain_fields(layout, version, False):
        try:
            values[name], size = read(buf, offset)
        except DecodeError as error:
            return values, error.within(name)
        offset += size
    return values, None


def _must_end(buf: bytes, offset: int) -> None:
    if offset != len(buf):
        raise TrailingBytes(f"{len(buf) - offset} bytes behind the last field")


@cache
def _plain_fields(layout: StructOf, version: int, flexible: bool) -> tuple[tuple[str, Reader], ...]:
    return tuple(
        (field.name, _reader(field.kind, field.nullable, version, flexible))
        for field in layout.fields
        if field.tag is None and field.is_in(version)
    )


@cache
def _struct_reader(layout: StructOf, version: int, flexible: bool) -> Reader:
    plain = _plain_fields(layout, version, flexible)
    read_tags = _tags_reader(layout, version) if flexible else None

    def read(buf: bytes, offset: int) -> tuple[dict[str, Any], int]:
        values: dict[str, Any] = {}
        at = offset
        for name, read_field in plain:
            try:
                values[name], size = read_field(buf, at)
            except DecodeError as error:
                error.within(name)
                raise
            at += size
        if read_tags is not None:
            tagged, size = read_tags(buf, at)
            values.update(tagged)
            at += size
        return values, at - offset

    return read


def _tags_reader(layout: StructOf, version: int) -> Callable[[bytes, int], tuple[dict[str, Any], int]]:
    """Read a tagged section (KIP-482); unknown tags are skipped by their size."""
    known: dict[int, tuple[Field, Reader]] = {
        field.tag: (field, _tagged_reader(field, version))
        for field in layout.fields
        if field.tag is not None and field.is_in(version)
    }

    def read(buf: bytes, offset: int) -> tuple[dict[str, Any], int]:
        values: dict[str, Any] = {}
        count, size = primitives.read_uvarint(buf, offset)
        at = offset + size
        for _ in range(count):
            tag, size = primitives.read_uvarint(buf, at)
            at += size
            raw, size = _read_tag_bytes(buf, at)
            at += size
            if tag in known:
                field, read_field = known[tag]
                value = _read_tagged(field.name, read_field, raw)
                if value != field.default:
                    values[field.name] = value
        return values, at - offset

    return read


def _tagged_reader(field: Field, version: int) -> Reader:
    if field.nullable and isinstance(field.kind, StructOf):
        return _nullable_struct(primitives.read_uvarint, _struct_reader(field.kind, version, True))
    return _reader(field.kind, field.nullable, version, True)


def _read_tag_bytes(buf: bytes, offset: int) -> tuple[bytes, int]:
    length, size = primitives.read_uvarint(buf, offset)
    primitives.need(buf, offset + size, length)
    return buf[offset + size : offset + size + length], size + length


def _read_tagged(name: str, read_field: Reader, raw: bytes) -> Any:
    try:
        value, size = read_field(raw, 0)
        _must_end(raw, size)
    except DecodeError as error:
        error.within(name)
        raise
    return value


def _reader(kind: Kind, nullable: bool, version: int, flexible: bool) -> Reader:
    if isinstance(kind, StructOf):
        read_struct = _struct_reader(kind, version, flexible)
        return _nullable_struct(primitives.read_int8, read_struct) if nullable else read_struct
    if isinstance(kind, ArrayOf):
        read_any = _array(_reader(kind.element, False, version, flexible), flexible)
    elif kind in _FIXED:
        return _FIXED[kind]
    else:
        read_any = _NULLABLE[kind, flexible]
    return read_any if nullable else primitives.not_null(read_any)


def _nullable_struct(read_mark: Reader, read_struct: Reader) -> Reader:
    """A mark comes first and is above 0 if the struct is there.

    As an ordinary field the mark is an int8, -1 or 1 (KIP-893); in a tag it is an unsigned varint, 0 or 1
    (KAFKA-18199).
    """

    def read(buf: bytes, offset: int) -> tuple[dict[str, Any] | None, int]:
        mark, size = read_mark(buf, offset)
        if mark <= 0:
            return None, size
        values, taken = read_struct(buf, offset + size)
        return values, size + taken

    return read


def _array(read_element: Reader, flexible: bool) -> Reader:
    read_count = primitives.read_compact_length if flexible else primitives.read_length

    def read(buf: bytes, offset: int) -> tuple[list[Any] | None, int]:
        count, size = read_count(buf, offset)
        if count is None:
            return None, size
        at = offset + size
        if count > len(buf) - at:  # no element takes less than a byte
            raise BufferUnderflow(f"{count} elements announced at {offset}, {len(buf) - at} bytes left")
        elements = []
        for index in range(count):
            try:
                element, size = read_element(buf, at)
            except DecodeError as error:
                error.within(f"[{index}]")
                raise
            elements.append(element)
            at += size
        return elements, at - offset

    return read
