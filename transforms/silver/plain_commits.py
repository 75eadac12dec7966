"""Offset commits of ordinary shape, decoded by Spark's built-in expressions.

An ordinary one has a key of type 1, and a tombstone or a value of version 3 or 4 (all that brokers since 2.1 write by
themselves) whose parts add up to its length and whose strings are valid UTF-8. The two differ in the metadata's length,
an int16 in one and a varint in the other, of which one byte is ordinary, and in what follows the time: nothing in
one; no tag, or the topic id alone, in the other. Every other record is left to `transforms.wire.records`.
Positions in bytes count from 1, as in SQL.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.records.classic_groups import OFFSET_COMMIT, ZERO_UUID
from transforms.wire.rows import LAST_MOMENT_MS

_KEY_PREFIX = OFFSET_COMMIT.type_id.to_bytes(2, "big")
_PLAIN_VERSION, _FLEXIBLE_VERSION = 3, 4
_LENGTH_AT = 15
"""Of the metadata: behind version, offset and leader epoch."""
_SHORT_MAX = 0x7FFF
"""Beyond it an int16 length is a negative one."""
_ONE_BYTE_MAX = 0x7F
"""Beyond it a varint has a second byte."""
_NO_TAGS = b"\x00"
_TOPIC_ID_ALONE = bytes([1, 0, 16])
"""One tag, its number 0, its size 16; the uuid follows."""

_VERSION = "_version"
_GROUP_SIZE, _TOPIC_SIZE, _METADATA_SIZE = "_group_size", "_topic_size", "_metadata_size"
_GROUP, _TOPIC, _METADATA = "_group", "_topic", "_metadata"
_METADATA_AT, _TAIL_AT, _TAIL_SIZE = "_metadata_at", "_tail_at", "_tail_size"
_IS_PLAIN, _ANCHOR = "_is_plain", "_anchor"


def with_parts(records: DataFrame) -> DataFrame:
    """Measure bronze records as if they were plain commits.

    Step by step, so that each number is computed once: Spark keeps projections apart where joining them would repeat
    an expression. And with few words: beyond 8,000 bytes of generated code Java no longer compiles it.

    Args:
        records: with the columns `key` and `value`.

    Returns:
        The same rows with further columns, for `is_plain` and `columns`.
    """
    key, value = F.col("key"), F.col("value")
    length_size = F.when(F.col(_VERSION) == _FLEXIBLE_VERSION, 1).otherwise(2)
    return (
        records.withColumns({_VERSION: _int(value, 1, 2), _GROUP_SIZE: _int(key, 3, 2)})
        .withColumns({_TOPIC_SIZE: _int(key, F.col(_GROUP_SIZE) + 5, 2), _METADATA_AT: length_size + _LENGTH_AT})
        .withColumns({_METADATA_SIZE: _metadata_size()})
        .withColumns(
            {
                _GROUP: _text(key, 5, F.col(_GROUP_SIZE)),
                _TOPIC: _text(key, F.col(_GROUP_SIZE) + 7, F.col(_TOPIC_SIZE)),
                _METADATA: _text(value, F.col(_METADATA_AT), F.col(_METADATA_SIZE)),
                _TAIL_AT: F.col(_METADATA_AT) + F.col(_METADATA_SIZE) + 8,
            }
        )
        .withColumns({_TAIL_SIZE: F.length(value) + 1 - F.col(_TAIL_AT)})
        .withColumns({_IS_PLAIN: _is_key() & (value.isNull() | _is_value()), _ANCHOR: F.spark_partition_id()})
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
    key, value = F.col("key"), F.col("value")
    committed_at = _int(value, F.col(_TAIL_AT) - 8, 8)
    return [
        F.col(_GROUP).alias("group_id"),
        F.col(_TOPIC).alias("topic"),
        _int32(key, F.col(_GROUP_SIZE) + F.col(_TOPIC_SIZE) + 7).alias("partition"),
        _int(value, 3, 8).alias("committed_offset"),
        F.nullif(_int32(value, 11), F.lit(-1)).alias("leader_epoch"),
        F.col(_METADATA).alias("metadata"),
        F.when(committed_at.between(0, LAST_MOMENT_MS), committed_at).alias("committed_at"),
        F.lit(None).cast("bigint").alias("expires_at"),
        F.when(F.col(_TAIL_SIZE) > len(_TOPIC_ID_ALONE), _topic_id()).alias("topic_id"),
        value.isNull().alias("is_tombstone"),
        F.col(_VERSION).cast("int").alias("value_version"),
    ]


def _int(column: Column, at: Column | int, size: Column | int) -> Column:
    """Big-endian integer: unsigned of fewer than eight bytes, signed of eight; null where there are no bytes."""
    return F.conv(F.hex(F.substring(column, _number(at), _number(size))), 16, -10).cast("bigint")


def _int32(column: Column, at: Column | int) -> Column:
    return F.shiftright(F.shiftleft(_int(column, at, 4), 32), 32).cast("int")


def _text(column: Column, at: Column | int, size: Column) -> Column:
    return F.substring(column, _number(at), _number(size)).cast("string")


def _number(position: Column | int) -> Column:
    return F.lit(position).cast("int")


def _metadata_size() -> Column:
    """An int16, or a varint that is one more than the length."""
    read = _int(F.col("value"), _LENGTH_AT, F.col(_METADATA_AT) - _LENGTH_AT)
    return F.when(F.col(_VERSION) == _FLEXIBLE_VERSION, read - 1).otherwise(read)


def _is_key() -> Column:
    key = F.col("key")
    return (
        (F.substring(key, 1, 2) == F.lit(_KEY_PREFIX))
        & (F.length(key) == 10 + F.col(_GROUP_SIZE) + F.col(_TOPIC_SIZE))
        & (F.greatest(_GROUP_SIZE, _TOPIC_SIZE) <= _SHORT_MAX)
        & F.is_valid_utf8(_GROUP)
        & F.is_valid_utf8(_TOPIC)
    )


def _is_value() -> Column:
    size, tail = F.col(_METADATA_SIZE), F.col(_TAIL_SIZE)
    is_plain_tail = (tail == 0) & (size <= _SHORT_MAX)
    no_tags = (tail == len(_NO_TAGS)) & _tail_begins(_NO_TAGS)
    topic_id_alone = (tail == len(_TOPIC_ID_ALONE) + 16) & _tail_begins(_TOPIC_ID_ALONE)
    is_flexible_tail = (no_tags | topic_id_alone) & (size < _ONE_BYTE_MAX)
    return (
        (
            (F.col(_VERSION) == _PLAIN_VERSION) & is_plain_tail
            | (F.col(_VERSION) == _FLEXIBLE_VERSION) & is_flexible_tail
        )
        & (size >= 0)
        & F.is_valid_utf8(_METADATA)
    )


def _tail_begins(start: bytes) -> Column:
    return F.substring(F.col("value"), _number(F.col(_TAIL_AT)), _number(len(start))) == F.lit(start)


def _topic_id() -> Column:
    """As Kafka prints it: base64url, without the two signs of padding that sixteen bytes have."""
    raw = F.substring(F.col("value"), _number(F.col(_TAIL_AT) + len(_TOPIC_ID_ALONE)), _number(16))
    return F.nullif(F.translate(F.substring(F.base64(raw), 1, 22), "+/", "-_"), F.lit(ZERO_UUID))
