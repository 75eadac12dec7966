"""Offset commits by the many, out of Arrow's buffers: what `transforms.wire.commit_columns` says of each.

Values of one version and one size have their fields at the same places, so numpy reads them as an array of structs; the
layouts are the same. What does not fit, damage included, is left to be read record by record.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from transforms.wire.commit_columns import (
    KEY_COLUMNS,
    LENGTH_MARK,
    SMALLEST,
    VALUE_COLUMNS,
    CommitColumns,
    Layout,
    layouts,
    topic_id,
)
from transforms.wire.rows import LAST_MOMENT_MS

Columns = dict[str, pa.Array]
Numbers = np.ndarray[Any, np.dtype[Any]]

_KINDS = {
    "group_id": pa.string(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "committed_offset": pa.int64(),
    "leader_epoch": pa.int32(),
    "metadata": pa.string(),
    "committed_at": pa.timestamp("us", "UTC"),
    "expires_at": pa.timestamp("us", "UTC"),
    "topic_id": pa.string(),
    "is_tombstone": pa.bool_(),
    "value_version": pa.int32(),
}
_FIELDS = {
    "committed_offset": "offset",
    "leader_epoch": "leaderEpoch",
    "metadata": "metadata",
    "committed_at": "commitTimestamp",
    "expires_at": "expireTimestamp",
    "topic_id": "topicId",
}
"""Columns that a value tells, by Kafka's names."""

_NUMPY = {"b": ">i1", "B": ">u1", "h": ">i2", "i": ">i4", "q": ">i8"}


class CommitArrays:
    """Decodes offset commits; it remembers the keys that it has read, as far as they are few."""

    def __init__(self) -> None:
        self._keys = CommitColumns()

    def decode(self, keys: pa.Array, values: pa.Array) -> tuple[Numbers, Columns, list[int]]:
        """Decode records.

        Args:
            keys: record keys, as binary.
            values: record values, likewise.

        Returns:
            The place of each record that fits, rising; columns of `silver.offset_commits` for them; and the places of
            the others, which may be commits as well.
        """
        encoded = keys.dictionary_encode()
        entries = self._keys.entries(encoded.dictionary.to_pylist())
        indices = encoded.indices.fill_null(len(entries)).to_numpy(zero_copy_only=False)
        is_commit = np.array([bool(each) for each in entries] + [False])[indices]
        found = list(_of_values(values, is_commit))
        if not found:
            return np.empty(0, np.int64), {}, list(range(len(keys)))
        at = np.concatenate([places for places, _ in found])
        order = np.argsort(at, kind="stable")
        at = at[order]
        columns = {
            name: pa.concat_arrays([columns[name] for _, columns in found]).take(pa.array(order))
            for name in VALUE_COLUMNS
        }
        named = pa.array(indices[at])
        for place, name in enumerate(KEY_COLUMNS):
            columns[name] = pa.array([each[place] if each else None for each in entries], _KINDS[name]).take(named)
        others = np.ones(len(keys), bool)
        others[at] = False
        return at, columns, np.flatnonzero(others).tolist()


def _of_values(values: pa.Array, is_commit: Numbers) -> Iterator[tuple[Numbers, Columns]]:
    """Yield the places of values of one layout each, and their columns."""
    is_there = values.is_valid().to_numpy(zero_copy_only=False)
    tombstones = np.flatnonzero(is_commit & ~is_there)
    if len(tombstones):
        yield tombstones, _columns(len(tombstones), {"is_tombstone": True})
    starts, sizes, raw = _buffers(values)
    at = np.flatnonzero(is_commit & is_there & (sizes >= SMALLEST))
    # Versions have a second byte, and sizes four: what is compared is one number for each value.
    marks = sizes[at].astype(np.int64) << 16 | raw[starts[at] + 1].astype(np.int64) << 8 | raw[starts[at] + LENGTH_MARK]
    for mark in np.unique(marks).tolist():
        size, version = mark >> 16, mark >> 8 & 0xFF
        part = at[marks == mark]
        lines = np.lib.stride_tricks.as_strided(raw, (len(raw) - size + 1, size), (1, 1))[starts[part]]
        for layout in layouts(version, size):
            read = lines.view(_kind(layout))[:, 0]
            fits = np.ones(len(part), bool)
            for place, number in layout.constants:
                fits &= read[str(place)] == number
            if fits.any():
                columns = _read(layout, read[fits], version)
                if columns is not None:
                    yield part[fits], columns


def _buffers(values: pa.Array) -> tuple[Numbers, Numbers, Numbers]:
    """Return where each value begins, how long it is, and the bytes of all."""
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return ends[:-1], np.diff(ends), raw


@lru_cache(maxsize=4096)
def _kind(layout: Layout) -> np.dtype[Any]:
    """Return a layout as numpy has it; fields are named by their places."""
    codes = [f"V{code[:-1]}" if code.endswith("s") else _NUMPY[code] for code in layout.codes]
    return np.dtype([(str(place), code) for place, code in enumerate(codes)])


def _read(layout: Layout, read: Numbers, version: int) -> Columns | None:
    """Return the columns of values of one layout; None where text is none."""
    fields = {name: read[str(layout.places[field])] for name, field in _FIELDS.items() if field in layout.places}
    columns: dict[str, Any] = {"is_tombstone": False, "value_version": version}
    for name, field in fields.items():
        if name == "metadata":
            text = _text(field)
            if text is None:
                return None
            columns[name] = text
        elif name == "topic_id":
            ids = pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(16), len(field), [None, pa.py_buffer(np.ascontiguousarray(field))]
            ).dictionary_encode()
            columns[name] = pa.array(map(topic_id, ids.dictionary.to_pylist()), pa.string()).take(ids.indices)
        else:
            columns[name] = _numbers(name, field.astype(field.dtype.newbyteorder("=")))
    return _columns(len(read), columns)


def _numbers(name: str, numbers: Numbers) -> pa.Array:
    if name == "leader_epoch":
        return pa.array(numbers, mask=numbers == -1)
    if pa.types.is_timestamp(_KINDS[name]):
        is_none = (numbers < 0) | (numbers > LAST_MOMENT_MS)
        return pa.array(np.where(is_none, 0, numbers) * 1000, mask=is_none).cast(_KINDS[name])
    return pa.array(numbers)


def _text(field: Numbers) -> pa.Array | None:
    width = field.dtype.itemsize
    if not width:
        return pa.repeat(pa.scalar(""), len(field))
    ends = pa.py_buffer(np.arange(0, (len(field) + 1) * width, width, dtype=np.int32))
    raw = pa.Array.from_buffers(pa.binary(), len(field), [None, ends, pa.py_buffer(np.ascontiguousarray(field))])
    try:
        return raw.cast(pa.string())
    except pa.ArrowInvalid:
        return None


def _columns(count: int, known: dict[str, Any]) -> Columns:
    """Return all columns that a value has a part in: null what it does not tell, and the same in all what is one."""
    made = {}
    for name in VALUE_COLUMNS:
        value = known.get(name)
        if value is None:
            made[name] = pa.nulls(count, _KINDS[name])
        else:
            made[name] = value if isinstance(value, pa.Array) else pa.repeat(pa.scalar(value, _KINDS[name]), count)
    return made
