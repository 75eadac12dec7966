"""Offset commits by the many, column by column: what `transforms.wire.records` says of each, in a tenth of the time.

Keys repeat, so each is read once. Values of one version and one size have their fields at the same places, so they are
unpacked together; the layouts come from the same field table. What does not fit, damage included, is left to be read
record by record.
"""

from __future__ import annotations

import base64
import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, cast

from schemas.records.classic_groups import OFFSET_COMMIT
from schemas.records.fields import Field, Scalar
from transforms.errors import DecodeError
from transforms.wire import records
from transforms.wire.rows import LAST_MOMENT_MS, moment

Columns = dict[str, list[Any]]

_CODES = {Scalar.INT8: "b", Scalar.INT16: "h", Scalar.INT32: "i", Scalar.INT64: "q", Scalar.UUID: "16s"}
_ONE_BYTE_MAX = 0x7F
"""Beyond it a varint has a second byte."""
SMALLEST, LENGTH_MARK = 15, 14
_MARKS = (1, LENGTH_MARK)
"""Bytes that tell layouts of one size apart, nearly always: the version's, and one of the metadata's length."""
_TOMBSTONE, _OTHER = -1, -2
"""In the place of a size."""
_KEYS_MAX = 1 << 16
_MANY = 64
_NOT_A_COMMIT: tuple[Any, ...] = ()
_LENGTH = "length of the metadata"


@dataclass(frozen=True, eq=False)
class Layout:
    """Values of one version and one size.

    Attributes:
        one: reads one value.
        many: reads `_MANY` of them.
        width: how many items it reads from each.
        constants: place among those, and the one number that may be there.
        places: of the fields, by Kafka's names.
        codes: of all that it reads, as `struct` has them.
    """

    one: struct.Struct
    many: struct.Struct
    width: int
    constants: tuple[tuple[int, int], ...]
    places: dict[str, int]
    codes: tuple[str, ...]

    def read(self, joined: bytes) -> list[list[Any]]:
        """Read values that lie one behind the other, column by column."""
        end = len(joined) // self.many.size * self.many.size
        # Many at once, because a tuple for each is what the garbage collector would spend most of the time with.
        flat = list(chain.from_iterable(self.many.iter_unpack(joined[:end])))
        flat += chain.from_iterable(self.one.iter_unpack(joined[end:]))
        return [flat[place :: self.width] for place in range(self.width)]


class CommitColumns:
    """Decodes offset commits; it remembers the keys that it has read, as far as they are few."""

    def __init__(self) -> None:
        self._keys: dict[bytes | None, tuple[Any, ...]] = {}

    def decode(self, keys: Sequence[bytes | None], values: Sequence[bytes | None]) -> tuple[Columns, list[int]]:
        """Decode records.

        Args:
            keys: record keys.
            values: record values.

        Returns:
            Columns of `rows.offset_commit` for the records that fit, and `at`, the place of each among those given,
            in no order; and the places of the others, which may be commits as well.
        """
        entries = self.entries(keys)
        out: Columns = {name: [] for name in ("at", *KEY_COLUMNS, *VALUE_COLUMNS)}
        others: list[int] = []
        for size, at in _by_size(entries, values).items():
            for part, columns in _value_columns(size, at, values):
                if columns is None:
                    others += part
                    continue
                out["at"] += part
                picked = _pick(part, entries)
                for place, name in enumerate(KEY_COLUMNS):
                    out[name] += [entry[place] for entry in picked]
                for name, column in columns.items():
                    out[name] += column
        return out, others

    def entries(self, keys: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
        """Return what each key says: group, topic and partition, or that it is no commit's."""
        if len(self._keys) > _KEYS_MAX:
            self._keys.clear()
        known = self._keys
        try:
            return [known[key] for key in keys]
        except KeyError:
            for key in keys:
                if key not in known:
                    known[key] = _key_entry(key)
            return [known[key] for key in keys]


KEY_COLUMNS = ("group_id", "topic", "partition")
VALUE_COLUMNS = (
    "committed_offset",
    "leader_epoch",
    "metadata",
    "committed_at",
    "expires_at",
    "topic_id",
    "is_tombstone",
    "value_version",
)


def _key_entry(key: bytes | None) -> tuple[Any, ...]:
    try:
        record_type, fields = records.read_key(key)
    except DecodeError:
        return _NOT_A_COMMIT
    return (fields["group"], fields["topic"], fields["partition"]) if record_type is OFFSET_COMMIT else _NOT_A_COMMIT


def _by_size(entries: list[tuple[Any, ...]], values: Sequence[bytes | None]) -> dict[int, list[int]]:
    if None in values:
        sizes = [_TOMBSTONE if value is None else len(value) for value in values]
    else:
        sizes = list(map(len, cast("Sequence[bytes]", values)))
    if _NOT_A_COMMIT in entries:
        sizes = [size if entry else _OTHER for size, entry in zip(sizes, entries, strict=True)]
    found: defaultdict[int, list[int]] = defaultdict(list)
    for index, size in enumerate(sizes):
        found[size].append(index)
    return found


def _value_columns(
    size: int, at: list[int], values: Sequence[bytes | None]
) -> Iterator[tuple[list[int], Columns | None]]:
    """Cut the values of one size into those of one layout each; without columns where they have none."""
    if size == _TOMBSTONE:
        nulls: list[Any] = [None] * len(at)
        yield at, dict.fromkeys(VALUE_COLUMNS, nulls) | {"is_tombstone": [True] * len(at)}
        return
    if size < SMALLEST:
        yield at, None
        return
    joined = b"".join(_pick(at, values))
    first, second = (joined[mark::size] for mark in _MARKS)
    if len(set(first)) == len(set(second)) == 1:
        yield at, _unpacked(joined, size)
        return
    parts: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for index, marks in zip(at, zip(first, second, strict=True), strict=True):
        parts[marks].append(index)
    for part in parts.values():
        yield part, _unpacked(b"".join(_pick(part, values)), size)


def _pick(at: list[int], items: Sequence[Any]) -> Sequence[Any]:
    return itemgetter(*at)(items) if len(at) > 1 else (items[at[0]],)


def _unpacked(joined: bytes, size: int) -> Columns | None:
    """Read values of one size; None where they do not have one layout, or text that is none."""
    for layout in layouts(joined[1], size):
        read = layout.read(joined)
        if all(set(read[place]) == {number} for place, number in layout.constants):
            try:
                return _columns({name: read[place] for name, place in layout.places.items()}, joined[1])
            except UnicodeDecodeError:
                return None
    return None


def _columns(body: Columns, version: int) -> Columns:
    count = len(body["offset"])
    nulls: list[Any] = [None] * count
    epochs = body.get("leaderEpoch", nulls)
    texts = {raw: raw.decode("utf-8") for raw in set(body["metadata"])}
    ids = {raw: topic_id(raw) for raw in set(body.get("topicId", ()))}
    return {
        "committed_offset": body["offset"],
        "leader_epoch": [None if each == -1 else each for each in epochs] if -1 in epochs else epochs,
        "metadata": [texts[raw] for raw in body["metadata"]],
        "committed_at": _moments(body["commitTimestamp"]),
        "expires_at": _moments(body["expireTimestamp"]) if "expireTimestamp" in body else nulls,
        "topic_id": [ids[raw] for raw in body["topicId"]] if ids else nulls,
        "is_tombstone": [False] * count,
        "value_version": [version] * count,
    }


def _moments(times: list[Any]) -> list[Any]:
    return times if min(times) >= 0 and max(times) <= LAST_MOMENT_MS else list(map(moment, times))


def topic_id(raw: bytes) -> str | None:
    """Return a topic id as Kafka prints it; None for the one that says that there is none."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii") if any(raw) else None


@lru_cache(maxsize=4096)
def layouts(version: int, size: int) -> tuple[Layout, ...]:
    """Lay out values of one size: without tags, and in a flexible version with each one alone that is known."""
    if version > OFFSET_COMMIT.last_version:
        return ()
    fields = [each for each in OFFSET_COMMIT.value.fields if each.is_in(version)]
    plain = [each for each in fields if each.tag is None]
    first_flexible = OFFSET_COMMIT.first_flexible
    if first_flexible is None or version < first_flexible:
        return tuple(_fitted(version, size, plain, None, is_flexible=False))
    return tuple(
        layout
        for tagged in (None, *(each for each in fields if each.tag is not None))
        for layout in _fitted(version, size, plain, tagged, is_flexible=True)
    )


def _fitted(
    version: int, size: int, plain: list[Field], tagged: Field | None, *, is_flexible: bool
) -> Iterator[Layout]:
    """Give the one string, the metadata, what the others leave of the size; nothing where that cannot be."""
    parts: list[tuple[str, int | str]] = [("h", version)]
    for each in plain:
        if each.kind is Scalar.STRING:
            parts += [("B" if is_flexible else "h", _LENGTH), ("{length}s", each.name)]
        else:
            parts += [(_code(each), each.name)]
    if tagged is not None:
        code = _code(tagged)
        parts += [("B", 1), ("B", tagged.tag or 0), ("B", struct.calcsize(code)), (code, tagged.name)]
    elif is_flexible:
        parts += [("B", 0)]
    codes = "".join(code for code, _ in parts)
    length = size - struct.calcsize(">" + codes.format(length=0))
    if 0 <= length <= (_ONE_BYTE_MAX - 1 if is_flexible else size):
        sized = tuple(code.format(length=length) for code, _ in parts)
        codes = "".join(sized)
        what = [length + is_flexible if each == _LENGTH else each for _, each in parts]
        yield Layout(
            struct.Struct(">" + codes),
            struct.Struct(">" + codes * _MANY),
            len(parts),
            tuple((place, each) for place, each in enumerate(what) if isinstance(each, int)),
            {each: place for place, each in enumerate(what) if isinstance(each, str)},
            sized,
        )


def _code(field: Field) -> str:
    assert isinstance(field.kind, Scalar), f"{field.name} has no fixed size"
    return _CODES[field.kind]
