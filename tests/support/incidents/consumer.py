"""A consumer: its process, its poll loop and its heartbeats, as Kafka's Java client has them.

Sources: AbstractCoordinator and ConsumerCoordinator; KIP-345 (static members), KIP-429 (cooperative ones), KIP-800
(reasons). What a client thinks is not known here to be an incident: it polls, it is late, it is killed.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.support.incidents import client_wording
from tests.support.incidents.broker import World
from tests.support.incidents.paper import Sent
from tests.support.incidents.process import Process
from tests.support.incidents.setup import COOPERATIVE, Setup
from tests.support.incidents.sharing import cooperative_user_data, partitions, shared_out, subscription
from transforms.coordinator.assignors.subscriptions import TopicPartition
from transforms.coordinator.classic.machine.events import Answered
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.requests import Leaver, Request

POLL_TIMEOUT = "consumer poll timeout has expired."
CLOSED = "the consumer is being closed"

_SENT_AWAY = (Error.NOT_COORDINATOR, Error.COORDINATOR_LOAD_IN_PROGRESS, Error.COORDINATOR_NOT_AVAILABLE)
_IS_OUT = (Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION)


class Consumer(Process):
    """One consumer, through all lives of its process.

    Attributes:
        topics: what it subscribes to now.
        died: called when it ends by itself, because it was refused for good.
    """

    def __init__(self, world: World, client_id: str, host: str, setup: Setup, instance: str | None = None) -> None:
        super().__init__(world.clock)
        self.client_id, self.host, self.setup, self.instance = client_id, host, setup, instance
        self.topics = setup.topics
        self.died: Callable[[], None] = lambda: None
        self.member_id, self.generation = "", -1
        self.owned: tuple[TopicPartition, ...] = ()
        self._world, self._random = world, world.random
        self._turn = 0
        self._connection, self._correlation = "", 0
        self._broker = "1"
        self._busy_since: float | None = None
        self._wants_to_join: str | None = None
        self._is_joining = self._leads = self._was_joining = False
        self._offsets: dict[TopicPartition, int] = {}
        self._remembers: tuple[int, tuple[TopicPartition, ...]] = (-1, ())

    # --- what is done to its process -----------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process, which takes a moment until it subscribes."""
        self.begin()
        self._busy_since = None
        self._remembers = (-1, ())
        self._forget()
        self._is_joining = False
        self._connect()
        self._broker = self._world.home or self._broker
        self.later(self._random.uniform(200, 2_000), lambda: self._join(None))
        self.later(self._random.uniform(0, self.setup.heartbeat_ms), self._beat)
        self.later(self._random.uniform(0, self.setup.commit_ms), self._commit)

    def kill(self) -> None:
        """Kill the process: nothing more is heard of it."""
        self.end()
        self._turn += 1

    def close(self) -> None:
        """Close the consumer: a dynamic member says goodbye, after a last commit."""
        if self.is_up and self.member_id and self.instance is None and not self.is_frozen:
            self._leave(CLOSED)
        self.kill()

    def dawdle(self, ms: float) -> None:
        """Take long over a batch: there is no poll in the meantime."""
        if not self.is_up or self._busy_since is not None or self._is_joining:
            return
        self._busy_since, turn = self._clock.now, self._turn
        self.later(self.setup.poll_ms + self._random.uniform(0, 200), lambda: self._too_late(turn))
        self.later(ms, self._polls_again)

    def subscribe(self, topics: tuple[str, ...], reason: str | None = None) -> None:
        """Subscribe to other topics, or notice that a pattern matches others."""
        if self.is_up and topics != self.topics:
            self.topics = topics
            if self.member_id:
                self._rejoin(reason)
        self.topics = topics

    def metadata_changed(self, reason: str) -> None:
        """Notice that topics have other partitions: a leader joins again."""
        if self.is_up and self.member_id and self._leads:
            self._rejoin(reason)

    # --- its threads -----------------------------------------------------------------------------------------------

    def _beat(self) -> None:
        self.later(self.setup.heartbeat_ms * self._random.uniform(1, 1.03), self._beat)
        if self.member_id and self.generation >= 0 and not self._is_joining:
            self._ask(self._request("Heartbeat"), self._hear_beat)

    def _hear_beat(self, answered: Answered | None) -> None:
        if answered is not None and answered.error == Error.REBALANCE_IN_PROGRESS:
            self._rejoin("group is already rebalancing")
        else:
            self._take_refusal(answered, "HEARTBEAT")

    def _commit(self) -> None:
        self.later(self.setup.commit_ms * self._random.uniform(1, 1.05), self._commit)
        if self._busy_since is None:
            self.commit()

    def commit(self, as_member: tuple[str, int] | None = None, api: str = "OffsetCommit") -> None:
        """Commit what it owns; or, for a thread that goes by what it was told long ago, as that member."""
        member_id, generation = as_member or (self.member_id, self.generation)
        if not self.owned or generation < 0 or (self._is_joining and as_member is None):
            return
        for place in self.owned:
            self._offsets[place] = self._offsets.get(place, 0) + self._random.randint(1, 500)
        request = self._request(api, member_id=member_id, generation=generation)
        offsets = {place: self._offsets[place] for place in self.owned}
        if as_member is None:
            self._ask(request, self._hear_commit, offsets)
        else:
            self._ask(request, lambda answered: self._log_refusal(answered, "OFFSET_COMMIT", request), offsets)

    def work(self, ms: float, as_member: tuple[str, int], api: str) -> None:
        """Let a thread commit in a while, by what it was told when it began; it sleeps when the process does."""
        places = self.owned

        def commit() -> None:
            owned, self.owned = self.owned, places
            self.commit(as_member, api)
            self.owned = owned

        self.later(ms, commit)

    def _hear_commit(self, answered: Answered | None) -> None:
        if answered is not None and answered.error == Error.REBALANCE_IN_PROGRESS:
            self._rejoin("group is already rebalancing")
        else:
            self._take_refusal(answered, "OFFSET_COMMIT")

    def _too_late(self, turn: int) -> None:
        if self._busy_since is not None and turn == self._turn and self.member_id and self.instance is None:
            self._leave(POLL_TIMEOUT)
            self._forget()
            self._wants_to_join = "consumer pro-actively leaving the group"

    def _polls_again(self) -> None:
        self._busy_since = None
        if self._wants_to_join is not None:
            self._join(self._wants_to_join)

    # --- joining ---------------------------------------------------------------------------------------------------

    def _rejoin(self, reason: str | None) -> None:
        """Join again as soon as the poll loop comes round."""
        if self._wants_to_join is None and not self._is_joining:
            self._wants_to_join = reason or ""
            if self._busy_since is None:
                self.later(self._random.uniform(0, self.setup.batch_ms), self._polls_for_join)

    def _polls_for_join(self) -> None:
        if self._wants_to_join is not None and self._busy_since is None:
            self._join(self._wants_to_join)

    def _join(self, reason: str | None) -> None:
        if self._is_joining:
            return
        self._wants_to_join, self._is_joining = None, True
        if self.setup.protocols[0] != COOPERATIVE:
            self.owned = ()
        self._turn += 1
        given = None if self.member_id else f"{self.instance or self.client_id}-{self._uuid()}"
        request = Request(
            token=self._world.token(),
            api="JoinGroup",
            api_version=9,
            member_id=self.member_id,
            group_instance_id=self.instance,
            client_id=self.client_id,
            client_host=self.host,
            session_timeout_ms=self.setup.session_ms,
            rebalance_timeout_ms=self.setup.poll_ms,
            protocol_type="consumer",
            protocols=tuple((name, self._subscription(name)) for name in self.setup.protocols),
            reason=(reason or None) if self.setup.says_why else None,
            given_member_id=given,
        )
        self._ask(request, lambda answered: self._joined(request, answered))

    def _subscription(self, protocol: str) -> bytes:
        """Write what it asks for; a cooperative assignor remembers more than the consumer does."""
        if protocol != COOPERATIVE:
            return subscription(self.topics, self.owned, self.generation)
        library, (assigned_in, assigned) = self.setup.software[0], self._remembers
        generation = assigned_in if library == "librdkafka" else self.generation
        return subscription(self.topics, self.owned, generation, cooperative_user_data(library, assigned_in, assigned))

    def _joined(self, request: Request, answered: Answered | None) -> None:
        self._is_joining = False
        if answered is None or answered.error:
            if answered is not None and answered.error == Error.MEMBER_ID_REQUIRED:
                self.member_id = request.given_member_id or ""
                self._join(f"need to re-join with the given member-id: {self.member_id}")
            elif answered is not None and answered.error == Error.INCONSISTENT_GROUP_PROTOCOL:
                self._end()
            else:
                self._take_refusal(answered, "JOIN_GROUP")
            return
        self.member_id, self.generation = request.joiner_id, answered.generation or 0
        self._leads, self._is_joining = answered.leader == self.member_id, True
        told = self._world.metadata_of(answered.protocol) if self._leads else {}
        shared = shared_out(answered.protocol or "", told, self._world.topics) if self._leads else {}
        delay = self._random.uniform(2, 30) if self._leads else self._random.uniform(0.5, 5)
        self.later(delay, lambda: self._sync(answered.protocol, shared))

    def _sync(self, protocol: str | None, shared: dict[str, bytes]) -> None:
        if self.member_id:
            self._ask(self._request("SyncGroup", assignments=shared, protocol=protocol), self._synced)

    def _synced(self, answered: Answered | None) -> None:
        self._is_joining = False
        if answered is None or answered.error:
            if answered is not None and answered.error == Error.REBALANCE_IN_PROGRESS:
                self._join("rebalance failed due to RebalanceInProgressException")
            else:
                self._take_refusal(answered, "SYNC_GROUP")
            return
        who = client_wording.generation(self.member_id, self.generation, self.setup.protocols[0])
        self._log("INFO", f"Successfully synced group in generation {who}")
        given = partitions(answered.assignment or b"")
        gives_up = self.setup.protocols[0] == COOPERATIVE and not set(self.owned) <= set(given)
        self.owned = given
        if self.setup.protocols[0] == COOPERATIVE:
            self._remembers = (self.generation, given)
        if gives_up:
            self._rejoin("need to revoke partitions and re-join")

    # --- what it hears ---------------------------------------------------------------------------------------------

    def _take_refusal(self, answered: Answered | None, api: str) -> None:
        """Do as it is told: find the coordinator, join anew, or give up."""
        if answered is None or answered.error in _SENT_AWAY:
            self._was_joining |= api in ("JOIN_GROUP", "SYNC_GROUP")
            self.later(self._random.uniform(50, self.setup.find_ms), self._find_coordinator)
        elif answered.error in _IS_OUT:
            self._log_refusal(answered, api, None)
            self._forget()
            self._rejoin(f"encountered {Error(answered.error).name} from {api} response")
        elif answered.error == Error.FENCED_INSTANCE_ID:
            self._log_refusal(answered, api, None)
            self._end()

    def _find_coordinator(self) -> None:
        home = self._world.home
        if home is None:
            self.later(self._random.uniform(100, self.setup.find_ms), self._find_coordinator)
            return
        if home != self._broker:
            self._broker = home
            self._connect()
        if (self._was_joining or self.generation < 0) and not self._is_joining:
            self._was_joining = False
            self._rejoin(None)

    def _log_refusal(self, answered: Answered | None, api: str, request: Request | None) -> None:
        as_member = (request.member_id, request.generation) if request else (self.member_id, self.generation)
        who = client_wording.generation(*as_member, self.setup.protocols[0])
        said = None if answered is None else client_wording.refused(answered.error, api, who, self.instance)
        if said is not None:
            self._log("INFO", said)

    def _log(self, level: str, said: str) -> None:
        self._world.paper.client_line(
            self._clock.now, f"{self.client_id}/app.log", level, self.client_id, self.instance, said
        )

    def _end(self) -> None:
        self.kill()
        self.died()

    # --- what it sends ---------------------------------------------------------------------------------------------

    def _leave(self, reason: str) -> None:
        self._log("INFO", client_wording.leaving(self.member_id, self._broker, reason))
        leaver = Leaver(self.member_id, None, reason if self.setup.says_why else None)
        self._ask(Request(token=self._world.token(), api="LeaveGroup", api_version=5, leavers=(leaver,)), _ignore)

    def _request(self, api: str, **more: object) -> Request:
        versions = {"SyncGroup": 5, "Heartbeat": 4, "OffsetCommit": 9, "TxnOffsetCommit": 4}
        named = {"member_id": self.member_id, "generation": self.generation, **more}
        if api == "SyncGroup":
            named["protocol_type"] = "consumer"
        return Request(
            token=self._world.token(), api=api, api_version=versions[api], group_instance_id=self.instance, **named
        )

    def _ask(
        self,
        request: Request,
        hear: Callable[[Answered | None], None],
        offsets: dict[TopicPartition, int] | None = None,
    ) -> None:
        self._correlation += 1
        life, turn = self.life, self._turn

        def is_awaited() -> bool:
            return life == self.life and turn == self._turn

        def take(answered: Answered | None) -> None:
            if is_awaited():
                self.now(lambda: hear(answered) if is_awaited() else None)

        client = (self.client_id, self.setup.software, self._connection, self._correlation)
        self._world.send(Sent(request, *client, 0.0, offsets or {}), self._broker, take)

    def _connect(self) -> None:
        port = self._random.randint(30_000, 60_000)
        self._connection, self._correlation = f"10.0.0.9:9092-{self.host[1:]}:{port}-{self._random.randint(0, 99)}-1", 0

    def _forget(self) -> None:
        self.member_id, self.generation, self.owned, self._leads = "", -1, (), False
        self._wants_to_join, self._is_joining = None, False
        self._turn += 1

    def _uuid(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _ignore(_: Answered | None) -> None:
    """Nobody waits for the answer to a LeaveGroup."""
