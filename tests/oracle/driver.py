"""Drives the product's state machine the way the oracle's driver drove Kafka's coordinator."""

from __future__ import annotations

from msgspec.structs import replace

from tests.oracle.answers import Answer, Situation
from tests.oracle.probes import (
    CURRENT,
    FOLLOWER_INSTANCE,
    LEADER_INSTANCE,
    OLD,
    PROTOCOL,
    PROTOCOL_TYPE,
    Offer,
    Probe,
    Who,
)
from transforms.coordinator.classic.machine.events import Answered, Moved
from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.requests import Leaver, Request
from transforms.coordinator.kafka.states import GroupState

SESSION_MS = 6_000
REBALANCE_MS = 10_000

OFFERS = {
    Offer.SAME: ((PROTOCOL, b"old"),),
    Offer.CHANGED: ((PROTOCOL, b"new"),),
    Offer.OTHER_NAME: (("other", b"old"),),
    Offer.WIDER: ((PROTOCOL, b"old"), ("roundrobin", b"old")),
}


class Driver:
    """One group of the product's machine, with a clock and everything it ever answered.

    Attributes:
        now: the clock, in ms; requests are handled at it.
        answers: token to answer.
        told: token to the id that its client goes by.
    """

    def __init__(self, **settings: object) -> None:
        self.machine = Machine("g", replace(CoordinatorSettings(), **settings))  # type: ignore[arg-type]
        self.now = 0.0
        self.answers: dict[int, Answered] = {}
        self.moves: list[Moved] = []
        self.told: dict[int, str] = {}
        self._tokens = 0

    @property
    def situation(self) -> Situation:
        """State, generation and size of the group."""
        group = self.machine.group
        return Situation(group.state.value, group.generation, len(group.members))

    def advance(self, milliseconds: float) -> None:
        """Let time pass; timers that run out meanwhile do so at their own moments."""
        until = self.now + milliseconds
        while (timer := self.machine.next_timer()) is not None and timer[0] <= until:
            self.now = max(self.now, timer[0])
            self.machine.fire(timer[1])
        self.now = until
        self._collect()

    def ask(self, api: str, **fields: object) -> int:
        """Put a request to the group; returns the token by which its answer is found."""
        self._tokens += 1
        request = Request(self._tokens, api, **fields)  # type: ignore[arg-type]
        self.told[self._tokens] = request.member_id or request.given_member_id or ""
        self.machine.handle(request, self.now)
        self._collect()
        return self._tokens

    def join(self, name: str, *, member_id: str = "", instance: str | None = None, **fields: object) -> int:
        """JoinGroup of a client called `name`; an id given out is `name` and a number."""
        asked = {
            "api_version": 9,
            "session_timeout_ms": SESSION_MS,
            "rebalance_timeout_ms": REBALANCE_MS,
            "protocol_type": PROTOCOL_TYPE,
            "protocols": OFFERS[Offer.SAME],
            **fields,
        }
        given = None if member_id else f"{name}-{self._tokens}"
        return self.ask(
            "JoinGroup",
            member_id=member_id,
            group_instance_id=instance,
            client_id=name,
            client_host="/127.0.0.1",
            given_member_id=given,
            **asked,
        )

    def sync(self, member_id: str, generation: int | None = None, **fields: object) -> int:
        """SyncGroup, of the current generation unless said otherwise."""
        generation = self.machine.group.generation if generation is None else generation
        return self.ask("SyncGroup", member_id=member_id, generation=generation, **fields)

    def heartbeat(self, member_id: str) -> int:
        """Heartbeat of the current generation."""
        return self.ask("Heartbeat", member_id=member_id, generation=self.machine.group.generation)

    def leave(self, *member_ids: str) -> int:
        """LeaveGroup of some members."""
        return self.ask("LeaveGroup", leavers=tuple(Leaver(member_id) for member_id in member_ids))

    def answer(self, token: int) -> Answer:
        """Return an answer as the oracle writes it."""
        answered = self.answers.get(token)
        if answered is None:
            return Answer("PARKED")
        name = Error(answered.error).name
        if answered.generation is None:
            has_assignment = None if answered.assignment is None else bool(answered.assignment)
            return Answer(name, has_assignment=has_assignment)
        return Answer(name, answered.generation, is_leader=answered.leader == self.told[token])

    def _collect(self) -> None:
        for output in self.machine.drain():
            if isinstance(output, Answered):
                self.answers[output.token] = output
            elif isinstance(output, Moved):
                self.moves.append(output)


class Fixture:
    """The oracle's group in one of its five states, and who is who in it."""

    def __init__(self, state: str) -> None:
        self.driver = Driver()
        driver = self.driver
        first = driver.join("leader", instance=LEADER_INSTANCE)
        self.ids = {Who.NOBODY: "", Who.BOGUS: "bogus", Who.LEADER: driver.told[first], Who.FOLLOWER: ""}
        driver.advance(3_000)
        if state == "EMPTY":
            driver.leave(self.ids[Who.LEADER])
            return
        second = driver.join("follower", instance=FOLLOWER_INSTANCE)
        self.ids[Who.FOLLOWER] = driver.told[second]
        if state == "PREPARING":
            return
        driver.join("leader", member_id=self.ids[Who.LEADER], instance=LEADER_INSTANCE)
        if state in ("STABLE", "DEAD"):
            leader, follower = self.ids[Who.LEADER], self.ids[Who.FOLLOWER]
            driver.sync(leader, assignments={leader: b"\1", follower: b"\1"})
            driver.sync(follower)
        if state == "DEAD":
            driver.machine.group.state = GroupState.DEAD

    def ask(self, probe: Probe) -> Answer:
        """Put a probe's request to the group and return the answer."""
        if probe.who is Who.PENDING:
            given = self.driver.join("pending")
            self.ids[Who.PENDING] = self.driver.told[given]
        return self.driver.answer(_ASK[probe.api](self, probe))

    def _generation(self, probe: Probe) -> int:
        current = self.driver.machine.group.generation
        return {CURRENT: current, OLD: current - 1}.get(probe.generation, probe.generation)  # type: ignore[return-value, call-overload]

    def _join(self, probe: Probe) -> int:
        return self.driver.join(
            "probe",
            member_id=self.ids[probe.who],
            instance=probe.instance,
            api_version=probe.version,
            protocol_type=probe.protocol_type,
            protocols=OFFERS[probe.offer],
        )

    def _leave(self, probe: Probe) -> int:
        return self.driver.ask("LeaveGroup", leavers=(Leaver(self.ids[probe.who], probe.instance),))

    def _other(self, probe: Probe) -> int:
        return self.driver.ask(
            probe.api,
            api_version=probe.version,
            member_id=self.ids[probe.who],
            group_instance_id=probe.instance,
            generation=self._generation(probe),
            protocol_type=probe.protocol_type,
            protocol=probe.protocol,
        )


_ASK = {
    "JoinGroup": Fixture._join,
    "LeaveGroup": Fixture._leave,
    "SyncGroup": Fixture._other,
    "Heartbeat": Fixture._other,
    "OffsetCommit": Fixture._other,
    "TxnOffsetCommit": Fixture._other,
}
