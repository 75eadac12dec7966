"""The world of one group: brokers, of which one coordinates it, by the state machine of the classic coordinator."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from random import Random

from msgspec.structs import replace

from tests.support.incidents import wording
from tests.support.incidents.clock import Clock
from tests.support.incidents.paper import CLASSIC_GROUP, RUNTIME, Paper, Sent
from transforms.coordinator.classic.machine.events import Answered, Gone, Joined, Moved
from transforms.coordinator.classic.machine.group import Group, Timer, member_timer
from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.requests import Request
from transforms.coordinator.kafka.states import GroupState

Hear = Callable[[Answered | None], None]
"""Takes an answer; None = the connection broke, and none will come."""

BROKERS = ("1", "2")


class World:
    """One group, its brokers and its topics.

    Args:
        group_id: the group.
        start: first moment, epoch ms.
        random: what is left to chance.
        topics: partitions by topic.

    Attributes:
        home: the broker that coordinates the group; None = there is none just now.
        is_up: which brokers run.
        rebalances: when each began.
    """

    def __init__(self, group_id: str, start: float, random: Random, topics: dict[str, int]) -> None:
        self.group_id, self.random, self.topics = group_id, random, topics
        self.clock = Clock(start)
        self.paper = Paper(group_id)
        self.home: str | None = "1"
        self.is_up = dict.fromkeys(BROKERS, True)
        self.rebalances: list[float] = []
        self._settings = CoordinatorSettings()
        self._machine = Machine(group_id, self._settings)
        self._asked: dict[int, tuple[Sent, str, Hear]] = {}
        self._tokens = 0
        self._since = self._completed = start
        self._stored: Group | None = None
        self._is_loading = False
        self._epoch = 0

    def run(self, until: float) -> None:
        """Let everything happen up to a moment."""
        self.clock.run(until, self._next_timer, self._fire)

    def token(self) -> int:
        """Return a number that no request has yet."""
        self._tokens += 1
        return self._tokens

    def metadata_of(self, protocol: str | None) -> dict[str, bytes]:
        """Return the members' subscriptions, as the leader is told them."""
        return {member.member_id: member.metadata(protocol) or b"" for member in self._machine.group.in_map_order()}

    # --- requests ------------------------------------------------------------------------------------------------

    def send(self, sent: Sent, broker: str, hear: Hear) -> None:
        """Send a request to a broker; it arrives a moment later."""
        self.clock.after(self.random.uniform(0.2, 2), lambda: self._arrive(sent, broker, hear))

    def _arrive(self, sent: Sent, broker: str, hear: Hear) -> None:
        sent.handled_at = self.clock.now
        if not self.is_up[broker]:
            self._tell(hear, None)
            return
        self._asked[sent.request.token] = sent, broker, hear
        if broker != self.home:
            self._answer(Answered(self.clock.now, sent.request.token, int(Error.NOT_COORDINATOR)))
        elif self._is_loading and sent.request.api != "Heartbeat":
            self._answer(Answered(self.clock.now, sent.request.token, int(Error.COORDINATOR_LOAD_IN_PROGRESS)))
        elif self._is_loading:
            self._answer(Answered(self.clock.now, sent.request.token, 0))
        else:
            self._handle(sent.request)

    def _handle(self, request: Request) -> None:
        was_there, state = self._machine.present is not None, self._state()
        self._machine.handle(request, self.clock.now)
        if not was_there and self._machine.present is not None:
            self.paper.record(self.clock.now, Group(self.group_id), self.clock.now, is_marker=True)
        self._write(state, request)

    def _answer(self, answered: Answered) -> None:
        sent, broker, hear = self._asked.pop(answered.token)
        leads = []
        joined = sent.request.api == "JoinGroup" and not answered.error
        if joined and answered.leader == sent.request.joiner_id:
            instances = {id_: name for name, id_ in self._machine.group.static_members.items()}
            told = self.metadata_of(answered.protocol)
            leads = [(member_id, instances.get(member_id), metadata) for member_id, metadata in told.items()]
        self.paper.request(sent, answered, leads, broker)
        self._tell(hear, answered)

    def _tell(self, hear: Hear, answered: Answered | None) -> None:
        self.clock.after(self.random.uniform(0.2, 2), lambda: hear(answered))

    # --- what the coordinator does, and writes ---------------------------------------------------------------------

    def _next_timer(self) -> float:
        timer = None if self.home is None or self._is_loading else self._machine.next_timer()
        return inf if timer is None else timer[0]

    def _fire(self) -> None:
        timer = self._machine.next_timer()
        if timer is not None:
            state = self._state()
            self._machine.fire(timer[1])
            self._write(state, None)

    def _state(self) -> str:
        return GroupState.EMPTY.value if self._machine.present is None else self._machine.present.state.value

    def _line(self, message: str, logger: str | None = None) -> None:
        self.paper.line(self.clock.now, self.home or "1", message, *(() if logger is None else (logger,)))

    def _write(self, state: str, request: Request | None) -> None:
        outputs = self._machine.drain()
        late = [each.member_id for each in outputs if isinstance(each, Gone) and each.end_cause == "rebalance_timeout"]
        if late:
            self._line(wording.not_rejoined(self.group_id, late))
        for output in outputs:
            if isinstance(output, Answered):
                self._write_refusal(output, state, request)
                self._answer(output)
            elif isinstance(output, Joined):
                self._write_joined(output, state)
            elif isinstance(output, Gone):
                self._write_gone(output, request)
            elif isinstance(output, Moved):
                self._write_moved(output, state, request)

    def _write_refusal(self, answered: Answered, state: str, request: Request | None) -> None:
        asked = self._asked[answered.token][0].request
        if answered.error == Error.MEMBER_ID_REQUIRED:
            self._line(wording.given(self.group_id, state, asked.given_member_id))
        elif answered.error == Error.FENCED_INSTANCE_ID and asked is request:
            now = self._machine.group.static_members.get(asked.group_instance_id or "")
            self._line(wording.fenced(asked, now), CLASSIC_GROUP)

    def _write_joined(self, joined: Joined, state: str) -> None:
        self._line(wording.joined(self.group_id, state, joined))
        if joined.replaces is not None and state == GroupState.STABLE.value:
            self._line(wording.KEPT)
            self._store()

    def _write_gone(self, gone: Gone, request: Request | None) -> None:
        if gone.end_cause == "session_expired":
            self._line(wording.failed(self.group_id, gone.member_id))
        elif gone.end_cause == "left" and request is not None:
            self._line(wording.left(self.group_id, gone.member_id, request.leavers[0].reason))

    def _write_moved(self, moved: Moved, state: str, request: Request | None) -> None:
        group, self._since = self._machine.group, self.clock.now
        if moved.to_state is GroupState.PREPARING:
            self.rebalances.append(self.clock.now)
        if moved.to_state is GroupState.COMPLETING:
            self._completed = self.clock.now
        self._line(wording.moved(self.group_id, group, moved, state, request))
        if moved.to_state is GroupState.STABLE:
            self._store(self._completed)
        elif moved.to_state is GroupState.EMPTY:
            self._store()

    def _store(self, since: float | None = None) -> None:
        group = self._machine.group
        self.paper.record(self.clock.now, group, self._since if since is None else since)
        self._stored = replace(
            group, members=dict(group.members), static_members=dict(group.static_members), pending_joins={}
        )

    # --- brokers that fail -----------------------------------------------------------------------------------------

    def take_down(self, broker: str) -> None:
        """Let a broker die: what it held in memory is gone, and so are its connections."""
        self.is_up[broker] = False
        if self.home == broker:
            self._let_go()

    def bring_up(self, broker: str) -> None:
        """Start a broker again; it coordinates nothing until it is elected."""
        self.is_up[broker] = True

    def resign(self) -> None:
        """Take the leadership from the coordinator that lives on: it sends everybody away."""
        broker, self._epoch = self.home, self._epoch + 1
        if broker is None:
            return
        place = f"__consumer_offsets-{self.paper.partition}"
        self._line(f"Scheduling unloading of metadata for {place} with epoch OptionalInt[{self._epoch}]", RUNTIME)
        self._let_go(Error.NOT_COORDINATOR)
        self.paper.line(
            self.clock.now,
            broker,
            f"Finished unloading metadata for {place} with epoch OptionalInt[{self._epoch}].",
            RUNTIME,
        )

    def _let_go(self, error: Error | None = None) -> None:
        for token in [token for token, (_, broker, _) in self._asked.items() if broker == self.home]:
            if error is None:
                self._tell(self._asked.pop(token)[2], None)
            else:
                self._answer(Answered(self.clock.now, token, int(error)))
        self.home = None

    def elect(self, broker: str, load_ms: float) -> None:
        """Make a broker the coordinator; it loads what is stored."""
        self.home, self._is_loading, self._epoch = broker, True, self._epoch + 1
        place = f"__consumer_offsets-{self.paper.partition}"
        self._line(f"Scheduling loading of metadata from {place} with epoch {self._epoch}", RUNTIME)
        self.clock.after(load_ms, lambda: self._loaded(broker, self._epoch, round(load_ms)))

    def _loaded(self, broker: str, epoch: int, took_ms: int) -> None:
        if self.home != broker or epoch != self._epoch:
            return
        self._is_loading = False
        self._machine = Machine(self.group_id, self._settings)
        stored = self._stored
        if stored is not None:
            group = self._machine.present = _as_loaded(stored, self.clock.now)
            self._line(f"Loaded classic group {self.group_id} with {len(group.members)} members.")
        count = len(self.paper.records)
        self._line(
            f"Finished loading of metadata from __consumer_offsets-{self.paper.partition} with epoch {epoch} in "
            f"{took_ms}ms where 1ms was spent in the scheduler. Loaded {count} records which total to {count * 400} "
            "bytes.",
            RUNTIME,
        )


def _as_loaded(stored: Group, at: float) -> Group:
    """A group as a coordinator has it after loading: sessions begin anew, nobody waits for anything."""
    members = {
        member.member_id: replace(member, parked_join=None, parked_sync=None, is_new=False)
        for member in stored.members.values()
    }
    group = Group(
        stored.group_id,
        stored.map_kind,
        state=GroupState.STABLE if members else GroupState.EMPTY,
        generation=stored.generation,
        protocol_type=stored.protocol_type,
        protocol=stored.protocol,
        leader=stored.leader,
        members=members,
        static_members=dict(stored.static_members),
        largest=len(members),
    )
    for member in members.values():
        group.timers.start(member_timer(member.member_id), Timer(at + member.session_timeout_ms))
    return group
