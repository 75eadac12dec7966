"""One run: the coordinator's own state machine, simulated clients, and a clock that jumps from event to event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from itertools import count
from math import inf
from random import Random

from msgspec import Struct, field

from transforms.coordinator.classic.machine.events import Answered, Gone, Moved
from transforms.coordinator.classic.machine.group import Timer, TimerKey, member_timer
from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.requests import Request
from transforms.coordinator.kafka.states import GroupState
from transforms.whatif.figures import Figures, Owners, Window
from transforms.whatif.floor import Listener
from transforms.whatif.sharing import assignments, read_assignment


class Removal(Struct, frozen=True, gc=False):
    """A member id's end: whose, when, and why the coordinator put it out."""

    process: int
    at: float
    end_cause: str


class Course(Struct):
    """What came of a run.

    Attributes:
        figures: within the window.
        rebalances_at: when each began.
        removals: of members, in order.
        is_shared: every assignment could be worked out.
    """

    figures: Figures = field(default_factory=Figures)
    rebalances_at: list[float] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)
    is_shared: bool = True


class Simulation:
    """One group, its coordinator and its clients.

    Args:
        group_id: the group.
        settings: what rules its coordinator.
        counts: partitions by topic at a moment.
        window: what counts.
        random: what is left to chance.
    """

    def __init__(
        self,
        group_id: str,
        settings: CoordinatorSettings,
        counts: Callable[[float], Mapping[str, int]],
        window: Window,
        random: Random,
    ) -> None:
        self.random = random
        self.course = Course()
        self.now = -inf
        self._machine = Machine(group_id, settings)
        self._counts = counts
        self._window = window
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._numbers = count(1)
        self._asked: dict[int, tuple[Listener, str]] = {}
        self._by_member: dict[str, Listener] = {}
        self._clients: list[Listener] = []
        self._owners = Owners()
        self._preparing_since: float | None = None

    def add(self, client: Listener) -> None:
        """Let a client take part."""
        self._clients.append(client)

    def run(self, until: float) -> Course:
        """Run to a moment."""
        while True:
            at = self._events[0][0] if self._events else inf
            timer = self._machine.next_timer(min(at, until))
            if timer is not None and timer[0] <= until:
                self.now = max(self.now, timer[0])
                self._fire(timer[1])
            elif at <= until:
                at, _, act = heappop(self._events)
                self.now = max(self.now, at)
                act(self.now)
            else:
                break
        self._close(until)
        return self.course

    # --- what clients ask for ------------------------------------------------------------------------------------

    def later(self, at: float, act: Callable[[float], None]) -> None:
        """Do something at a moment."""
        heappush(self._events, (max(at, self.now), next(self._numbers), act))

    def token(self) -> int:
        """Return a number that no request has yet."""
        return next(self._numbers)

    def send(self, client: Listener, request: Request) -> None:
        """Hand a request to the coordinator, and its answers to whom they belong."""
        self._asked[request.token] = client, request.api
        if request.api == "JoinGroup":
            self._by_member[request.joiner_id] = client
        self._machine.handle(request, self.now)
        self._deliver()

    def is_completing(self, generation: int) -> bool:
        """Whether the group waits for the assignment of a generation."""
        group = self._machine.present
        return group is not None and group.state is GroupState.COMPLETING and group.generation == generation

    def assigned(self, strategy: str) -> dict[str, bytes]:
        """Share out the partitions among the members that joined."""
        group = self._machine.group
        offers = {member.member_id: member.metadata(strategy) or b"" for member in group.in_map_order()}
        shared = assignments(offers, strategy, self._counts(self.now))
        self.course.is_shared &= shared is not None
        return shared or dict.fromkeys(offers, b"")

    def is_member(self, member_id: str) -> bool:
        """Whether the coordinator knows a member."""
        group = self._machine.present
        return group is not None and member_id in group.members

    def lapse(self, client: Listener, last_sign: float) -> None:
        """Let a client's session run out, counted from its last sign of life."""
        group = self._machine.present
        member = None if group is None else group.members.get(client.member_id)
        if group is not None and member is not None and member.parked_join is None:
            due = max(self.now, last_sign + member.session_timeout_ms)
            group.timers.start(member_timer(member.member_id), Timer(due))

    def subscription_changes(self, client: Listener | None, at: float) -> None:
        """Let a client join again for a reason of its own; the leader where it is not known which one it was."""
        group = self._machine.present
        if group is None or group.state is not GroupState.STABLE:
            return
        chosen = client if client is not None and client.is_well else self._by_member.get(group.leader or "")
        if chosen is not None:
            chosen.change_subscription(at)

    # --- what the coordinator does -------------------------------------------------------------------------------

    def _fire(self, key: TimerKey) -> None:
        kind, member_id = key
        group = self._machine.group
        member = group.members.get(member_id)
        client = self._by_member.get(member_id)
        if kind == "member" and member is not None and client is not None:
            waits = member.is_new and member.parked_join is not None
            if client.is_well and client.member_id == member_id and not waits:
                group.timers.start(key, Timer(inf))  # its heartbeats keep it in
                return
        self._machine.fire(key)
        self._deliver()

    def _deliver(self) -> None:
        """Pass on what the coordinator said, and count what it did."""
        while outputs := self._machine.drain():
            for output in outputs:
                if isinstance(output, Answered):
                    self._answer(output)
                elif isinstance(output, Moved):
                    self._moved(output)
                elif isinstance(output, Gone):
                    self._gone(output)

    def _answer(self, answered: Answered) -> None:
        client, api = self._asked.pop(answered.token)
        if api != "LeaveGroup":
            self.later(self.now, lambda _: client.hear(api, answered))

    def _gone(self, gone: Gone) -> None:
        client = self._by_member.get(gone.member_id)
        if client is not None:
            self.course.removals.append(Removal(client.process, gone.at, gone.end_cause))

    def _moved(self, moved: Moved) -> None:
        if moved.to_state is GroupState.PREPARING:
            self._count_unstable(moved.at)
            self._preparing_since = moved.at
            self.course.rebalances_at.append(moved.at)
            self.course.figures.rebalances += self._window.holds(moved.at)
            for client in self._clients:
                client.notice(moved.at)
        elif moved.to_state in (GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD):
            self._count_unstable(moved.at)
        if moved.to_state is GroupState.STABLE:
            self._count_moved(moved.at)

    def _count_unstable(self, at: float) -> None:
        since, self._preparing_since = self._preparing_since, None
        if since is not None and self.course.figures.unstable_ms is not None:
            self.course.figures.unstable_ms += self._window.overlap_ms(since, at)

    def _count_moved(self, at: float) -> None:
        given = [
            (place, self._by_member[member.member_id].owner)
            for member in self._machine.group.members.values()
            for place in read_assignment(member.assignment)
        ]
        moved = self._owners.moved(given)
        self.course.figures.partitions_moved += moved if self._window.holds(at) else 0

    def _close(self, until: float) -> None:
        if self._preparing_since is not None:
            self._count_unstable(until)
