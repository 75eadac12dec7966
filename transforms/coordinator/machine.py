"""The state machine of one classic group: takes requests and the passing of time, says what comes of them.

`Machine` walks the table of `transitions`; it holds no rule of its own about states. What it does is put into
`outbox`, in order: answers, moves, members that came and went. Whoever drives it drains the outbox.
"""

from __future__ import annotations

from math import inf

from transforms.coordinator.admission import Verdict, admit, admit_leaver
from transforms.coordinator.answers import Error
from transforms.coordinator.effects import JOIN_TIMER, member_timer
from transforms.coordinator.events import Answered, Cause, Event, Gone, Joined, Moved, Output
from transforms.coordinator.group import Group, Member, Timer, TimerKey
from transforms.coordinator.requests import Request
from transforms.coordinator.settings import CoordinatorSettings
from transforms.coordinator.states import GroupState
from transforms.coordinator.transitions import COMPLETION, ENTER, TRANSITIONS, Look

_DEFAULT_LOOK = Look()


class Machine:
    """One group id at its coordinator.

    Attributes:
        group: the group; None where the coordinator has none of that id.
        settings: the broker's settings, which the driver may change (a failover).
        outbox: what happened since it was last drained.
    """

    def __init__(self, group_id: str, settings: CoordinatorSettings) -> None:
        self.group_id = group_id
        self.settings = settings
        self.present: Group | None = None
        self.outbox: list[Output] = []
        self._just_answered: int | None = None

    @property
    def group(self) -> Group:
        """The group, which must be there."""
        if self.present is None:
            raise ValueError(f"group {self.group_id} is absent")
        return self.present

    def drain(self) -> list[Output]:
        """Return what happened since the last call."""
        outbox, self.outbox = self.outbox, []
        return outbox

    # --- requests ----------------------------------------------------------------------------------------------

    def judge(self, request: Request) -> Verdict:
        """Return what would become of a request now; changes nothing. Not for LeaveGroup."""
        return admit(self.present, request, self.settings)

    def foresee(self, request: Request) -> Error | None:
        """Return the error a request would be answered with at once; None if it would be parked."""
        verdict = self.judge(request)
        if isinstance(verdict, Error):
            return verdict
        state = self.present.state if self.present is not None else GroupState.EMPTY
        cell = TRANSITIONS.get((state, verdict))
        return cell.answer if cell is not None else None

    def handle(self, request: Request, at: float) -> None:
        """Handle a request at a moment (epoch ms)."""
        if request.api == "LeaveGroup":
            self._leave(request, at)
            return
        verdict = self.judge(request)
        if self.present is None and _creates_group(request, verdict, self.settings):
            self.create()
        cause = Cause(at, request, (request.member_id or request.given_member_id or "",))
        if isinstance(verdict, Error):
            self.answer(request.token, verdict, at)
        else:
            self.apply(verdict, cause)

    def create(self) -> Group:
        """Bring the group into being, Empty and without a generation."""
        self.present = Group(self.group_id, self.settings.dialect)
        return self.present

    def _leave(self, request: Request, at: float) -> None:
        """Judge the leavers one by one; the Scala coordinator also acts one by one, the Java one at the end."""
        if self.present is None:
            self.answer(request.token, Error.UNKNOWN_MEMBER_ID, at)
            return
        if self.present.state is GroupState.DEAD:
            self.answer(request.token, Error.COORDINATOR_NOT_AVAILABLE, at)
            return
        first_error = Error.NONE
        leaving: list[str] = []
        only_pending = True
        for leaver in request.leavers:
            member_id, verdict = admit_leaver(self.group, leaver)
            if member_id is None or member_id in leaving:
                error = verdict if isinstance(verdict, Error) else Error.UNKNOWN_MEMBER_ID
                first_error = first_error or error
                continue
            if self.settings.is_java:
                leaving.append(member_id)
                only_pending &= verdict is Event.PENDING_MEMBER_LEFT
            else:
                self.apply(Event(verdict), Cause(at, None, (member_id,)))
        if leaving:
            # A pending id among the leavers makes the Java coordinator rebalance a group that has members.
            stays = only_pending and self.group.state is GroupState.EMPTY
            event = Event.PENDING_MEMBER_LEFT if stays else Event.MEMBERS_LEFT
            self.apply(event, Cause(at, None, tuple(leaving)))
        self.answer(request.token, first_error, at)

    # --- the table ---------------------------------------------------------------------------------------------

    def apply(self, event: Event, cause: Cause) -> bool:
        """Let an event happen. Returns False, and leaves the group as it is, where the table has no such cell."""
        group = self.group
        cell = TRANSITIONS.get((group.state, event))
        if cell is None:
            return False
        self._just_answered = None
        if cell.effect is not None:
            cell.effect(self, cause)
        if cause.request is not None and cell.answer is not None and self._just_answered != cause.request.token:
            self.answer(cause.request.token, cell.answer, cause.at)
        if cell.next_state is not None:
            self._enter(cell.next_state, event, cause)
        if group.state is GroupState.PREPARING:
            self._look_for_completion(event, cause, just_entered=cell.next_state is not None)
        elif group.state is GroupState.DEAD:
            self.present = None
        return True

    def _enter(self, state: GroupState, event: Event, cause: Cause) -> None:
        group = self.group
        before, position = group.state, len(self.outbox)
        group.previous_state, group.state = before, state
        ENTER[state](self, cause)
        self.outbox.insert(position, Moved(cause.at, before, state, event, group.generation, cause))

    def _look_for_completion(self, event: Event, cause: Cause, just_entered: bool) -> None:
        group = self.group
        is_initial = group.previous_state is GroupState.EMPTY
        look = COMPLETION[self.settings.dialect].get(event, _DEFAULT_LOOK)
        if just_entered:
            look = _DEFAULT_LOOK
        if look.looks and (look.even_initially or not is_initial) and group.is_known and group.all_joined:
            self.complete_join(Cause(cause.at, source=cause.source))

    def complete_join(self, cause: Cause) -> None:
        """End the join phase (completeClassicGroupJoin): put out who did not rejoin, elect a leader, go on."""
        group = self.group
        group.timers.pop(JOIN_TIMER, None)
        for member in list(group.members.values()):
            if member.parked_join is None and member.group_instance_id is None:
                self.remove(member.member_id, cause, "rebalance_timeout")
        if not group.members:
            self.apply(Event.JOIN_COMPLETED_EMPTY if group.is_known else Event.JOIN_COMPLETED, cause)
        elif self._elect_leader():
            self.apply(Event.JOIN_COMPLETED, cause)
        else:
            self.apply(Event.JOIN_EXTENDED, cause)

    def _elect_leader(self) -> bool:
        """Keep the leader if it joined, else take the first member of the map that did (maybeElectNewJoinedLeader)."""
        group = self.group
        leader = group.members.get(group.leader or "")
        if leader is not None and leader.parked_join is not None:
            return True
        joined = next((member for member in group.in_map_order() if member.parked_join is not None), None)
        if joined is not None:
            group.leader = joined.member_id
        return joined is not None

    # --- timers ------------------------------------------------------------------------------------------------

    def next_timer(self, until: float = inf) -> tuple[float, TimerKey] | None:
        """Return the earliest deadline up to a moment, and its key."""
        return None if self.present is None else self.present.timers.next_until(until)

    def draws_out_join(self) -> bool:
        """Whether the join timer will only draw out the initial delay."""
        timer = self.group.timers.get(JOIN_TIMER)
        return timer is not None and bool(timer.remaining_ms) and self.group.new_member_added

    def fire(self, key: TimerKey) -> None:
        """Let a timer run out, at its own deadline."""
        group = self.group
        timer = group.timers.pop(key)
        kind, member_id = key
        cause = Cause(timer.due, None, (member_id,) if member_id else (), source="timer")
        if kind == "join":
            self._join_timer_ran_out(timer, cause)
        elif kind == "sync":
            if group.pending_syncs and self.settings.expires_pending_sync:
                self.apply(Event.SYNC_TIMED_OUT, Cause(timer.due, None, tuple(group.pending_syncs), source="timer"))
        elif member_id in group.pending_joins:
            self.apply(Event.PENDING_MEMBER_EXPIRED, cause)
        elif member_id in group.members:
            self.expire_member(cause)

    def expire_member(self, cause: Cause) -> None:
        """A member's session ran out: it is removed, unless it waits for the group rather than the group for it."""
        member = self.group.members[cause.member_ids[0]]
        if member.is_new or (member.parked_join is None and member.parked_sync is None):
            self.apply(Event.SESSION_EXPIRED, cause)

    def _join_timer_ran_out(self, timer: Timer, cause: Cause) -> None:
        """End the join phase, or draw out the initial delay because somebody came (InitialDelayedJoin)."""
        group = self.group
        if timer.remaining_ms and group.new_member_added:
            group.new_member_added = False
            delay = min(self.settings.initial_delay_ms, timer.remaining_ms)
            remaining = max(timer.remaining_ms - timer.delay_ms, 0)
            group.timers[JOIN_TIMER] = Timer(cause.at + delay, delay, remaining)
        else:
            self.complete_join(cause)

    # --- what effects say --------------------------------------------------------------------------------------

    def answer(
        self,
        token: int,
        error: int,
        at: float,
        generation: int | None = None,
        leader: str | None = None,
        protocol: str | None = None,
        assignment: bytes | None = None,
    ) -> None:
        """Answer a request."""
        self._just_answered = token
        self.outbox.append(Answered(at, token, int(error), generation, leader, protocol, assignment))

    def answer_parked_syncs(self, error: Error, at: float) -> None:
        """Answer every parked SyncGroup, and start the session timers of those answered afresh."""
        for member in self.group.members.values():
            if member.parked_sync is not None:
                self.answer(member.parked_sync, error, at, assignment=member.assignment)
                member.parked_sync = None
                self.reset_session(member, at)

    def reset_session(self, member: Member, at: float) -> None:
        """Start a member's session timer afresh."""
        self.group.timers[member_timer(member.member_id)] = Timer(at + member.session_timeout_ms)

    def remove(self, member_id: str, cause: Cause, end_cause: str, join_error: Error | None = None) -> None:
        """Remove a member or a pending id; `join_error` answers its parked JoinGroup."""
        removed = self.group.remove(member_id)
        self.group.timers.pop(member_timer(member_id), None)
        if removed is None:
            return
        if removed.parked_join is not None and join_error is not None:
            self.answer(removed.parked_join, join_error, cause.at)
        self.outbox.append(Gone(cause.at, member_id, end_cause, cause.source))

    def say_joined(self, member: Member, cause: Cause) -> None:
        """Tell that a member was added."""
        self.outbox.append(
            Joined(
                cause.at,
                member.member_id,
                member.group_instance_id,
                member.client_id,
                member.client_host,
                cause.source,
            )
        )

    def say_replaced(self, old: Member, member: Member, cause: Cause) -> None:
        """Tell that a static member came under a new id."""
        self.outbox.append(Gone(cause.at, old.member_id, "replaced", cause.source, replaced_by=member.member_id))
        self.outbox.append(
            Joined(
                cause.at,
                member.member_id,
                member.group_instance_id,
                member.client_id,
                member.client_host,
                cause.source,
                replaces=old.member_id,
            )
        )


def _creates_group(request: Request, verdict: Verdict, settings: CoordinatorSettings) -> bool:
    """Whether a request brings its group into being, even where it is refused (getOrMaybeCreateClassicGroup)."""
    if request.api == "JoinGroup":
        return not request.member_id and verdict is not Error.INVALID_SESSION_TIMEOUT
    if request.api == "TxnOffsetCommit" and not settings.is_java:
        return verdict is not Error.UNKNOWN_TOPIC_OR_PARTITION
    return verdict in (Event.COMMIT, Event.TXN_COMMIT)
