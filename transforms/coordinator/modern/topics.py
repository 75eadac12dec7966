"""The topics of a cluster, as far as a coordinator asks for them, and the hash by which it tells that they changed.

Source: CoordinatorMetadataImage, Utils.computeTopicHash and computeGroupHash (4.1, KIP-1101).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from struct import pack
from typing import Final

from msgspec import Struct

from transforms.coordinator.kafka.java_collections import uuid_halves
from transforms.coordinator.kafka.xxh3 import xxh3_64

_MAGIC = b"\x00"


class Topic(Struct, frozen=True, gc=False, array_like=True):
    """One topic.

    Attributes:
        topic_id: as Kafka prints it (base64).
        racks: the racks of each partition's replicas; empty where none are known.
    """

    name: str
    topic_id: str
    partition_count: int
    racks: tuple[tuple[str, ...], ...] = ()


class Topics:
    """The topics of a cluster at one moment.

    Args:
        topics: the topics.
        version: of the metadata; it grows with every change of anything.
        created_version: version at which a topic was created last.
    """

    def __init__(self, topics: Iterable[Topic] = (), version: int = 0, created_version: int = 0) -> None:
        self.by_name = {topic.name: topic for topic in topics}
        self.by_id = {topic.topic_id: topic for topic in self.by_name.values()}
        self.version = version
        self.created_version = created_version

    def id_of(self, name: str) -> str | None:
        """Return the id of a topic; None if there is none of that name."""
        topic = self.by_name.get(name)
        return None if topic is None else topic.topic_id

    def partition_counts(self) -> dict[str, int]:
        """Return the partitions of all topics, by id."""
        return {topic.topic_id: topic.partition_count for topic in self.by_name.values()}

    def hash_of(self, names: Iterable[str]) -> int:
        """Return the hash of those of some topics that exist, as the signed number that records carry."""
        known = sorted(name for name in set(names) if name in self.by_name)
        if not known:
            return 0
        raw = b"".join(pack("<Q", _topic_hash(self.by_name[name])) for name in known)
        value = xxh3_64(raw)
        return value - (1 << 64) if value >> 63 else value


NO_TOPICS: Final = Topics()
"""Where nothing is known of a cluster's topics."""


@lru_cache(maxsize=8_192)
def _topic_hash(topic: Topic) -> int:
    high, low = uuid_halves(topic.topic_id)
    parts = [_MAGIC, pack("<qq", high, low), _text(topic.name), pack("<i", topic.partition_count)]
    for number in range(topic.partition_count):
        parts.append(pack("<i", number))
        for rack in sorted(topic.racks[number]) if number < len(topic.racks) else ():
            parts += [pack("<i", len(rack.encode("utf-16-le")) // 2), _text(rack)]
    return xxh3_64(b"".join(parts))


def _text(text: str) -> bytes:
    """Return a text as hash4j puts it into a hash: its UTF-16 units and how many there are."""
    units = text.encode("utf-16-le")
    return units + pack("<i", len(units) // 2)
