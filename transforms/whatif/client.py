"""A simulated consumer: joins, syncs, notices rebalances by its heartbeats, leaves, falls silent, dies.

It behaves as Kafka's own clients do. Heartbeats that would change nothing are not sent: the floor that it stands on
keeps its session alive while it is well, and asks for a heartbeat when there is something to notice.
Source: AbstractCoordinator and ConsumerCoordinator (Java), KIP-345 for static members, KIP-429 for cooperative ones.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from transforms.coordinator.assignors.subscriptions import TopicPartition
from transforms.coordinator.classic.machine.events import Answered
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.requests import Leaver, Request
from transforms.whatif.floor import Floor
from transforms.whatif.pace import Pace
from transforms.whatif.processes import Life, Process
from transforms.whatif.sharing import COOPERATIVE, Offer, offer_bytes, read_assignment

_IS_OUT = frozenset({Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION})
_STATIC_SINCE = 5
"""JoinGroup version that first carries a group.instance.id."""


class Client:
    """One process in the group.

    Attributes:
        process: its number in the group's history.
        owner: the name under which it owns partitions.
        member_id: as the coordinator knows it; "" = it is no member.
        is_up: it runs.
        is_awake: it runs and its heartbeats go out.
        is_polling: its application takes what comes.
        awaits: the request whose answer it waits for, by API.
        owned: partitions that it holds, or under an eager protocol held last.
    """

    def __init__(
        self, floor: Floor, pace: Pace, number: int, process: Process, instance: str | None, strategy: str | None
    ) -> None:
        self.process = number
        self.owner = process.owner
        self.client_id, self.client_host, self.group_instance_id = process.client_id, process.client_host, instance
        self.member_id = ""
        self.is_up = False
        self.is_awake = False
        self.is_polling = True
        self.awaits: str | None = None
        self.owned: tuple[TopicPartition, ...] = ()
        self._floor = floor
        self._pace = pace
        self._topics = process.topics
        self._protocols = process.protocols if strategy is None else (strategy,)
        self._version = max(process.join_version, _STATIC_SINCE) if instance is not None else process.join_version
        self._life = Life(begins_at=None)
        self._names: list[str] = []
        self._given = ""
        self._generation: int | None = None
        self._told_at = 0.0
        self._edition = 0
        self._inbox: Answered | None = None
        self._wants_to_join = False
        self._turn = 0

    @property
    def is_well(self) -> bool:
        """Whether it is a member that keeps its session alive."""
        return self.is_awake and bool(self.member_id)

    @property
    def beat_ms(self) -> float:
        """Its usual time between two heartbeats."""
        return self._pace.usual

    # --- what its process does -----------------------------------------------------------------------------------

    def start(self, life: Life, at: float) -> None:
        """Come up and join."""
        self._life, self._names = life, list(life.member_ids)
        self.is_up = self.is_awake = self.is_polling = True
        self._forget()
        self._join(at)

    def die(self, at: float) -> None:
        """End without a word."""
        self.fall_silent(at)
        self.is_up = False
        self._turn += 1

    def leave(self, at: float) -> None:
        """End in good order; a static member says nothing (KIP-345)."""
        if self.group_instance_id is None:
            self._say_goodbye()
            self.is_up = self.is_awake = False
        else:
            self.die(at)
        self._turn += 1

    def fall_silent(self, at: float) -> None:
        """Send nothing any more; the session runs from the last heartbeat."""
        if self.is_well:
            self._floor.lapse(self, self._last_beat(at))
        self.is_awake = False

    def wake(self, at: float) -> None:
        """Go on where it was when it fell silent."""
        if self.is_up and not self.is_awake:
            self.is_awake = True
            self._go_on(at)

    def wake_as_member(self, at: float) -> None:
        """Go on if it is still a member; one that is not has to find its coordinator again, and goes on later."""
        if self._floor.is_member(self.member_id):
            self.wake(at)

    def stop_polling(self) -> None:
        """Let the application be busy: heartbeats go on, and nothing else does."""
        self.is_polling = False

    def give_up(self, at: float) -> None:
        """Leave because the application has not polled for max.poll.interval.ms; a static member falls silent."""
        if not self.is_well:
            return
        if self.group_instance_id is None:
            self._say_goodbye()
        else:
            self._floor.lapse(self, self._last_beat(at))
        self._forget()
        self._wants_to_join = True

    def poll(self, at: float) -> None:
        """Poll again."""
        if self.is_up and not self.is_polling:
            self.is_polling = True
            if self.is_awake:
                self._go_on(at)

    def change_subscription(self, at: float) -> None:
        """Join again with another subscription, or as a leader that wants a rebalance."""
        if self.is_well and self.is_polling and self.awaits is None:
            self._edition += 1
            self._join(at)

    # --- what it hears -------------------------------------------------------------------------------------------

    def notice(self, at: float) -> None:
        """Send the next heartbeat: there is something to learn from it."""
        if self.is_well and self.awaits is None:
            turn = self._turn
            due = self._pace.next_beat(self._told_at, at, self._floor.random)
            self._floor.later(due, lambda now: self._beat(now) if turn == self._turn else None)

    def hear(self, api: str, answered: Answered) -> None:
        """Take an answer."""
        if not self.is_up or (api != "Heartbeat" and self.awaits != api):
            return
        if api != "Heartbeat":
            self.awaits = None
            if not (self.is_awake and self.is_polling):
                self._inbox = answered
                self.awaits = api
                return
        self._take(api, answered)

    def _take(self, api: str, answered: Answered) -> None:
        at, error = answered.at, answered.error
        if error == Error.MEMBER_ID_REQUIRED:
            self.member_id = self._given
            self._soon(at, self._pace.handshakes, self._join)
        elif error in _IS_OUT:
            self._forget()
            self._soon(at, self._pace.rejoins, self._join)
        elif error == Error.REBALANCE_IN_PROGRESS:
            self._soon(at, self._pace.rejoins, self._join)
        elif error != Error.NONE:
            self.is_up = self.is_awake = False  # fenced, or refused for good: such a process ends
        elif api == "JoinGroup":
            self.member_id = self.member_id or self._given
            self._generation = answered.generation
            self._soon(at, self._pace.syncs, lambda now: self._sync(now, answered))
        elif api == "SyncGroup":
            self._told_at = at
            self._hold(read_assignment(answered.assignment or b""), at)

    def _go_on(self, at: float) -> None:
        if self._inbox is not None:
            api, answered = self.awaits or "", self._inbox
            self._inbox, self.awaits = None, None
            self._take(api, replace(answered, at=at))
        elif self._wants_to_join or not self.member_id:
            self._join(at)
        elif self.awaits is None:
            self._beat(at)

    def _hold(self, given: tuple[TopicPartition, ...], at: float) -> None:
        """Take what was given; who has to give something up does so, and then joins again (KIP-429)."""
        gives_up = self._protocols[0] == COOPERATIVE and not set(self.owned) <= set(given)
        self.owned = given
        if gives_up:
            self._soon(at, self._pace.syncs, self._join)

    # --- what it sends -------------------------------------------------------------------------------------------

    def _soon(self, at: float, delays: list[float], act: Callable[[float], None]) -> None:
        turn = self._turn

        def do(now: float) -> None:
            if turn == self._turn:
                act(now)

        self._floor.later(at + self._floor.random.choice(delays), do)

    def _join(self, at: float) -> None:
        if not (self.is_up and self.is_awake and self.is_polling) or self.awaits is not None:
            self._wants_to_join = self.awaits is None
            return
        self._wants_to_join = False
        if not self.member_id:
            self._given = self._names.pop(0) if self._names else self._new_name()
        offer = Offer(self._topics, self.group_instance_id, self.owned, self._generation, self._edition)
        self._ask(
            "JoinGroup",
            Request(
                token=self._floor.token(),
                api="JoinGroup",
                api_version=self._version,
                member_id=self.member_id,
                group_instance_id=self.group_instance_id,
                client_id=self.client_id,
                client_host=self.client_host,
                session_timeout_ms=self._life.session_timeout_ms,
                rebalance_timeout_ms=self._life.rebalance_timeout_ms,
                protocol_type="consumer",
                protocols=tuple((name, offer_bytes(offer)) for name in self._protocols),
                given_member_id=None if self.member_id else self._given,
            ),
        )

    def _sync(self, at: float, joined: Answered) -> None:
        """Ask for the assignment; the leader brings it, which takes the coordinator a moment to store."""
        if joined.leader == self.member_id and self._floor.is_completing(joined.generation or 0):
            self._soon(at, self._pace.stores, lambda now: self._share_out(joined))
        else:
            self._ask("SyncGroup", self._request("SyncGroup"))

    def _share_out(self, joined: Answered) -> None:
        leads = self._floor.is_completing(joined.generation or 0)
        shared = self._floor.assigned(joined.protocol or "") if leads else {}
        self._ask("SyncGroup", self._request("SyncGroup", assignments=shared))

    def _beat(self, at: float) -> None:
        if self.is_well and self.awaits is None:
            self._floor.send(self, self._request("Heartbeat"))

    def _say_goodbye(self) -> None:
        if self.is_well:
            leaver = Leaver(self.member_id, self.group_instance_id)
            self._floor.send(self, Request(token=self._floor.token(), api="LeaveGroup", leavers=(leaver,)))

    def _ask(self, api: str, request: Request) -> None:
        if self.is_up and self.is_awake:
            self.awaits = api
            self._floor.send(self, request)

    def _request(self, api: str, assignments: dict[str, bytes] | None = None) -> Request:
        return Request(
            token=self._floor.token(),
            api=api,
            member_id=self.member_id,
            group_instance_id=self.group_instance_id,
            generation=-1 if self._generation is None else self._generation,
            assignments=assignments or {},
        )

    def _last_beat(self, at: float) -> float:
        """Return when it sent its last heartbeat before a moment."""
        return self._pace.last_beat(self._told_at, at, self._floor.random)

    def _new_name(self) -> str:
        digits = f"{self._floor.random.getrandbits(128):032x}"
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        return "-".join((self.group_instance_id or self.client_id or "", *parts))

    def _forget(self) -> None:
        """Be no member any more, and hold nothing."""
        self.member_id = ""
        self.awaits = None
        self.owned = ()
        self._given = ""
        self._generation = None
        self._inbox = None
        self._turn += 1
