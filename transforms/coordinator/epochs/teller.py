"""To whom a group of epochs tells its rows: whose they are, and where they go."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from transforms.coordinator.epochs.protocol import Part
from transforms.coordinator.rows.tables import Sink


class Teller(Struct, frozen=True):
    """Whose the rows are, and where they go."""

    cluster: str
    group_id: str
    group_type: str
    sink: Sink

    def topic(self, topic_id: str) -> str:
        """Return the name of a topic; its id where no name is known."""
        return self.sink.topic_names.get(topic_id, topic_id)

    def partitions(self, parts: Iterable[Part]) -> list[str]:
        """Return partitions as topic-partition, in their order."""
        return sorted({f"{self.topic(topic)}-{partition}" for topic, partition, _ in parts})
