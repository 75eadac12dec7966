"""How far a topic has been read, against what its brokers say that it holds now.

An offset is a name that a broker gives once: the records behind a position are new, those before a topic's beginning
are gone, and a topic that ends before the position is not the one that was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """What a topic holds.

    Attributes:
        topic_id: the id that Kafka gave it; None from brokers that give none (before 2.8).
        begins: offset of the first record there is, by partition.
        ends: offset that the next record will have, by partition.
    """

    topic_id: str | None
    begins: Mapping[int, int]
    ends: Mapping[int, int]


@dataclass(frozen=True)
class Position:
    """How far a topic has been read.

    Attributes:
        topic_id: id of the topic that was read; None if it has none.
        incarnation: 1 for the first topic that was read under this name, one more for each other one since.
        offsets: offset of the next record to read, by partition.
    """

    topic_id: str | None
    incarnation: int
    offsets: Mapping[int, int]


@dataclass(frozen=True)
class Loss:
    """Offsets that retention took before they were read.

    Attributes:
        partition: of the topic.
        first: first offset that is gone.
        last: last offset that is gone.
    """

    partition: int
    first: int
    last: int


def is_another_topic(position: Position, extent: Extent) -> bool:
    """Tell whether the topic was deleted and created anew, or cut back, since it was read.

    Either way offsets that were read already may name other records now.
    """
    if position.topic_id is not None and extent.topic_id is not None and position.topic_id != extent.topic_id:
        return True
    return any(extent.ends.get(partition, 0) < offset for partition, offset in position.offsets.items())


def start(position: Position | None, extent: Extent) -> Position:
    """Return where to read on: at the position, or at the beginning of a topic that was not read yet."""
    if position is None:
        return Position(extent.topic_id, 1, {})
    if is_another_topic(position, extent):
        return Position(extent.topic_id, position.incarnation + 1, {})
    return position


def losses(position: Position, extent: Extent) -> list[Loss]:
    """Return what is gone between the position and the topic's beginning; of a partition not read yet, nothing."""
    return [
        Loss(partition, offset, extent.begins[partition] - 1)
        for partition, offset in sorted(position.offsets.items())
        if extent.begins.get(partition, 0) > offset
    ]


def waiting(position: Position, extent: Extent) -> int:
    """Return how many offsets are to be read; not each is a record (compaction, transaction markers)."""
    return sum(
        max(0, end - max(extent.begins[partition], position.offsets.get(partition, 0)))
        for partition, end in extent.ends.items()
    )


def not_reached(reached: Position, extent: Extent) -> list[int]:
    """Return the partitions that hold records up to an offset which was not reached."""
    return [
        partition
        for partition, end in sorted(extent.ends.items())
        if end > extent.begins[partition] and reached.offsets.get(partition, 0) < end
    ]
