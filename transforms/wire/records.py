"""One record of `__consumer_offsets`: from key and value to a row of a silver table.

Which layout a value has is said by its key alone (CoordinatorRecordSerde); the value begins with its own version.
Versions and types of releases to come are met as KIP-915 asks: a higher version of a flexible value is read as the
highest known one, unknown tags are skipped, an unknown type is set aside. A value that its version does not tell from
one of an earlier release, with another layout, is rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from schemas.records.classic_groups import GROUP_METADATA, LEGACY_OFFSET_COMMIT, OFFSET_COMMIT
from schemas.records.fields import EarlierValue, RecordType, StructOf
from schemas.records.record_types import RECORD_TYPES
from transforms.errors import (
    AmbiguousLayout,
    DecodeError,
    MarkerKey,
    NullKey,
    UnknownRecordType,
    UnsupportedVersion,
)
from transforms.wire import rows
from transforms.wire.primitives import read_int16
from transforms.wire.walk import walk, walk_to_end

_MARKER_KEY_SIZE = 4
_PREFIX_SIZE = 2
"""Both the type in a key and the version in a value are an int16."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """One record, read.

    Attributes:
        table: silver table that the row belongs to: offset_commits, group_metadata, modern_group_records or rejected.
        row: its columns that come from key and value. Times are epoch milliseconds. A rejected row has reason_code,
            detail and raw (the key or the value, whichever could not be read).
    """

    table: str
    row: dict[str, Any]


ToRow = Callable[[RecordType, rows.Row, "rows.Row | None", "int | None"], rows.Row]

_TABLES: dict[int, tuple[str, ToRow]] = {
    LEGACY_OFFSET_COMMIT.type_id: ("offset_commits", rows.offset_commit),
    OFFSET_COMMIT.type_id: ("offset_commits", rows.offset_commit),
    GROUP_METADATA.type_id: ("group_metadata", rows.group_metadata),
}
_MODERN: tuple[str, ToRow] = ("modern_group_records", rows.modern_group_record)


def table_of(type_id: int) -> str | None:
    """Return the silver table that holds a record type; None for an unknown type."""
    return _TABLES.get(type_id, _MODERN)[0] if type_id in RECORD_TYPES else None


def decode(key: bytes | None, value: bytes | None) -> Decoded:
    """Decode one data record. It never raises on data: what cannot be read is a row of `rejected`.

    Args:
        key: record key; None and the keys of transaction markers are rejected (`null_key`, `marker_key`).
        value: record value; None is a tombstone.
    """
    try:
        record_type, key_fields = read_key(key)
    except DecodeError as error:
        return _rejected(error, key)
    try:
        version, value_fields = (None, None) if value is None else read_value(record_type, value)
    except DecodeError as error:
        return _rejected(error.within(record_type.name), value)
    table, to_row = _TABLES.get(record_type.type_id, _MODERN)
    return Decoded(table, to_row(record_type, key_fields, value_fields, version))


def _rejected(error: DecodeError, raw: bytes | None) -> Decoded:
    return Decoded("rejected", {"reason_code": error.code, "detail": str(error), "raw": raw})


def read_key(key: bytes | None) -> tuple[RecordType, dict[str, Any]]:
    """Read a record key.

    Returns:
        The record's type and the key's fields by Kafka's names.

    Raises:
        DecodeError: the key is missing, a marker's, of an unknown type, or damaged.
    """
    if key is None:
        raise NullKey("record without a key")
    type_id, size = read_int16(key, 0)
    if len(key) == _MARKER_KEY_SIZE and type_id == 0:  # no key of type 0 is as short
        raise MarkerKey(f"transaction marker of type {read_int16(key, size)[0]} among data records")
    if type_id not in RECORD_TYPES:
        raise UnknownRecordType(f"record type {type_id}")
    record_type = RECORD_TYPES[type_id]
    try:
        return record_type, walk_to_end(record_type.key, key, size, 0, flexible=False)
    except DecodeError as error:
        error.within(f"{record_type.name}Key")
        raise


def read_value(record_type: RecordType, value: bytes) -> tuple[int, dict[str, Any]]:
    """Read a record value.

    Returns:
        The version as written, and the value's fields by Kafka's names.

    Raises:
        DecodeError: the version cannot be read, or the value is damaged.
    """
    version, _ = read_int16(value, 0)
    if version < 0:
        raise UnsupportedVersion(f"version {version}")
    if version <= record_type.last_version:
        return version, _read_known(record_type, value, version)
    if record_type.first_flexible is None:
        raise UnsupportedVersion(f"version {version}, known are 0 to {record_type.last_version}")
    try:
        # What a later version may have put behind the known fields is not ours to judge.
        fields, _ = walk(record_type.value, value, _PREFIX_SIZE, record_type.last_version, flexible=True)
    except DecodeError as error:
        raise UnsupportedVersion(f"version {version} read as {record_type.last_version}: {error}") from error
    return version, fields


def _read_known(record_type: RecordType, value: bytes, version: int) -> dict[str, Any]:
    flexible = record_type.first_flexible is not None and version >= record_type.first_flexible

    def read(layout: StructOf) -> dict[str, Any]:
        return walk_to_end(layout, value, _PREFIX_SIZE, version, flexible=flexible)

    def read_earlier(earlier: EarlierValue) -> dict[str, Any] | None:
        """Return the fields if the value can be one of an earlier layout."""
        if value.startswith(earlier.begins, _PREFIX_SIZE) and value.endswith(earlier.ends, _PREFIX_SIZE):
            with suppress(DecodeError):
                return read(earlier.layout)
        return None

    earlier_values = record_type.earlier_values if version == record_type.last_version else ()
    try:
        fields = read(record_type.value)
    except DecodeError:
        for earlier in earlier_values:
            if (of_earlier := read_earlier(earlier)) is not None:
                return of_earlier
        raise
    if any(each.is_marked and read_earlier(each) is not None for each in earlier_values):
        raise AmbiguousLayout("could be of an earlier release as well, which wrote another layout in this version")
    return fields
