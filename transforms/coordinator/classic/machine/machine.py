"""The state machine of one classic group: takes requests and the passing of time, says what comes of them.

`Machine` walks the table of `transitions`; it holds no rule of its own about states. What it does is put into
`outbox`, in order: answers, moves, members that came and went. Whoever drives it drains the outbox.
"""

from __future__ import annotations

from math import inf

from transforms.coordinator.classic.machine.admission import Judgement, admit, admit_leaver
from transforms.coordinator.classic.machine.desk import Desk
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.group import JOIN_TIMER, Group, Timer, TimerKey
from transforms.coordinator.classic.machine.moves import create, enter
from transforms.coordinator.classic.machine.transitions import COMPLETION, TRANSITIONS, Look
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.java_hashing import map_order
from transforms.coordinator.kafka.requests import Request
from transforms.coordinator.kafka.states import DEAD, EMPTY, PREPARING

_DEFAULT_LOOK = Look()


class Machine(Desk):
    """One group id at its coordinator: a desk, and what is done at it."""

    # --- requests ----------------------------------------------------------------------------------------------

    def handle(self, request: Request, at: float) -> None:
        """Handle a request at a moment (epoch ms)."""
        self.has_stumbled = False
        if request.api == "LeaveGroup":
            self._leave(request, at)
        else:
            self._handle(request, at)
        if self.has_stumbled:
            self.answer(request.token, Error.UNSUPPORTED_VERSION, at)

    def _handle(self, request: Request, at: float) -> None:
        judged = admit(self.present, request, self.settings)
        if self.present is None and _creates_group(request, judged, self.settings):
            create(self)
        if isinstance(judged, Error):
            self.answer(request.token, judged, at)
        else:
            self.apply(judged, Cause(at, request, (request.member_id or request.given_member_id or "",)))

    def _leave(self, request: Request, at: float) -> None:
        """Judge the leavers one by one; the Scala coordinator also acts one by one, the Java one rebalances last."""
        if self.present is None:
            self.answer(request.token, Error.UNKNOWN_MEMBER_ID, at)
            return
        if self.present.state is DEAD:
            self.answer(request.token, Error.COORDINATOR_NOT_AVAILABLE, at)
            return
        first_error = Error.NONE
        leaving: list[str] = []
        only_pending = True
        for leaver in request.leavers:
            admitted = admit_leaver(self.group, leaver, self.settings, leaving)
            if isinstance(admitted, Error):
                first_error = first_error or admitted
                continue
            member_id, event = admitted
            if self.settings.is_java:
                leaving.append(member_id)
                only_pending &= event is Event.PENDING_MEMBER_LEFT
            else:
                self.apply(event, Cause(at, None, (member_id,)))
                if self.has_stumbled:
                    return
        if leaving:
            # A pending id among the leavers makes the Java coordinator rebalance a group that has members.
            stays = only_pending and self.group.state is EMPTY
            of_all = Event.PENDING_MEMBER_LEFT if stays else Event.MEMBERS_LEFT
            self.apply(of_all, Cause(at, None, tuple(leaving)))
        self.answer(request.token, first_error, at)

    # --- the table ---------------------------------------------------------------------------------------------

    def apply(self, event: Event, cause: Cause) -> bool:
        """Let an event happen. Returns False, and leaves the group as it is, where the table has no such cell."""
        group = self.group
        cell = TRANSITIONS.get((group.state, event))
        if cell is None:
            return False
        self.just_answered = None
        if cell.effect is not None:
            cell.effect(self, cause)
        if cause.request is not None and cell.answer is not None and self.just_answered != cause.request.token:
            self.answer(cause.request.token, cell.answer, cause.at)
        if cell.next_state is not None:
            enter(self, cell.next_state, event, cause)
        if group.state is PREPARING:
            self._look_for_completion(group, event, cause, just_entered=cell.next_state is not None)
        elif group.state is DEAD:
            self.present = None
        return True

    def _look_for_completion(self, group: Group, event: Event, cause: Cause, just_entered: bool) -> None:
        look = _DEFAULT_LOOK if just_entered else COMPLETION[self.settings.dialect].get(event, _DEFAULT_LOOK)
        is_looked_for = look.looks and (look.even_initially or group.previous_state is not EMPTY)
        if is_looked_for and group.is_known and group.all_joined:
            self.complete_join(Cause(cause.at, source=cause.source))

    def complete_join(self, cause: Cause) -> None:
        """End the join phase (completeClassicGroupJoin): put out who did not rejoin, elect a leader, go on."""
        group = self.group
        group.timers.stop(JOIN_TIMER)
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

    def draw_out_unattended_join(self, until: float) -> bool:
        """Draw out a join phase that nobody has come to, as often as it would be until a moment; False = not once.

        Each time is as the one before, and a rebalance timeout may be as short as a member likes.
        """
        group, timer = self.group, self.group.timers.get(JOIN_TIMER)
        members = group.members.values()
        if timer is None or not members or any(each.parked_join is not None for each in members):
            return False
        if any(each.group_instance_id is None for each in members):
            return False
        step = group.extension_ms
        times = (until - timer.due) // step
        if times >= 1:
            group.timers.start(JOIN_TIMER, Timer(timer.due + times * step))
        return times >= 1

    def fire(self, key: TimerKey) -> None:
        """Let a timer run out, at its own deadline."""
        group = self.group
        timer = group.timers.stop(key)
        if timer is None:
            return
        kind, member_id = key
        cause = Cause(timer.due, None, (member_id,) if kind == "member" else (), source=Source.TIMER)
        if kind == "join":
            self._join_timer_ran_out(timer, cause)
        elif kind == "sync":
            self._sync_timer_ran_out(Cause(timer.due, None, tuple(group.pending_syncs), source=Source.TIMER))
        elif member_id in group.pending_joins:
            self.apply(Event.PENDING_MEMBER_EXPIRED, cause)
        elif member_id in group.members:
            self.expire_member(cause)

    def _sync_timer_ran_out(self, cause: Cause) -> None:
        """Put out those that never synced (onExpirePendingSync)."""
        group, rules = self.group, self.settings.rules
        if not cause.member_ids or not rules.expires_pending_sync:
            return
        if rules.stumbles_over_replaced and not group.members.keys() >= set(cause.member_ids):
            for member_id in map_order(cause.member_ids, group.largest, group.map_kind):
                if member_id not in group.members:
                    return
                self.remove(member_id, cause, "sync_timeout")
        self.apply(Event.SYNC_TIMED_OUT, cause)

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
            group.timers.start(JOIN_TIMER, Timer(cause.at + delay, delay, remaining))
        else:
            self.complete_join(cause)


def _creates_group(request: Request, judged: Judgement, settings: CoordinatorSettings) -> bool:
    """Whether a request brings its group into being, even where it is refused (getOrMaybeCreateClassicGroup)."""
    if request.api == "JoinGroup":
        return not request.member_id and judged is not Error.INVALID_SESSION_TIMEOUT
    if request.api == "TxnOffsetCommit" and not settings.is_java:
        return judged is not Error.UNKNOWN_TOPIC_OR_PARTITION
    return judged in (Event.COMMIT, Event.TXN_COMMIT)
