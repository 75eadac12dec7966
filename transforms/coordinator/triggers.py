"""Why a rebalance began, in the words of `schemas.words.TRIGGERS`."""

from __future__ import annotations

from transforms.coordinator.events import Event

BY_EVENT: dict[Event, str] = {
    Event.MEMBER_ADDED: "member_joined",
    Event.STATIC_MEMBER_REPLACED: "static_member_replaced",
    Event.STATIC_MEMBER_CHANGED_PROTOCOL: "static_member_replaced",
    Event.LEADER_REJOINED: "leader_rejoined",
    Event.METADATA_CHANGED: "subscription_changed",
    Event.MEMBERS_LEFT: "member_left",
    Event.PENDING_MEMBER_LEFT: "pending_member_left",
    Event.SESSION_EXPIRED: "session_expired",
    Event.SYNC_TIMED_OUT: "sync_timeout",
    Event.ASSIGNMENT_STORE_FAILED: "assignment_store_failed",
    Event.LOADED_OVER_CAPACITY: "group_over_capacity",
}
"""Trigger of the join phase that an event begins; an event that is not here says nothing of the cause."""

BY_CLIENT_REASON: dict[tuple[str, str], str] = {
    ("leader_rejoined", "cached metadata has changed"): "topic_metadata_changed",
    ("member_left", "consumer poll timeout has expired."): "poll_timeout",
}
"""What a client's own reason (KIP-800) makes of a trigger."""

POLL_TIMEOUT = "consumer poll timeout has expired."
"""Reason of a consumer that leaves because its poll loop was too slow."""


def refined(trigger: str, client_reason: str | None) -> str:
    """Return the trigger with the client's own reason taken into account."""
    return BY_CLIENT_REASON.get((trigger, client_reason or ""), trigger)
