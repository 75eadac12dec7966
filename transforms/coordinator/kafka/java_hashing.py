"""The orders that Kafka's hash maps give, which decide leaders and tied votes.

Who leads after the leader has gone, and which of two protocols with equal votes wins, follows the iteration order
of a hash map of member ids or protocol names. All maps' orders are functions of Java's `String.hashCode`.
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


@lru_cache(maxsize=65_536)
def _spread(text: str) -> int:
    """Return the hash as java.util.HashMap and Scala's spread it."""
    value = string_hash(text)
    return value ^ (value >> 16)


def map_order(keys: Iterable[str], largest: int, kind: str) -> list[str]:
    """Return keys in the iteration order of the coordinator's member map.

    Args:
        keys: the keys in their order of insertion.
        largest: the most keys the map ever held; the table grows with it and never shrinks.
        kind: "java" (java.util.HashMap: insertion order inside a bucket), "scala" (scala.collection.mutable.HashMap
            of 2.13: ascending hash inside a bucket) or "scala 2.12" (that of 2.12: buckets from the last to the first,
            newest first inside one; what a growing table turns round in its buckets is not followed).
    """
    size = 16
    while (largest >= size * 3 // 4) if kind == "scala" else (largest > size * 3 // 4):
        size *= 2
    if kind == "scala 2.12":
        newest_first = list(keys)[::-1]
        return sorted(newest_first, key=lambda key: -_bucket_in_2_12(string_hash(key), size))
    if kind == "java":
        return sorted(keys, key=lambda key: _spread(key) & (size - 1))
    return sorted(keys, key=lambda key: (_spread(key) & (size - 1), _signed(_spread(key))))


_SEED_2_12 = 4
"""Bits of the index into a table of 16, which every map begins with."""

_GOLDEN = 0x9E3775CD


def _bucket_in_2_12(value: int, size: int) -> int:
    """Return the bucket of a hash (HashTable.index: the highest bits of the bytes turned round and rotated)."""
    swapped = int.from_bytes((value * _GOLDEN & _MASK).to_bytes(4, "little"), "big") * _GOLDEN & _MASK
    rotated = (swapped >> _SEED_2_12 | swapped << (32 - _SEED_2_12)) & _MASK
    return rotated >> (32 - (size - 1).bit_length())


_FEW = 4
"""Up to so many keys an immutable map of Scala is no hash map, and keeps the order of insertion."""


def vote_order(protocols: Iterable[str], kind: str) -> list[str]:
    """Return protocol names in the order in which the first one with the most votes wins."""
    names = list(protocols)
    if kind == "java" or (kind == "scala 2.12" and len(names) <= _FEW):
        return map_order(names, len(names), kind)
    if kind == "scala 2.12":
        return sorted(names, key=_scala_trie_key)
    return _in_trie(names, 0)


def _in_trie(names: list[str], level: int) -> list[str]:
    """Order names as the trie of 2.13 does: in each node first the names that are alone there, then the nodes below."""
    by_place: dict[int, list[str]] = {}
    for name in names:
        by_place.setdefault(_scala_trie_key(name)[level], []).append(name)
    places = [by_place[place] for place in sorted(by_place)]
    alone = [place[0] for place in places if len(place) == 1]
    return alone + [name for place in places if len(place) > 1 for name in _in_trie(place, level + 1)]


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
