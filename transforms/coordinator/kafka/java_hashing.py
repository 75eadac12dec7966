"""The orders that Kafka's hash maps give, which decide leaders and tied votes.

Who leads after the leader has gone, and which of two protocols with equal votes wins, follows the iteration order
of a hash map of member ids or protocol names. Both maps' orders are functions of Java's `String.hashCode`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_MASK = 0xFFFFFFFF


@lru_cache(maxsize=65_536)
def string_hash(text: str) -> int:
    """Return Java's `String.hashCode` as an unsigned 32-bit number (computed over UTF-16 units)."""
    value = 0
    if text.isascii():
        for byte in text.encode("ascii"):
            value = (31 * value + byte) & _MASK
        return value
    units = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(units), 2):
        value = (31 * value + (units[index] << 8 | units[index + 1])) & _MASK
    return value


def offsets_partition(group_id: str, partition_count: int) -> int:
    """Return the partition of `__consumer_offsets` that a group lives in (GroupCoordinatorService.partitionFor)."""
    value = string_hash(group_id)
    if value == 0x80000000:  # Utils.abs maps Integer.MIN_VALUE to 0
        return 0
    return (value if value < 0x80000000 else 0x100000000 - value) % partition_count


def _spread(value: int) -> int:
    return value ^ (value >> 16)


def map_order(keys: Iterable[str], largest: int, dialect: str) -> list[str]:
    """Return keys in the iteration order of the coordinator's member map.

    Args:
        keys: the keys in their order of insertion.
        largest: the most keys the map ever held; the table grows with it and never shrinks.
        dialect: "java" (java.util.HashMap: insertion order inside a bucket) or "scala"
            (scala.collection.mutable.HashMap of 2.13: ascending hash inside a bucket).
    """
    size = 16
    while (largest > size * 3 // 4) if dialect == "java" else (largest >= size * 3 // 4):
        size *= 2
    hashed = [(_spread(string_hash(key)), key) for key in keys]
    if dialect == "java":
        return [key for spread, key in sorted(hashed, key=lambda pair: pair[0] & (size - 1))]
    return [key for spread, key in sorted(hashed, key=lambda pair: (pair[0] & (size - 1), _signed(pair[0])))]


def vote_order(protocols: Iterable[str], dialect: str) -> list[str]:
    """Return protocol names in the order in which the first one with the most votes wins."""
    if dialect == "java":
        return map_order(protocols, 0, dialect)
    return sorted(protocols, key=_scala_trie_key)


def _signed(value: int) -> int:
    return value - 0x100000000 if value & 0x80000000 else value


def _scala_trie_key(text: str) -> tuple[int, ...]:
    """Path of a key through scala.collection.immutable.HashMap: five bits a level, lowest first."""
    value = string_hash(text)
    value = (value + (~(value << 9) & _MASK)) & _MASK
    value ^= value >> 14
    value = (value + (value << 4)) & _MASK
    value ^= value >> 10
    return tuple((value >> shift) & 31 for shift in range(0, 32, 5))
