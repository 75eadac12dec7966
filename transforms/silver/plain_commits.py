"""Offset commits of ordinary shape, decoded by Spark's built-in expressions.

An ordinary one has a key of type 1, and a tombstone or a value of version 0 to 4 whose parts add up to its length and
whose strings are valid UTF-8. Version 4 has a compact length, one byte up to 126 bytes of metadata, and either no tag
or the topic id alone. Every other record fails the test and is left to `transforms.wire.records`.
Positions in bytes count from 1, as in SQL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from schemas.records.classic_groups import OFFSET_COMMIT, ZERO_UUID
from transforms.wire.rows import LAST_MOMENT_MS

_SHORT_MAX = 0x7FFF


@dataclass(frozen=True, slots=True)
class _Shape:
    """Where the parts of a value lie.

    Attributes:
        versions: value versions of this shape.
        length_at: position of the metadata's length, which the metadata follows.
        length_size: bytes of that length.
        length_bias: what is to be taken off it.
        epoch_at: position of the leader epoch; None = there is none.
        longest: most metadata whose length is written so: beyond it an int16 is negative, a varint has two bytes.
        tail: bytes behind the time of the commit; None = a tagged section.
    """

    versions: tuple[int, ...]
    length_at: int
    length_size: int = 2
    length_bias: int = 0
    epoch_at: int | None = None
    longest: int = _SHORT_MAX
    tail: int | None = 0


_SHAPES = (
    _Shape((3,), length_at=15, epoch_at=11),
    _Shape((4,), length_at=15, length_size=1, length_bias=1, epoch_at=11, longest=126, tail=None),
    _Shape((0, 2), length_at=11),
    _Shape((1,), length_at=11, tail=8),
)
_NO_TAGS = b"\x00"
_TOPIC_ID_ALONE = bytes([1, 0, 16])
"""One tag, its number 0, its size 16; the uuid follows."""


def _lit(position: Column | int) -> Column:
    return F.lit(position).cast("int")


def _int(column: Column, at: Column | int, size: int) -> Column:
    """Big-endian integer: unsigned of fewer than eight bytes, signed of eight; null where bytes are missing."""
    return F.conv(F.hex(F.substring(column, _lit(at), F.lit(size))), 16, -10).try_cast("bigint")


def _int32(column: Column, at: Column | int) -> Column:
    return F.shiftright(F.shiftleft(_int(column, at, 4), 32), 32).cast("int")


def _text(column: Column, at: Column | int, size: Column) -> Column:
    return F.substring(column, _lit(at), _lit(size)).cast("string")


def _moment(milliseconds: Column) -> Column:
    return F.when(milliseconds.between(0, LAST_MOMENT_MS), milliseconds)


class PlainCommit:
    """Expressions over the columns `key` and `value` of bronze.

    Attributes:
        is_plain: the record is a commit of ordinary shape; never null.
        columns: columns of `silver.offset_commits` that come from key and value, times as epoch milliseconds; they
            mean something for plain records alone.
    """

    def __init__(self) -> None:
        self._key, self._value = F.col("key"), F.col("value")
        self._version = _int(self._value, 1, 2)
        self._group_size = _int(self._key, 3, 2)
        self._topic_size = _int(self._key, 5 + self._group_size, 2)
        self._group = _text(self._key, 5, self._group_size)
        self._topic = _text(self._key, 7 + self._group_size, self._topic_size)
        self._metadata_at = self._by_shape(lambda shape: F.lit(shape.length_at + shape.length_size))
        self._metadata_size = self._by_shape(
            lambda shape: _int(self._value, shape.length_at, shape.length_size) - shape.length_bias
        )
        self._metadata = _text(self._value, self._metadata_at, self._metadata_size)
        self._committed_at = self._metadata_at + self._metadata_size
        self._tail_at = self._committed_at + 8
        self._tail_size = F.length(self._value) - self._tail_at + 1
        self.is_plain = F.coalesce(self._is_key() & (self._value.isNull() | self._is_value()), F.lit(False))
        self.columns = self._columns()

    def _by_shape(self, of: Callable[[_Shape], Column]) -> Column:
        """Choose by the version of the value; null where no shape has it."""
        first, *rest = ((self._version.isin(*shape.versions), of(shape)) for shape in _SHAPES)
        return reduce(lambda chain, each: chain.when(*each), rest, F.when(*first))

    def _is_key(self) -> Column:
        return (
            (F.substring(self._key, 1, 2) == F.lit(OFFSET_COMMIT.type_id.to_bytes(2, "big")))
            & (F.length(self._key) == 10 + self._group_size + self._topic_size)
            & (self._group_size <= _SHORT_MAX)
            & (self._topic_size <= _SHORT_MAX)
            & F.is_valid_utf8(self._group)
            & F.is_valid_utf8(self._topic)
        )

    def _is_value(self) -> Column:
        longest = self._by_shape(lambda shape: F.lit(shape.longest))
        return self._metadata_size.between(0, longest) & self._by_shape(self._is_tail) & F.is_valid_utf8(self._metadata)

    def _is_tail(self, shape: _Shape) -> Column:
        if shape.tail is not None:
            return self._tail_size == shape.tail
        no_tags = (self._tail_size == 1) & self._tail_begins(_NO_TAGS)
        topic_id_alone = (self._tail_size == len(_TOPIC_ID_ALONE) + 16) & self._tail_begins(_TOPIC_ID_ALONE)
        return no_tags | topic_id_alone

    def _tail_begins(self, start: bytes) -> Column:
        return F.substring(self._value, _lit(self._tail_at), F.lit(len(start))) == F.lit(start)

    def _epoch(self, shape: _Shape) -> Column:
        return F.lit(None) if shape.epoch_at is None else _int32(self._value, shape.epoch_at)

    def _expires_at(self, shape: _Shape) -> Column:
        return _int(self._value, self._tail_at, 8) if shape.tail else F.lit(None)

    def _topic_id(self, shape: _Shape) -> Column:
        if shape.tail is not None:
            return F.lit(None)
        raw = F.substring(self._value, _lit(self._tail_at + len(_TOPIC_ID_ALONE)), F.lit(16))
        uuid = F.translate(F.rtrim(F.base64(raw), F.lit("=")), "+/", "-_")
        return F.when(self._tail_size > 1, F.nullif(uuid, F.lit(ZERO_UUID)))

    def _columns(self) -> list[Column]:
        return [
            self._group.alias("group_id"),
            self._topic.alias("topic"),
            _int32(self._key, 7 + self._group_size + self._topic_size).alias("partition"),
            _int(self._value, 3, 8).alias("committed_offset"),
            F.nullif(self._by_shape(self._epoch), F.lit(-1)).alias("leader_epoch"),
            self._metadata.alias("metadata"),
            _moment(_int(self._value, self._committed_at, 8)).alias("committed_at"),
            _moment(self._by_shape(self._expires_at).cast("bigint")).alias("expires_at"),
            self._by_shape(self._topic_id).alias("topic_id"),
            self._value.isNull().alias("is_tombstone"),
            self._version.cast("int").alias("value_version"),
        ]
