"""What the cells of the table do to a group.

Each effect takes the desk and the cause. Those named `enter_*` run after the state has changed and do what Kafka
does on every way into that state.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from transforms.coordinator.classic.machine.desk import Desk
from transforms.coordinator.classic.machine.events import Cause
from transforms.coordinator.classic.machine.group import JOIN_TIMER, SYNC_TIMER, Group, Member, Timer, member_timer
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import NEW_MEMBER_JOIN_TIMEOUT_MS
from transforms.coordinator.kafka.requests import Request
from transforms.coordinator.kafka.states import COMPLETING, EMPTY, PREPARING

Effect = Callable[[Desk, Cause], None]


def _request(cause: Cause) -> Request:
    if cause.request is None:
        raise ValueError("this effect needs a request")
    return cause.request


# --- joins ---------------------------------------------------------------------------------------------------------


def give_member_id(desk: Desk, cause: Cause) -> None:
    """Give out a member id, to be joined with within the session timeout (KIP-394)."""
    request = _request(cause)
    if request.given_member_id:
        desk.group.pending_joins[request.given_member_id] = request
        due = Timer(cause.at + request.session_timeout_ms)
        desk.group.timers.start(member_timer(request.given_member_id), due)


def add_member(desk: Desk, cause: Cause) -> None:
    """Add a new member and park its JoinGroup (addMemberThenRebalanceOrCompleteJoin)."""
    group, request = desk.group, _request(cause)
    member_id = request.joiner_id
    if not group.members:
        group.protocol_type = request.protocol_type
    if group.state is PREPARING and (group.previous_state is EMPTY if desk.settings.is_java else group.generation == 0):
        group.new_member_added = True
    member = Member(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client_id=request.client_id,
        client_host=request.client_host,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        protocols=request.protocols,
        is_new=True,
        parked_join=request.token,
        join_version=request.api_version,
    )
    group.add(member)
    # A parked joiner cannot send heartbeats, and a dead connection is not noticed: only this bounds its stay.
    group.timers.start(member_timer(member_id), Timer(cause.at + NEW_MEMBER_JOIN_TIMEOUT_MS))
    desk.say_joined(member, cause)


def park_join(desk: Desk, cause: Cause) -> None:
    """Take a known member's new metadata and park its JoinGroup (updateMemberThenRebalanceOrCompleteJoin)."""
    group, request = desk.group, _request(cause)
    member = group.members[request.member_id]
    timeouts = request if desk.settings.rules.takes_new_timeouts else member
    group.put(
        replace(
            member,
            protocols=request.protocols,
            rebalance_timeout_ms=timeouts.rebalance_timeout_ms,
            session_timeout_ms=timeouts.session_timeout_ms,
            parked_join=request.token,
            is_partial=False,
            join_version=request.api_version,
        )
    )


def replace_member(desk: Desk, cause: Cause) -> None:
    """Give a static member its new id; whoever still waits under the old one is fenced (replaceStaticMember)."""
    group, request = desk.group, _request(cause)
    instance = request.group_instance_id or ""
    old = group.members.pop(group.static_members[instance])
    for token in (old.parked_join, old.parked_sync):
        if token is not None:
            desk.answer(token, Error.FENCED_INSTANCE_ID, cause.at)
    timeouts = request if desk.settings.rules.takes_new_timeouts else old
    member = Member(
        member_id=request.joiner_id,
        group_instance_id=instance,
        client_id=old.client_id,
        client_host=old.client_host,
        session_timeout_ms=timeouts.session_timeout_ms,
        rebalance_timeout_ms=timeouts.rebalance_timeout_ms,
        protocols=request.protocols,
        assignment=old.assignment,
        is_new=old.is_new and not desk.settings.is_java,
        parked_join=request.token,
        join_version=request.api_version,
    )
    if group.leader == old.member_id:
        group.leader = member.member_id
    # The old id stays among the pending syncs, as in Kafka: if it never synced, the sync timer will still fire.
    group.add(member)
    group.timers.stop(member_timer(old.member_id))
    desk.reset_session(replace(member, session_timeout_ms=old.session_timeout_ms), cause.at)
    desk.say_replaced(old, member, cause)


def replace_in_generation(desk: Desk, cause: Cause) -> None:
    """Replace a static member where nothing else changes: no rebalance, and the answer at once."""
    group, request = desk.group, _request(cause)
    leader_before = group.leader
    replace_member(desk, cause)
    group.put(replace(group.members[group.static_members[request.group_instance_id or ""]], parked_join=None))
    # Up to v8 a returning leader is told its old id, so that it does not act as leader (KIP-814).
    leader = group.leader if request.api_version >= 9 else leader_before
    desk.answer(request.token, Error.NONE, cause.at, group.generation, leader, group.protocol)


def turn_away(desk: Desk, cause: Cause) -> None:
    """Refuse a join into a full group, which silently removes the joiner if it was a member."""
    group, rules, request = desk.group, desk.settings.rules, _request(cause)
    if rules.turns_away_pending or request.member_id not in group.pending_joins:
        desk.remove(request.member_id, cause, "group_over_capacity")
    if rules.turns_away_instances:
        group.static_members.pop(request.group_instance_id or "", None)


def answer_with_generation(desk: Desk, cause: Cause) -> None:
    """Answer a rejoin that changes nothing with the generation as it is; the table's answer follows."""
    group, request = desk.group, _request(cause)
    member = group.members[request.member_id]
    if member.is_partial:
        group.put(replace(member, protocols=request.protocols, is_partial=False))
    if desk.stumbles_over(request.member_id, request.api_version):
        desk.answer(request.token, Error.UNSUPPORTED_VERSION, cause.at)
        return
    desk.answer(request.token, Error.NONE, cause.at, group.generation, group.leader, group.protocol)


# --- syncs, heartbeats, commits ------------------------------------------------------------------------------------


def park_sync(desk: Desk, cause: Cause) -> None:
    """Park a follower's SyncGroup until the leader's assignment is stored."""
    group, request = desk.group, _request(cause)
    group.put(replace(group.members[request.member_id], parked_sync=request.token))
    _synced(group, request.member_id)


def _synced(group: Group, member_id: str) -> None:
    if member_id in group.pending_syncs:
        del group.pending_syncs[member_id]
        if not group.pending_syncs:
            group.timers.stop(SYNC_TIMER)


def take_assignment(desk: Desk, cause: Cause) -> None:
    """Take the leader's assignment; members it left out get an empty one, ids it made up are dropped."""
    park_sync(desk, cause)
    group, assignments = desk.group, _request(cause).assignments
    for member in list(group.members.values()):
        group.put(replace(member, assignment=assignments.get(member.member_id, b"")))


def answer_with_assignment(desk: Desk, cause: Cause) -> None:
    """Answer a SyncGroup in Stable with what was stored."""
    group, request = desk.group, _request(cause)
    member = group.members[request.member_id]
    _synced(group, member.member_id)
    desk.answer(request.token, Error.NONE, cause.at, assignment=member.assignment)
    if not desk.settings.is_java:
        desk.reset_session(member, cause.at)


def keep_session(desk: Desk, cause: Cause) -> None:
    """Start the member's session timer afresh."""
    member = desk.group.members.get(_request(cause).member_id)
    if member is not None:
        desk.reset_session(member, cause.at)


# --- departures ----------------------------------------------------------------------------------------------------


def remove_leavers(desk: Desk, cause: Cause) -> None:
    """Remove the members and pending ids that leave; a parked JoinGroup of theirs is answered, a SyncGroup never."""
    for member_id in cause.member_ids:
        desk.remove(member_id, cause, "left", Error.UNKNOWN_MEMBER_ID)


def remove_expired(desk: Desk, cause: Cause) -> None:
    """Remove a member whose session timed out."""
    for member_id in cause.member_ids:
        desk.remove(member_id, cause, "session_expired", Error.UNKNOWN_MEMBER_ID)


def remove_unsynced(desk: Desk, cause: Cause) -> None:
    """Remove the members that did not send SyncGroup in time (KAFKA-12890)."""
    for member_id in cause.member_ids:
        desk.remove(member_id, cause, "sync_timeout")


def drop_pending(desk: Desk, cause: Cause) -> None:
    """Forget an id that was given out but never joined with."""
    for member_id in cause.member_ids:
        desk.group.remove(member_id)
        desk.group.timers.stop(member_timer(member_id))


def extend_join(desk: Desk, cause: Cause) -> None:
    """Nobody rejoined, and static members remain: wait for another rebalance timeout."""
    desk.group.timers.start(JOIN_TIMER, Timer(cause.at + desk.group.extension_ms))


# --- entering a state ----------------------------------------------------------------------------------------------


def enter_preparing(desk: Desk, cause: Cause) -> None:
    """Begin a join phase (prepareRebalance): whoever awaits a sync must join again; the join timer starts."""
    group, settings = desk.group, desk.settings
    if group.previous_state is COMPLETING:
        for member in list(group.members.values()):
            group.put(replace(member, assignment=b""))
        desk.answer_parked_syncs(Error.REBALANCE_IN_PROGRESS, cause.at)
    group.pending_syncs.clear()
    group.timers.stop(SYNC_TIMER)
    if group.previous_state is EMPTY:
        delay = settings.initial_delay_ms
        remaining = max(group.rebalance_timeout_ms - delay, 0)
        group.timers.start(JOIN_TIMER, Timer(cause.at + delay, delay, remaining))
    else:
        group.timers.start(JOIN_TIMER, Timer(cause.at + group.rebalance_timeout_ms))


def enter_completing(desk: Desk, cause: Cause) -> None:
    """End a join phase with members (initNextGeneration): count the generation, elect, answer the joins."""
    group = desk.group
    group.generation += 1
    group.protocol = group.vote()
    group.pending_syncs.clear()
    for member in list(group.in_map_order()):
        if member.parked_join is not None:
            if desk.stumbles_over(member.member_id, member.join_version):
                desk.has_stumbled = True
                return
            desk.answer(member.parked_join, Error.NONE, cause.at, group.generation, group.leader, group.protocol)
        group.put(replace(member, parked_join=None, is_new=False))
        desk.reset_session(member, cause.at)
        group.pending_syncs[member.member_id] = None
    group.timers.start(SYNC_TIMER, Timer(cause.at + group.rebalance_timeout_ms))


def enter_stable(desk: Desk, cause: Cause) -> None:
    """The assignment is stored: answer the parked syncs (setAndPropagateAssignment)."""
    desk.answer_parked_syncs(Error.NONE, cause.at)


def enter_empty(desk: Desk, cause: Cause) -> None:
    """End a join phase without members: the generation counts all the same, protocol and leader go."""
    group = desk.group
    group.generation += 1
    group.protocol = None
    group.leader = None
    group.is_known = True
    group.pending_syncs.clear()
    group.timers.stop(SYNC_TIMER)


def hand_over(desk: Desk, cause: Cause) -> None:
    """Give the group up to another coordinator: its members stay members, and whoever is parked is sent away."""
    group = desk.group
    for member in group.members.values():
        for token in (member.parked_join, member.parked_sync):
            if token is not None:
                desk.answer(token, Error.NOT_COORDINATOR, cause.at)
    group.members.clear()
    group.static_members.clear()


def enter_dead(desk: Desk, cause: Cause) -> None:
    """The group is gone from this coordinator; after a deletion nobody is a member any more."""
    group = desk.group
    for member_id in list(group.members):
        desk.remove(member_id, cause, "group_ended")
    group.pending_joins.clear()
    group.pending_syncs.clear()
    group.timers.clear()
