"""The orders in which a coordinator of the Java kind walks through its collections, for keys of whatever kind.

Where two members, topics or tasks are equal to an assignor, the first one it meets wins: so these orders decide who
is given what. `java_hashing` has the hash of a text, which all rests on.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, islice, permutations, product
from typing import TypeVar

from transforms.coordinator.kafka.java_hashing import string_hash

Key = TypeVar("Key", bound=Hashable)

_MASK = 0xFFFFFFFF
_MASK_64 = 0xFFFFFFFFFFFFFFFF
_FIBONACCI = -7046029254386353131
_DEFAULT_CAPACITY = 16

TIMELINE_MIN_SLOTS = 2
"""Slots of an empty TimelineHashMap."""


@lru_cache(maxsize=65_536)
def uuid_hash(text: str) -> int:
    """Return `Uuid.hashCode` of an id as Kafka prints it (base64), as an unsigned 32-bit number."""
    high, low = uuid_halves(text)
    folded = (high ^ low) & _MASK_64
    return (folded >> 32 ^ folded) & _MASK


@lru_cache(maxsize=65_536)
def uuid_halves(text: str) -> tuple[int, int]:
    """Return the two signed longs of an id as Kafka prints it; the order of ids is theirs."""
    raw = urlsafe_b64decode(text + "==")
    return int.from_bytes(raw[:8], "big", signed=True), int.from_bytes(raw[8:], "big", signed=True)


def grown_capacity(largest: int, capacity: int = _DEFAULT_CAPACITY) -> int:
    """Return the buckets of a HashMap that was made with some and ever held so many keys; it never shrinks."""
    while largest > capacity * 3 // 4:
        capacity *= 2
    return capacity


def copied_capacity(size: int, least: int = 1) -> int:
    """Return the buckets of a HashMap (at least 1) or HashSet (at least 16) made from a collection of a size."""
    return _power_of_two(max(int(size / 0.75) + 1, least))


def sized_capacity(size: int) -> int:
    """Return the buckets of a HashMap or HashSet that is made for so many keys (AssignorHelpers.newHashMap)."""
    return _power_of_two(int((size + 1) / 0.75 + 1))


def _power_of_two(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()


def table_order(keys: Iterable[Key], hash_of: Callable[[Key], int], capacity: int) -> list[Key]:
    """Return keys in the order of a HashMap or HashSet: by bucket, and in their own order within one."""
    return sorted(keys, key=lambda key: _spread(hash_of(key)) & (capacity - 1))


def table_orders(keys: Iterable[Key], hash_of: Callable[[Key], int], capacity: int, most: int) -> Iterator[list[Key]]:
    """Yield the orders that a HashMap or HashSet may have keys in, whatever order they came in; their own one first.

    Args:
        keys: the keys.
        hash_of: their hash.
        capacity: the buckets.
        most: at most so many orders.
    """
    in_order = table_order(keys, hash_of, capacity)
    buckets = groupby(in_order, key=lambda key: _spread(hash_of(key)) & (capacity - 1))
    of_buckets = [list(islice(permutations(bucket), most)) for _, bucket in buckets]
    for orders in islice(product(*of_buckets), most):
        yield list(chain.from_iterable(orders))


def computed_order(calls: Iterable[Key], hash_of: Callable[[Key], int], capacity: int) -> list[Key]:
    """Return keys in the order of a HashMap that was asked for them by `computeIfAbsent`, one after the other.

    Unlike `put`, that sets a new key before the others of its bucket, and makes the table larger one call later, be
    that for a key that is there.
    """
    found: dict[Key, None] = {}
    for key in calls:
        capacity = grown_capacity(len(found), capacity)
        found[key] = None
    return table_order(reversed(found), hash_of, capacity)


def _spread(value: int) -> int:
    return value ^ (value >> 16)


def string_set_order(texts: Sequence[str]) -> list[str]:
    """Return texts in the order of the HashSet that is made from a list of them."""
    return table_order(texts, string_hash, copied_capacity(len(texts), _DEFAULT_CAPACITY))


def uuid_map_order(ids: Sequence[str]) -> list[str]:
    """Return ids in the order of a HashMap into which they were put one after the other."""
    return table_order(ids, uuid_hash, grown_capacity(len(ids)))


def uuid_set_order(ids: Iterable[str], size: int) -> list[str]:
    """Return ids in the order of the HashSet that is made from a collection which says that it has a size."""
    return table_order(ids, uuid_hash, copied_capacity(size, _DEFAULT_CAPACITY))


def int_set_order(numbers: Iterable[int]) -> list[int]:
    """Return partition numbers in the order of the HashSet that is made from a sorted list of them."""
    ordered = sorted(numbers)
    if not ordered or ordered[-1] < _DEFAULT_CAPACITY:
        return ordered
    return table_order(ordered, int, copied_capacity(len(ordered), _DEFAULT_CAPACITY))


# --- TimelineHashMap -----------------------------------------------------------------------------------------------


def slots_for(size: int, slots: int) -> int:
    """Return the slots of a TimelineHashMap after a key was put or replaced in it, which held `size` keys before.

    It looks whether it should grow before it knows whether the key is new.
    """
    return slots * 2 if (size + 1) * 0.75 > slots else slots


def timeline_order(keys: Iterable[str], slots: int) -> list[str]:
    """Return texts in the order of a TimelineHashMap.

    Args:
        keys: the keys in the order in which they were put in; one that was replaced keeps its place.
        slots: its slots.
    """
    shift = 65 - slots.bit_length()
    last_first = list(keys)[::-1]
    return sorted(last_first, key=lambda key: _slot(string_hash(key), shift))


def _slot(value: int, shift: int) -> int:
    signed = value - 0x100000000 if value & 0x80000000 else value
    return (signed * _FIBONACCI & _MASK_64) >> shift
