"""The heartbeat of a consumer group (KIP-848), as its machine takes it."""

from __future__ import annotations

from msgspec import Struct

from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import TopicPartitions, partitions_of
from transforms.coordinator.modern.requests import ClassicRequest, OffsetRequest

JOIN = 0


class HeartbeatRequest(Struct, frozen=True, gc=False, rename="camel"):
    """ConsumerGroupHeartbeat; what is None (-1) is not said, and stays as it is."""

    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: tuple[str, ...] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    topic_partitions: list[TopicPartitions] | None = None

    @property
    def owned(self) -> Partitions | None:
        """What the member says that it holds."""
        return None if self.topic_partitions is None else partitions_of(self.topic_partitions)

    @property
    def is_full(self) -> bool:
        """Whether it says all that there is to say: then it is told its whole assignment."""
        names_topics = self.subscribed_topic_names is not None or self.subscribed_topic_regex is not None
        return self.rebalance_timeout_ms != -1 and names_topics and self.topic_partitions is not None


Request = HeartbeatRequest | ClassicRequest | OffsetRequest
