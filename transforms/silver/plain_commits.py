"""Offset commits of ordinary shape, decoded by Spark's built-in expressions.

An ordinary one has a key of type 1, and a tombstone or a value of version 0 to 4 whose parts add up to its length and
whose strings are valid UTF-8. Version 4 has a compact length, one byte up to 126 bytes of metadata, and either no tag
or the topic id alone. Every other record fails the test and is left to `transforms.wire.records`.
Positions in bytes count from 1, as in SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.records.classic_groups import OFFSET_COMMIT, ZERO_UUID
from transforms.wire.rows import LAST_MOMENT_MS

_SHORT_MAX = 0x7FFF

_ANCHOR = "_anchor"
_VERSION = "_version"
_GROUP_SIZE = "_group_size"
_TOPIC_SIZE = "_topic_size"
_LENGTH_AT = "_length_at"
_LENGTH_SIZE = "_length_size"
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
        longest: most metadata whose length is written so: beyond it an int16 is negative, a varint has two bytes.
        epoch_at: position of the leader epoch; None = there is none.
        tail: bytes behind the time of the commit; None = a tagged section.
    """

    versions: tuple[int, ...]
    length_at: int
    length_size: int = 2
    length_bias: int = 0
    longest: int = _SHORT_MAX
    epoch_at: int | None = None
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


def with_parts(records: DataFrame) -> DataFrame:
    """Measure bronze records as if they were plain commits.

    Step by step, so that each number is computed once: Spark keeps projections apart where joining them would repeat
    an expression. And with few words: beyond 8,000 bytes of generated code Java no longer compiles it.

    Args:
        records: with the columns `key` and `value`.

    Returns:
        The same rows with further columns, for `is_plain` and `columns`.
    """
    return (
        records.withColumns({_VERSION: _int(_value(), 1, 2), _GROUP_SIZE: _int(_key(), 3, 2)})
        .withColumns(
            {
                _TOPIC_SIZE: _int(_key(), F.col(_GROUP_SIZE) + 5, 2),
                _LENGTH_AT: _by_shape("length_at"),
                _LENGTH_SIZE: _by_shape("length_size"),
            }
        )
        .withColumns({_METADATA_SIZE: _metadata_size(), _METADATA_AT: F.col(_LENGTH_AT) + F.col(_LENGTH_SIZE)})
        .withColumns(
            {
                _GROUP: _text(_key(), 5, F.col(_GROUP_SIZE)),
                _TOPIC: _text(_key(), F.col(_GROUP_SIZE) + 7, F.col(_TOPIC_SIZE)),
                _METADATA: _text(_value(), F.col(_METADATA_AT), F.col(_METADATA_SIZE)),
                _TAIL_AT: F.col(_METADATA_AT) + F.col(_METADATA_SIZE) + 8,
            }
        )
        .withColumns({_TAIL_SIZE: F.length(_value()) + 1 - F.col(_TAIL_AT)})
        .withColumns({_IS_PLAIN: _is_key() & (_value().isNull() | _is_value()), _ANCHOR: F.spark_partition_id()})
    )


def is_plain() -> Column:
    """Say whether a row of `with_parts` is a commit of ordinary shape; never null.

    The partition's number, which is never negative, holds the filter above the measuring: pushed below it, every
    number would be replaced by its expression and computed anew wherever it is used.
    """
    return F.coalesce(F.col(_IS_PLAIN), F.lit(False)) & (F.col(_ANCHOR) >= 0)


def is_other() -> Column:
    """Say the opposite of `is_plain`."""
    return ~F.coalesce(F.col(_IS_PLAIN), F.lit(False)) & (F.col(_ANCHOR) >= 0)


def columns() -> list[Column]:
    """Columns of `silver.offset_commits` that come from key and value; times as epoch milliseconds.

    They mean something for rows of `with_parts` that are plain.
    """
    return [
        F.col(_GROUP).alias("group_id"),
        F.col(_TOPIC).alias("topic"),
        _int32(_key(), F.col(_GROUP_SIZE) + F.col(_TOPIC_SIZE) + 7).alias("partition"),
        _int(_value(), 3, 8).alias("committed_offset"),
        F.nullif(_int32(_value(), _by_shape("epoch_at")), F.lit(-1)).alias("leader_epoch"),
        F.col(_METADATA).alias("metadata"),
        _moment(_int(_value(), F.col(_TAIL_AT) - 8, 8)).alias("committed_at"),
        _moment(F.when(_has_expiry(), _int(_value(), F.col(_TAIL_AT), 8))).alias("expires_at"),
        F.when(_has_tags() & (F.col(_TAIL_SIZE) > 1), _topic_id()).alias("topic_id"),
        _value().isNull().alias("is_tombstone"),
        F.col(_VERSION).cast("int").alias("value_version"),
    ]


def _key() -> Column:
    return F.col("key")


def _value() -> Column:
    return F.col("value")


def _lit(position: Column | int) -> Column:
    return F.lit(position).cast("int")


def _int(column: Column, at: Column | int, size: Column | int) -> Column:
    """Big-endian integer: unsigned of fewer than eight bytes, signed of eight; null where there are no bytes."""
    return F.conv(F.hex(F.substring(column, _lit(at), _lit(size))), 16, -10).cast("bigint")


def _int32(column: Column, at: Column | int) -> Column:
    return F.shiftright(F.shiftleft(_int(column, at, 4), 32), 32).cast("int")


def _text(column: Column, at: Column | int, size: Column) -> Column:
    return F.substring(column, _lit(at), _lit(size)).cast("string")


def _moment(milliseconds: Column) -> Column:
    """Null for what is no moment."""
    return F.when(milliseconds.between(0, LAST_MOMENT_MS), milliseconds)


def _by_shape(attribute: str) -> Column:
    """A number of the shape that the value's version has; null where no shape has it."""
    whens = ((_has_version(shape), F.lit(getattr(shape, attribute)).cast("int")) for shape in _SHAPES)
    first, *rest = whens
    return reduce(lambda chain, each: chain.when(*each), rest, F.when(*first))


def _has_version(*shapes: _Shape) -> Column:
    return F.col(_VERSION).isin([version for shape in shapes for version in shape.versions])


def _has_expiry() -> Column:
    return _has_version(*(shape for shape in _SHAPES if shape.tail))


def _has_tags() -> Column:
    return _has_version(*(shape for shape in _SHAPES if shape.tail is None))


def _metadata_size() -> Column:
    return _int(_value(), F.col(_LENGTH_AT), F.col(_LENGTH_SIZE)) - _by_shape("length_bias")


def _is_key() -> Column:
    return (
        (F.substring(_key(), 1, 2) == F.lit(OFFSET_COMMIT.type_id.to_bytes(2, "big")))
        & (F.length(_key()) == 10 + F.col(_GROUP_SIZE) + F.col(_TOPIC_SIZE))
        & (F.greatest(_GROUP_SIZE, _TOPIC_SIZE) <= _SHORT_MAX)
        & F.is_valid_utf8(_GROUP)
        & F.is_valid_utf8(_TOPIC)
    )


def _is_value() -> Column:
    return (
        F.col(_METADATA_SIZE).between(0, _by_shape("longest"))
        & F.coalesce(F.col(_TAIL_SIZE) == _by_shape("tail"), _has_tags() & _are_plain_tags())
        & F.is_valid_utf8(_METADATA)
    )


def _are_plain_tags() -> Column:
    no_tags = (F.col(_TAIL_SIZE) == len(_NO_TAGS)) & _tail_begins(_NO_TAGS)
    return no_tags | ((F.col(_TAIL_SIZE) == len(_TOPIC_ID_ALONE) + 16) & _tail_begins(_TOPIC_ID_ALONE))


def _tail_begins(start: bytes) -> Column:
    return F.substring(_value(), _lit(F.col(_TAIL_AT)), _lit(len(start))) == F.lit(start)


def _topic_id() -> Column:
    """As Kafka prints it: base64url without padding, which is two signs for sixteen bytes."""
    raw = F.substring(_value(), _lit(F.col(_TAIL_AT) + len(_TOPIC_ID_ALONE)), _lit(16))
    return F.nullif(F.translate(F.substring(F.base64(raw), 1, 22), "+/", "-_"), F.lit(ZERO_UUID))
