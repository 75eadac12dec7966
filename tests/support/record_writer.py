"""Writes what the decoder reads: values by the field tables, and record batches of every magic.

It shares the tables with the reader but none of its code, so that a round trip finds mistakes in either.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable
from typing import Any

from aiokafka.codec import gzip_encode, lz4_encode, snappy_encode, zstd_encode
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from aiokafka.record.util import calc_crc32c

from schemas.records.fields import ArrayOf, Field, RecordType, Scalar, StructOf

_NUMBERS = {
    Scalar.INT8: ">b",
    Scalar.INT16: ">h",
    Scalar.UINT16: ">H",
    Scalar.INT32: ">i",
    Scalar.INT64: ">q",
}
_CODECS = {1: gzip_encode, 2: snappy_encode, 3: lz4_encode, 4: zstd_encode}


def key_bytes(record_type: RecordType, key: dict[str, Any]) -> bytes:
    """Write a record key."""
    return struct.pack(">h", record_type.type_id) + body_bytes(record_type.key, key, 0, flexible=False)


def value_bytes(record_type: RecordType, value: dict[str, Any], version: int) -> bytes:
    """Write a record value in one version."""
    flexible = record_type.first_flexible is not None and version >= record_type.first_flexible
    return struct.pack(">h", version) + body_bytes(record_type.value, value, version, flexible=flexible)


def body_bytes(layout: StructOf, value: dict[str, Any], version: int, *, flexible: bool) -> bytes:
    """Write a struct; tagged fields that are absent from the value are left out."""
    plain, tagged = [], []
    for field in layout.fields:
        if version < field.since or (field.until is not None and version > field.until):
            continue
        if field.tag is None:
            plain.append(_field(field, value[field.name], version, flexible))
        elif flexible and field.name in value:
            tagged.append((field.tag, _tag(field, value[field.name], version)))
    if not flexible:
        return b"".join(plain)
    tags = b"".join(uvarint(tag) + uvarint(len(raw)) + raw for tag, raw in sorted(tagged))
    return b"".join(plain) + uvarint(len(tagged)) + tags


def uvarint(value: int) -> bytes:
    """Write an unsigned varint."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _tag(field: Field, value: Any, version: int) -> bytes:
    if field.nullable and isinstance(field.kind, StructOf):
        return b"\x00" if value is None else b"\x01" + body_bytes(field.kind, value, version, flexible=True)
    return _field(field, value, version, True)


def _field(field: Field, value: Any, version: int, flexible: bool) -> bytes:
    if field.nullable and isinstance(field.kind, StructOf):
        if value is None:
            return b"\xff"
        return b"\x01" + body_bytes(field.kind, value, version, flexible=flexible)
    return _kind(field.kind, value, version, flexible)


def _kind(kind: Scalar | ArrayOf | StructOf, value: Any, version: int, flexible: bool) -> bytes:
    if isinstance(kind, StructOf):
        return body_bytes(kind, value, version, flexible=flexible)
    if isinstance(kind, ArrayOf):
        items = None if value is None else [_kind(kind.element, each, version, flexible) for each in value]
        return _length(items, ">i", flexible) + b"".join(items or [])
    if kind in _NUMBERS:
        return struct.pack(_NUMBERS[kind], value)
    if kind is Scalar.UUID:
        return base64.urlsafe_b64decode(value + "==")
    raw = value.encode() if isinstance(value, str) else value
    return _length(raw, ">h" if kind is Scalar.STRING else ">i", flexible) + (raw or b"")


def _length(sized: Any, layout: str, flexible: bool) -> bytes:
    length = -1 if sized is None else len(sized)
    return uvarint(length + 1) if flexible else struct.pack(layout, length)


def batch(
    base_offset: int,
    records: Iterable[tuple[bytes | None, bytes | None]],
    *,
    timestamp: int = 1_700_000_000_000,
    codec: int = 0,
    producer: tuple[int, int] = (-1, -1),
    transactional: bool = False,
    control: bool = False,
    log_append_time: bool = False,
) -> bytes:
    """Write a batch of magic 2; a record's timestamp is the batch's plus its place."""
    rows = list(records)
    body = b"".join(_record(index, key, value) for index, (key, value) in enumerate(rows))
    attributes = codec | log_append_time << 3 | transactional << 4 | control << 5
    last = max(len(rows) - 1, 0)
    checked = struct.pack(
        ">hiqqqhii", attributes, last, timestamp, timestamp + last, *producer, -1 if producer[0] < 0 else 0, len(rows)
    ) + (_CODECS[codec](body) if codec else body)
    return struct.pack(">qiibI", base_offset, len(checked) + 9, 0, 2, calc_crc32c(checked)) + checked


def marker(base_offset: int, kind: int, producer: tuple[int, int]) -> bytes:
    """Write a transaction marker: kind 0 is an abort, 1 a commit."""
    record = (struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 0))
    return batch(base_offset, [record], producer=producer, transactional=True, control=True)


def legacy_messages(magic: int, codec: int, records: Iterable[tuple[int, int, bytes | None, bytes | None]]) -> bytes:
    """Write messages (offset, timestamp, key, value) of magic 0 or 1, wrapped in one where there is a codec."""
    builder = LegacyRecordBatchBuilder(magic=magic, compression_type=codec, batch_size=1 << 24)
    for offset, timestamp, key, value in records:
        builder.append(offset, timestamp=timestamp, key=key, value=value)
    return bytes(builder.build())


def _record(index: int, key: bytes | None, value: bytes | None) -> bytes:
    body = b"\x00" + varint(index) + varint(index) + _sized(key) + _sized(value) + varint(0)
    return varint(len(body)) + body


def _sized(raw: bytes | None) -> bytes:
    return varint(-1) if raw is None else varint(len(raw)) + raw


def varint(value: int) -> bytes:
    """Write a zigzag varint."""
    return uvarint(value << 1 if value >= 0 else (-value << 1) - 1)
