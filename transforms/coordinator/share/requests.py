"""The heartbeat of a share group (KIP-932), as its machine takes it."""

from __future__ import annotations

from msgspec import Struct

from transforms.coordinator.modern.requests import ClassicRequest, OffsetRequest

JOIN = 0


class HeartbeatRequest(Struct, frozen=True, gc=False, rename="camel"):
    """ShareGroupHeartbeat; what is None is not said, and stays as it is."""

    member_id: str
    member_epoch: int
    rack_id: str | None = None
    subscribed_topic_names: tuple[str, ...] | None = None


Request = HeartbeatRequest | ClassicRequest | OffsetRequest
