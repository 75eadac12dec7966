"""The APIs of a group coordinator, by what the replay makes of them."""

from __future__ import annotations

from transforms.coordinator.kafka.answers import Error

DELETE_GROUPS = "DeleteGroups"
SYNC_GROUP = "SyncGroup"

CLASSIC_APIS = frozenset(
    {"JoinGroup", SYNC_GROUP, "Heartbeat", "LeaveGroup", "OffsetCommit", "TxnOffsetCommit", DELETE_GROUPS}
)
"""Requests that a group of any type may be sent."""

COMMIT_APIS = frozenset({"OffsetCommit", "TxnOffsetCommit"})

TYPE_OF_HEARTBEAT = {
    "ConsumerGroupHeartbeat": "consumer",
    "ShareGroupHeartbeat": "share",
    "StreamsGroupHeartbeat": "streams",
}
"""Requests that a group of one of the newer types alone is sent, and that type."""

MODERN_HEARTBEATS = frozenset(TYPE_OF_HEARTBEAT)

REPLAYED_APIS = CLASSIC_APIS | MODERN_HEARTBEATS

UNCHANGING_APIS = frozenset({"Heartbeat", "OffsetCommit", "TxnOffsetCommit"})
"""Requests that leave state and members of a classic group as they are."""

RACING_APIS = frozenset({"Heartbeat", "OffsetCommit", "SyncGroup", "LeaveGroup"})
"""Requests whose answer is a function of the state alone, so that it can be asked of the state before and after."""

WAITING_APIS = frozenset({"JoinGroup", "SyncGroup"})
"""Requests that may wait for the group, rather than the group for them."""

ANSWERS_THAT_PROVE = frozenset(
    {
        ("JoinGroup", int(Error.NONE)),
        ("SyncGroup", int(Error.NONE)),
        ("SyncGroup", int(Error.COORDINATOR_NOT_AVAILABLE)),
    }
)
"""APIs and errors of answers that prove something of the group; those of heartbeats, commits, leaves prove nothing."""
