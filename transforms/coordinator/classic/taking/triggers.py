"""Why a rebalance began, in the words of `schemas.words.TRIGGERS`."""

from __future__ import annotations

from transforms.coordinator.classic.machine.events import Event

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
