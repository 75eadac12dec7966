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

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.records.classic_groups import OFFSET_COMMIT
from transforms.wire.rows import LAST_MOMENT_MS

_SHORT_MAX = 0x7FFF

_ANCHOR = "_anchor"
_VERSION = "_version"
_GROUP_SIZE = "_group_size"
_TOPIC_SIZE = "_topic_size"
_METADATA_AT = "_metadata_at"
_METADATA_SIZE = "_metadata_size"
_TAIL_AT = "_tail_at"
_TAIL_SIZE = "_tail_size"
_GROUP = "_group"
_TOPIC = "_topic"
_METADATA = "_metadata"
_IS_PLAIN = "_is_plain"


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


def with_parts(records: DataFrame) -> DataFrame:
    """Measure bronze records as if they were plain commits.

    Step by step, so that each number is computed once: Spark keeps projections apart where joining them would repeat
    an expression.

    Args:
        records: with the columns `key` and `value`.

    Returns:
        The same rows with further columns, for `is_plain` and `columns`.
    """
    key, value = F.col("key"), F.col("value")
    return (
        records.withColumns({_VERSION: _int(value, 1, 2), _GROUP_SIZE: _int(key, 3, 2)})
        .withColumns(
            {
                _TOPIC_SIZE: _int(key, 5 + F.col(_GROUP_SIZE), 2),
                _METADATA_AT: _by_shape(lambda shape: F.lit(shape.length_at + shape.length_size)),
                _METADATA_SIZE: _by_shape(
                    lambda shape: _int(value, shape.length_at, shape.length_size) - shape.length_bias
                ),
            }
        )
        .withColumns(
            {
                _GROUP: _text(key, 5, F.col(_GROUP_SIZE)),
                _TOPIC: _text(key, 7 + F.col(_GROUP_SIZE), F.col(_TOPIC_SIZE)),
                _METADATA: _text(value, F.col(_METADATA_AT), F.col(_METADATA_SIZE)),
                _TAIL_AT: F.col(_METADATA_AT) + F.col(_METADATA_SIZE) + 8,
            }
        )
        .withColumns({_TAIL_SIZE: F.length(value) - F.col(_TAIL_AT) + 1})
        .withColumns(
            {
                _IS_PLAIN: F.coalesce(_is_key() & (value.isNull() | _is_value()), F.lit(False)),
                _ANCHOR: F.spark_partition_id(),
            }
        )
    )


def is_plain() -> Column:
    """Say whether a row of `with_parts` is a commit of ordinary shape; never null.

    The partition's number, which is never negative, holds the filter above the measuring: pushed below it, every
    number would be replaced by its expression and computed anew wherever it is used.
    """
    return F.col(_IS_PLAIN) & (F.col(_ANCHOR) >= 0)


def is_other() -> Column:
    """Say the opposite of `is_plain`."""
    return ~F.col(_IS_PLAIN) & (F.col(_ANCHOR) >= 0)


def columns() -> list[Column]:
    """Columns of `silver.offset_commits` that come from key and value; times as epoch milliseconds.

    They mean something for rows of `with_parts` that are plain.
    """
    key, value = F.col("key"), F.col("value")
    return [
        F.col(_GROUP).alias("group_id"),
        F.col(_TOPIC).alias("topic"),
        _int32(key, 7 + F.col(_GROUP_SIZE) + F.col(_TOPIC_SIZE)).alias("partition"),
        _int(value, 3, 8).alias("committed_offset"),
        _by_shape(_epoch).alias("leader_epoch"),
        F.col(_METADATA).alias("metadata"),
        _moment(_int(value, F.col(_TAIL_AT) - 8, 8)).alias("committed_at"),
        _by_shape(_expires_at).cast("bigint").alias("expires_at"),
        _by_shape(_topic_id).alias("topic_id"),
        value.isNull().alias("is_tombstone"),
        F.col(_VERSION).cast("int").alias("value_version"),
    ]


def _by_shape(of: Callable[[_Shape], Column]) -> Column:
    """Choose by the version of the value; null where no shape has it."""
    first, *rest = ((F.col(_VERSION).isin(*shape.versions), of(shape)) for shape in _SHAPES)
    return reduce(lambda chain, each: chain.when(*each), rest, F.when(*first))


def _is_key() -> Column:
    key = F.col("key")
    return (
        (F.substring(key, 1, 2) == F.lit(OFFSET_COMMIT.type_id.to_bytes(2, "big")))
        & (F.length(key) == 10 + F.col(_GROUP_SIZE) + F.col(_TOPIC_SIZE))
        & (F.col(_GROUP_SIZE) <= _SHORT_MAX)
        & (F.col(_TOPIC_SIZE) <= _SHORT_MAX)
        & F.is_valid_utf8(_GROUP)
        & F.is_valid_utf8(_TOPIC)
    )


def _is_value() -> Column:
    longest = _by_shape(lambda shape: F.lit(shape.longest))
    return F.col(_METADATA_SIZE).between(0, longest) & _by_shape(_is_tail) & F.is_valid_utf8(_METADATA)


def _is_tail(shape: _Shape) -> Column:
    if shape.tail is not None:
        return F.col(_TAIL_SIZE) == shape.tail
    no_tags = (F.col(_TAIL_SIZE) == 1) & _tail_begins(_NO_TAGS)
    topic_id_alone = (F.col(_TAIL_SIZE) == len(_TOPIC_ID_ALONE) + 16) & _tail_begins(_TOPIC_ID_ALONE)
    return no_tags | topic_id_alone


def _tail_begins(start: bytes) -> Column:
    return F.substring(F.col("value"), _lit(F.col(_TAIL_AT)), F.lit(len(start))) == F.lit(start)


def _epoch(shape: _Shape) -> Column:
    """-1 is none; as the only value whose four bytes are all ones it is told by them."""
    if shape.epoch_at is None:
        return F.lit(None)
    none = F.substring(F.col("value"), shape.epoch_at, 4) == F.lit(b"\xff" * 4)
    return F.when(~none, _int32(F.col("value"), shape.epoch_at))


def _expires_at(shape: _Shape) -> Column:
    return _moment(_int(F.col("value"), F.col(_TAIL_AT), 8)) if shape.tail else F.lit(None)


def _topic_id(shape: _Shape) -> Column:
    if shape.tail is not None:
        return F.lit(None)
    raw = F.substring(F.col("value"), _lit(F.col(_TAIL_AT) + len(_TOPIC_ID_ALONE)), F.lit(16))
    uuid = F.translate(F.rtrim(F.base64(raw), F.lit("=")), "+/", "-_")
    return F.when((F.col(_TAIL_SIZE) > 1) & (raw != F.lit(bytes(16))), uuid)
