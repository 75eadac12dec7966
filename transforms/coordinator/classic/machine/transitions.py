"""THE table: what each event does to a classic group in each state.

Theory of operation. A group is in one of five states. An event meets it there; the cell (state, event) names the
effect to apply, the state to go to, and the answer to the request behind the event. The rules:

1. A cell's effect runs in the old state. Then, if the cell names a next state, the group goes there, and the
   state's own entry effect runs (`ENTER`): all that Kafka does whenever a group enters that state, whatever the
   reason, stands there once.
2. A cell without an answer leaves the request parked: a JoinGroup until the join phase ends, a SyncGroup until the
   leader's assignment is stored. The entry effects answer what was parked.
3. A missing cell is an event that cannot happen in that state; the machine leaves the group as it is and says so.
   Whatever a request is refused for (unknown member, old generation, fenced instance, ...) is decided before the
   table by `admission` and changes nothing, but for the one refusal that has a cell of its own because it removes a
   member: a join into a full group.
4. A join phase ends through JOIN_COMPLETED or JOIN_COMPLETED_EMPTY only. After every event the machine looks
   whether everybody is there (`COMPLETION`); the two coordinators look at different moments.

The table says where a group goes; `moves` is the only file that takes it there. Sources:
GroupMetadataManager.classicGroup* and ClassicGroup (Java), GroupCoordinator.do* and GroupMetadata (Scala). Kafka states
the same as valid previous states (ClassicGroupState): Empty <- Preparing; Preparing <- Stable, Completing, Empty;
Completing <- Preparing; Stable <- Completing; Dead <- any. Beyond these, Dead -> Empty stands for a group id that comes
back.
"""

from __future__ import annotations

from typing import NamedTuple

from transforms.coordinator.classic.machine import effects
from transforms.coordinator.classic.machine.events import Event
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.states import GroupState

E, P, C, S, D = (
    GroupState.EMPTY,
    GroupState.PREPARING,
    GroupState.COMPLETING,
    GroupState.STABLE,
    GroupState.DEAD,
)


class Cell(NamedTuple):
    """One cell of the table: effect, next state (None = stays), answer (None = parked, or no request)."""

    effect: effects.Effect | None = None
    next_state: GroupState | None = None
    answer: Error | None = None


NONE = Error.NONE
REBALANCING = Error.REBALANCE_IN_PROGRESS

TRANSITIONS: dict[tuple[GroupState, Event], Cell] = {
    # Empty: no members; ids may be pending, offsets may be there.
    (E, Event.MEMBER_ID_GIVEN): Cell(effects.give_member_id, None, Error.MEMBER_ID_REQUIRED),
    (E, Event.MEMBER_ADDED): Cell(effects.add_member, P),
    (E, Event.COMMIT): Cell(None, None, NONE),
    (E, Event.TXN_COMMIT): Cell(None, None, NONE),
    (E, Event.PENDING_MEMBER_LEFT): Cell(effects.drop_pending, None, NONE),
    (E, Event.PENDING_MEMBER_EXPIRED): Cell(effects.drop_pending),
    (E, Event.REBALANCE_OBSERVED): Cell(None, P),
    (E, Event.GROUP_DELETED): Cell(None, D, NONE),
    (E, Event.GROUP_REMOVED): Cell(None, D),
    (E, Event.GROUP_UNLOADED): Cell(effects.hand_over, D),
    # PreparingRebalance: the join phase. Joins are parked until it ends.
    (P, Event.MEMBER_ID_GIVEN): Cell(effects.give_member_id, None, Error.MEMBER_ID_REQUIRED),
    (P, Event.MEMBER_ADDED): Cell(effects.add_member),
    (P, Event.STATIC_MEMBER_REPLACED): Cell(effects.replace_member),
    (P, Event.FOLLOWER_REJOINED): Cell(effects.park_join),
    (P, Event.LEADER_REJOINED): Cell(effects.park_join),
    (P, Event.METADATA_CHANGED): Cell(effects.park_join),
    (P, Event.JOIN_REFUSED_FULL): Cell(effects.turn_away, None, Error.GROUP_MAX_SIZE_REACHED),
    (P, Event.LEADER_SYNCED): Cell(None, None, REBALANCING),
    (P, Event.FOLLOWER_SYNCED): Cell(None, None, REBALANCING),
    (P, Event.HEARTBEAT): Cell(effects.keep_session, None, REBALANCING),
    (P, Event.COMMIT): Cell(effects.keep_session, None, NONE),
    (P, Event.TXN_COMMIT): Cell(None, None, NONE),
    (P, Event.MEMBERS_LEFT): Cell(effects.remove_leavers, None, NONE),
    (P, Event.PENDING_MEMBER_LEFT): Cell(effects.drop_pending, None, NONE),
    (P, Event.SESSION_EXPIRED): Cell(effects.remove_expired),
    (P, Event.PENDING_MEMBER_EXPIRED): Cell(effects.drop_pending),
    (P, Event.JOIN_COMPLETED): Cell(None, C),
    (P, Event.JOIN_COMPLETED_EMPTY): Cell(None, E),
    (P, Event.JOIN_EXTENDED): Cell(effects.extend_join),
    (P, Event.GROUP_DELETED): Cell(None, None, Error.NON_EMPTY_GROUP),
    (P, Event.GROUP_REMOVED): Cell(None, D),
    (P, Event.GROUP_UNLOADED): Cell(effects.hand_over, D),
    # CompletingRebalance: members and leader are fixed, the leader's assignment is awaited.
    (C, Event.MEMBER_ID_GIVEN): Cell(effects.give_member_id, None, Error.MEMBER_ID_REQUIRED),
    (C, Event.MEMBER_ADDED): Cell(effects.add_member, P),
    (C, Event.STATIC_MEMBER_REPLACED): Cell(effects.replace_member, P),
    (C, Event.STATIC_MEMBER_TOOK_OVER): Cell(effects.replace_in_generation, None, NONE),
    (C, Event.FOLLOWER_REJOINED): Cell(effects.answer_with_generation, None, NONE),
    (C, Event.LEADER_REJOINED): Cell(effects.answer_with_generation, None, NONE),
    (C, Event.METADATA_CHANGED): Cell(effects.park_join, P),
    (C, Event.JOIN_REFUSED_FULL): Cell(effects.turn_away, None, Error.GROUP_MAX_SIZE_REACHED),
    (C, Event.LEADER_SYNCED): Cell(effects.take_assignment, S),
    (C, Event.FOLLOWER_SYNCED): Cell(effects.park_sync),
    (C, Event.HEARTBEAT): Cell(effects.keep_session, None, NONE),
    (C, Event.COMMIT): Cell(None, None, REBALANCING),
    (C, Event.TXN_COMMIT): Cell(None, None, NONE),
    (C, Event.MEMBERS_LEFT): Cell(effects.remove_leavers, P, NONE),
    (C, Event.PENDING_MEMBER_LEFT): Cell(effects.drop_pending, None, NONE),
    (C, Event.SESSION_EXPIRED): Cell(effects.remove_expired, P),
    (C, Event.PENDING_MEMBER_EXPIRED): Cell(effects.drop_pending),
    (C, Event.SYNC_TIMED_OUT): Cell(effects.remove_unsynced, P),
    (C, Event.ASSIGNMENT_STORED): Cell(None, S),
    (C, Event.ASSIGNMENT_STORE_FAILED): Cell(None, P),
    (C, Event.REBALANCE_OBSERVED): Cell(None, P),
    (C, Event.GROUP_DELETED): Cell(None, None, Error.NON_EMPTY_GROUP),
    (C, Event.GROUP_REMOVED): Cell(None, D),
    (C, Event.GROUP_UNLOADED): Cell(effects.hand_over, D),
    # Stable: everybody has an assignment.
    (S, Event.MEMBER_ID_GIVEN): Cell(effects.give_member_id, None, Error.MEMBER_ID_REQUIRED),
    (S, Event.MEMBER_ADDED): Cell(effects.add_member, P),
    (S, Event.STATIC_MEMBER_REPLACED): Cell(effects.replace_in_generation, None, NONE),
    (S, Event.STATIC_MEMBER_UNSTORED): Cell(effects.replace_member),
    (S, Event.STATIC_MEMBER_CHANGED_PROTOCOL): Cell(effects.replace_member, P),
    (S, Event.FOLLOWER_REJOINED): Cell(effects.answer_with_generation, None, NONE),
    (S, Event.LEADER_REJOINED): Cell(effects.park_join, P),
    (S, Event.METADATA_CHANGED): Cell(effects.park_join, P),
    (S, Event.JOIN_REFUSED_FULL): Cell(effects.turn_away, None, Error.GROUP_MAX_SIZE_REACHED),
    (S, Event.LEADER_SYNCED): Cell(effects.answer_with_assignment, None, NONE),
    (S, Event.FOLLOWER_SYNCED): Cell(effects.answer_with_assignment, None, NONE),
    (S, Event.HEARTBEAT): Cell(effects.keep_session, None, NONE),
    (S, Event.COMMIT): Cell(effects.keep_session, None, NONE),
    (S, Event.TXN_COMMIT): Cell(None, None, NONE),
    (S, Event.MEMBERS_LEFT): Cell(effects.remove_leavers, P, NONE),
    (S, Event.PENDING_MEMBER_LEFT): Cell(effects.drop_pending, None, NONE),
    (S, Event.SESSION_EXPIRED): Cell(effects.remove_expired, P),
    (S, Event.PENDING_MEMBER_EXPIRED): Cell(effects.drop_pending),
    (S, Event.SYNC_TIMED_OUT): Cell(effects.remove_unsynced, P),
    (S, Event.LOADED_OVER_CAPACITY): Cell(None, P),
    (S, Event.REBALANCE_OBSERVED): Cell(None, P),
    (S, Event.GROUP_DELETED): Cell(None, None, Error.NON_EMPTY_GROUP),
    (S, Event.GROUP_REMOVED): Cell(None, D),
    (S, Event.GROUP_UNLOADED): Cell(effects.hand_over, D),
    # Dead: deleted or given up. Every request is refused at admission.
}

ENTER: dict[GroupState, effects.Effect] = {
    E: effects.enter_empty,
    P: effects.enter_preparing,
    C: effects.enter_completing,
    S: effects.enter_stable,
    D: effects.enter_dead,
}
"""What entering a state does, whatever led there."""


class Look(NamedTuple):
    """Whether an event makes the coordinator look if the join phase is over.

    Attributes:
        looks: it looks at all.
        even_initially: also while the initial delay runs.
    """

    looks: bool = True
    even_initially: bool = False


_ALWAYS = Look(even_initially=True)
_NEVER = Look(looks=False)

_OF_NO_JOIN = dict.fromkeys(
    (
        Event.HEARTBEAT,
        Event.COMMIT,
        Event.TXN_COMMIT,
        Event.LEADER_SYNCED,
        Event.FOLLOWER_SYNCED,
        Event.GROUP_DELETED,
    ),
    _NEVER,
)

COMPLETION: dict[str, dict[Event, Look]] = {
    "java": {
        Event.SESSION_EXPIRED: _ALWAYS,
        Event.PENDING_MEMBER_EXPIRED: _ALWAYS,
        Event.JOIN_REFUSED_FULL: _NEVER,
        Event.MEMBER_ID_GIVEN: _NEVER,
        **_OF_NO_JOIN,
    },
    "scala": _OF_NO_JOIN,
}
"""By dialect, the events that differ from the rule "look, but not during the initial delay"."""

ONWARD: dict[GroupState, tuple[GroupState, Event]] = {
    E: (P, Event.REBALANCE_OBSERVED),
    P: (C, Event.JOIN_COMPLETED),
    C: (S, Event.ASSIGNMENT_STORED),
    S: (P, Event.REBALANCE_OBSERVED),
}
"""The one way round, from each state the next and the event that leads there: what a group must have gone through that
the evidence shows further on. Each is a cell of the table; a join phase may end in Empty as well."""
