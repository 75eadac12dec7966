"""The words of the Java coordinator's INFO lines about a classic group, as Kafka 4.2 prints them.

Classes GroupMetadataManager and ClassicGroup of org.apache.kafka.coordinator.group.
"""

from __future__ import annotations

from transforms.coordinator.classic.machine.events import Event, Joined, Moved
from transforms.coordinator.classic.machine.group import Group
from transforms.coordinator.kafka.requests import Request
from transforms.coordinator.kafka.states import GroupState

KEPT = (
    "Static member which joins during Stable stage and doesn't affect the selected protocol will not trigger a "
    "rebalance."
)

_OPERATIONS = {
    "Heartbeat": "heartbeat",
    "OffsetCommit": "offset-commit",
    "TxnOffsetCommit": "txn-offset-commit",
    "JoinGroup": "join-group",
    "SyncGroup": "sync-group",
}


def given(group_id: str, state: str, member_id: str | None) -> str:
    """Return what is said when a joiner is sent back for its member id."""
    return (
        f"Dynamic member with unknown member id joins group {group_id} in {state} state. Created a new member id "
        f"{member_id} and requesting the member to rejoin with this id."
    )


def fenced(asked: Request, now: str | None) -> str:
    """Return what is said when an instance is refused because another process has it."""
    return (
        f"Request memberId={asked.member_id} for static member with groupInstanceId={asked.group_instance_id} is "
        f"fenced by existing memberId={now} during operation {_OPERATIONS[asked.api]}"
    )


def joined(group_id: str, state: str, came: Joined) -> str:
    """Return what is said when a member is added, or an instance comes under another id."""
    if came.group_instance_id is None:
        return (
            f"Pending dynamic member with id {came.member_id} joins group {group_id} in {state} state. Adding to the "
            "group now."
        )
    static = (
        f"Static member with groupInstanceId={came.group_instance_id} and unknown member id joins group {group_id} in "
        f"{state} state."
    )
    if came.replaces is None:
        return f"{static} Created a new member id {came.member_id} for this member and added to the group."
    return f"{static} Replacing previously mapped member {came.replaces} with this groupInstanceId."


def failed(group_id: str, member_id: str) -> str:
    """Return what is said when a session has run out."""
    return f"Member {member_id} in group {group_id} has failed, removing it from the group."


def left(group_id: str, member_id: str, reason: str | None) -> str:
    """Return what is said when a member leaves."""
    return (
        f"[Group {group_id}] Member {member_id} has left group through explicit `LeaveGroup` request; client reason: "
        f"{reason or 'not provided'}"
    )


def not_rejoined(group_id: str, member_ids: list[str]) -> str:
    """Return what is said of members that did not come in the join phase."""
    return f"Group {group_id} removed dynamic members who haven't joined: [{', '.join(member_ids)}]"


def moved(group_id: str, group: Group, move: Moved, state: str, request: Request | None) -> str:
    """Return what is said when the group goes to another state."""
    if move.to_state is GroupState.PREPARING:
        return (
            f"Preparing to rebalance group {group_id} in state PreparingRebalance with old generation "
            f"{move.generation} (reason: {_reason(move, state, request)})."
        )
    if move.to_state is GroupState.COMPLETING:
        return f"Stabilized group {group_id} generation {move.generation} with {len(group.members)} members."
    if move.to_state is GroupState.EMPTY:
        return f"Group {group_id} with generation {move.generation} is now empty."
    return (
        f"Assignment received from leader {group.leader} for group {group_id} for generation {move.generation}. The "
        f"group has {len(group.members)} members, {len(group.static_members)} of which are static."
    )


def _reason(moved: Moved, state: str, request: Request | None) -> str:
    """Why a coordinator says that it prepares a rebalance."""
    ids, event = moved.cause.member_ids, moved.event
    who = ids[0] if ids else ""
    if request is not None and event is Event.MEMBER_ADDED:
        who = request.joiner_id
    said = f"client reason: {(request.reason if request else None) or 'not provided'}"
    return {
        Event.MEMBER_ADDED: f"Adding new member {who} with group instance id "
        f"{(request.group_instance_id if request else None) or 'null'}; {said}",
        Event.LEADER_REJOINED: f"Leader {who} re-joining group during {state}; {said}",
        Event.METADATA_CHANGED: f"Updating metadata for member {who} during {state}; {said}",
        Event.MEMBERS_LEFT: f"explicit `LeaveGroup` request for ({', '.join(ids)}) members.",
        Event.SESSION_EXPIRED: f"removing member {who} on heartbeat expiration.",
        Event.SYNC_TIMED_OUT: f"Removing [{', '.join(ids)}] on pending sync request expiration",
    }[event]
