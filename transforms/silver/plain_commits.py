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

from schemas.records.classic_groups import OFFSET_COMMIT
from transforms.silver.big_endian import bits, leading_int64
from transforms.wire.rows import LAST_MOMENT_MS

_PLAIN_VERSION, _FLEXIBLE_VERSION = 3, 4
_LENGTH_AT = 15
"""Of the metadata: behind version, offset and leader epoch."""
_NO_TAGS = b"\x00"
_TOPIC_ID_ALONE = bytes([1, 0, 16])
"""One tag, its number 0, its size 16; the uuid follows."""

_KEY_HEAD, _LENGTH_HEAD, _VERSION = "_key_head", "_length_head", "_version"
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
    is_flexible = F.col(_VERSION) == _FLEXIBLE_VERSION
    short, byte = bits(F.col(_LENGTH_HEAD), 0, 16), bits(F.col(_LENGTH_HEAD), 0, 8)
    return (
        records.withColumns(
            {
                _KEY_HEAD: leading_int64(key),
                _VERSION: bits(leading_int64(value), 0, 16),
                _LENGTH_HEAD: leading_int64(F.substring(value, _LENGTH_AT, 2)),
            }
        )
        .withColumns(
            {
                _GROUP_SIZE: bits(F.col(_KEY_HEAD), 16, 16),
                # An int16, or a varint that is one more than the length.
                _METADATA_SIZE: F.when(is_flexible, byte - 1).otherwise(short),
                _METADATA_AT: F.when(is_flexible, _LENGTH_AT + 1).otherwise(_LENGTH_AT + 2),
            }
        )
        .withColumns({_TOPIC_SIZE: bits(leading_int64(_part(key, F.col(_GROUP_SIZE) + 5, 2)), 0, 16)})
        .withColumns(
            {
                _GROUP: _part(key, 5, F.col(_GROUP_SIZE)).cast("string"),
                _TOPIC: _part(key, F.col(_GROUP_SIZE) + 7, F.col(_TOPIC_SIZE)).cast("string"),
                _METADATA: _part(value, F.col(_METADATA_AT), F.col(_METADATA_SIZE)).cast("string"),
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
    committed_at = leading_int64(_part(value, F.col(_TAIL_AT) - 8, 8))
    return [
        F.col(_GROUP).alias("group_id"),
        F.col(_TOPIC).alias("topic"),
        _int32(key, F.col(_GROUP_SIZE) + F.col(_TOPIC_SIZE) + 7).alias("partition"),
        leading_int64(F.substring(value, 3, 8)).alias("committed_offset"),
        F.nullif(_int32(value, 11), F.lit(-1)).alias("leader_epoch"),
        F.col(_METADATA).alias("metadata"),
        F.when(committed_at.between(0, LAST_MOMENT_MS), committed_at).alias("committed_at"),
        F.lit(None).cast("bigint").alias("expires_at"),
        _topic_id().alias("topic_id"),
        value.isNull().alias("is_tombstone"),
        F.col(_VERSION).cast("int").alias("value_version"),
    ]


def _part(column: Column, at: Column | int, size: Column | int) -> Column:
    return F.substring(column, _number(at), _number(size))


def _int32(column: Column, at: Column | int) -> Column:
    return bits(leading_int64(_part(column, at, 4)), 0, 32).cast("int")


def _number(position: Column | int) -> Column:
    return F.lit(position).cast("int")


def _is_key() -> Column:
    """All bytes are there where the sizes, none of them negative, add up to the key's."""
    return (
        (bits(F.col(_KEY_HEAD), 0, 16) == OFFSET_COMMIT.type_id)
        & (F.length("key") == 10 + F.col(_GROUP_SIZE) + F.col(_TOPIC_SIZE))
        & (F.least(_GROUP_SIZE, _TOPIC_SIZE) >= 0)
        & F.is_valid_utf8(_GROUP)
        & F.is_valid_utf8(_TOPIC)
    )


def _is_value() -> Column:
    tail = F.col(_TAIL_SIZE)
    no_tags = (tail == len(_NO_TAGS)) & _tail_begins(_NO_TAGS)
    topic_id_alone = (tail == len(_TOPIC_ID_ALONE) + 16) & _tail_begins(_TOPIC_ID_ALONE)
    return (
        (
            (F.col(_VERSION) == _PLAIN_VERSION) & (tail == 0)
            | (F.col(_VERSION) == _FLEXIBLE_VERSION) & (no_tags | topic_id_alone)
        )
        & (F.col(_METADATA_SIZE) >= 0)  # so is a varint's byte that is not its last
        & F.is_valid_utf8(_METADATA)
    )


def _tail_begins(start: bytes) -> Column:
    return _part(F.col("value"), F.col(_TAIL_AT), len(start)) == F.lit(start)


def _topic_id() -> Column:
    """As Kafka prints it: base64url, without the two signs of padding that sixteen bytes have.

    Cut as bytes and replaced sign by sign: `substring` of text and `translate` take longer than the rest of the row.
    """
    raw = _part(F.col("value"), F.col(_TAIL_AT) + len(_TOPIC_ID_ALONE), 16)
    text = _part(F.base64(raw).cast("binary"), 1, 22).cast("string")
    for sign, url_sign in ("+-", "/_"):
        text = F.replace(text, F.lit(sign), F.lit(url_sign))
    return F.when((F.col(_TAIL_SIZE) > len(_TOPIC_ID_ALONE)) & (raw != F.lit(bytes(16))), text)
