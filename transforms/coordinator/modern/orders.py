"""The orders in which an assignor meets the members of a modern group and what they have (TargetAssignmentBuilder)."""

from __future__ import annotations

from collections.abc import Iterable

from transforms.coordinator.kafka.java_collections import (
    grown_capacity,
    int_set_order,
    table_order,
    uuid_map_order,
)
from transforms.coordinator.kafka.java_hashing import string_hash
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.topics import Topics


def assignor_order(members: Iterable[str], speaker: str, forerunner: str | None = None) -> list[str]:
    """Return the members for whom targets are computed, in the order of the map that holds them.

    Args:
        members: ids of those that are there, in the order of the group.
        speaker: the member of the request, be it new.
        forerunner: the member whose place it takes.
    """
    there = dict.fromkeys(members)
    largest = len(there)
    changes = [speaker] if forerunner is None else [speaker, forerunner]
    for member_id in table_order(changes, string_hash, 16):
        if member_id == forerunner:
            there.pop(member_id, None)
        else:
            there.setdefault(member_id)
        largest = max(largest, len(there))
    return table_order(there, string_hash, grown_capacity(largest))


def as_loaded(target: Partitions) -> dict[str, list[int]]:
    """Return a member's target in the order in which Kafka has it after reading its record."""
    return {topic: int_set_order(target[topic]) for topic in uuid_map_order(list(target))}


def ids_of(names: Iterable[str], topics: Topics) -> list[str]:
    """Return the ids of those topics that exist."""
    ids = (topics.id_of(name) for name in names)
    return [topic_id for topic_id in ids if topic_id is not None]
