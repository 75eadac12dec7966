"""What can happen to a group, and what the machine says about it."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.kafka.requests import Request
from transforms.coordinator.kafka.states import GroupState


class Event(str, Enum):
    """Everything that can happen to a classic group; the columns of the state machine's table.

    GROUP_LOADED has no cell: it is how a group comes into being at a coordinator, in whatever state was stored.
    """

    MEMBER_ID_GIVEN = "member_id_given"
    MEMBER_ADDED = "member_added"
    STATIC_MEMBER_REPLACED = "static_member_replaced"
    STATIC_MEMBER_UNSTORED = "static_member_unstored"
    STATIC_MEMBER_CHANGED_PROTOCOL = "static_member_changed_protocol"
    STATIC_MEMBER_TOOK_OVER = "static_member_took_over"
    FOLLOWER_REJOINED = "follower_rejoined"
    LEADER_REJOINED = "leader_rejoined"
    METADATA_CHANGED = "metadata_changed"
    JOIN_REFUSED_FULL = "join_refused_full"
    LEADER_SYNCED = "leader_synced"
    FOLLOWER_SYNCED = "follower_synced"
    HEARTBEAT = "heartbeat"
    COMMIT = "commit"
    TXN_COMMIT = "txn_commit"
    MEMBERS_LEFT = "members_left"
    PENDING_MEMBER_LEFT = "pending_member_left"
    SESSION_EXPIRED = "session_expired"
    PENDING_MEMBER_EXPIRED = "pending_member_expired"
    SYNC_TIMED_OUT = "sync_timed_out"
    JOIN_COMPLETED = "join_completed"
    JOIN_COMPLETED_EMPTY = "join_completed_empty"
    JOIN_EXTENDED = "join_extended"
    ASSIGNMENT_STORED = "assignment_stored"
    ASSIGNMENT_STORE_FAILED = "assignment_store_failed"
    LOADED_OVER_CAPACITY = "loaded_over_capacity"
    REBALANCE_OBSERVED = "rebalance_observed"
    GROUP_DELETED = "group_deleted"
    GROUP_REMOVED = "group_removed"
    GROUP_UNLOADED = "group_unloaded"
    GROUP_LOADED = "group_loaded"

    __hash__ = str.__hash__  # Enum's own is Python, and is asked at every look at the table


class Cause(Struct, gc=False, array_like=True):
    """Why an event happens, and when.

    Attributes:
        at: epoch ms.
        request: the request behind it, if there is one.
        member_ids: the members it is about.
        source: the evidence that shows it.
        is_inferred: put in to reach what the evidence shows; nothing shows this step itself.
    """

    at: float
    request: Request | None = None
    member_ids: tuple[str, ...] = ()
    source: Source = Source.REQUEST_LOG
    is_inferred: bool = False

    @property
    def member_id(self) -> str | None:
        """The first member the event is about."""
        return self.member_ids[0] if self.member_ids else None


class Answered(Struct, tag=True, gc=False, array_like=True):
    """The machine answers a request; `generation`, `leader` and `protocol` only in a JoinGroup's success."""

    at: float
    token: int
    error: int
    generation: int | None = None
    leader: str | None = None
    protocol: str | None = None
    assignment: bytes | None = None


class Moved(Struct, tag=True, gc=False, array_like=True):
    """The group went from one state to another; `generation` is the one after."""

    at: float
    from_state: GroupState
    to_state: GroupState
    event: Event
    generation: int
    cause: Cause


class Joined(Struct, tag=True, gc=False, array_like=True):
    """A member was added; `replaces` is the id it took the place of."""

    at: float
    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    source: Source
    replaces: str | None = None


class Gone(Struct, tag=True, gc=False, array_like=True):
    """A member was removed, by a cause out of `schemas.words.END_CAUSES`."""

    at: float
    member_id: str
    end_cause: str
    source: Source


Output = Answered | Moved | Joined | Gone
