"""Random histories of a group, as brokers of all releases would log them, with the mistakes that real logs have.

A run of the state machine says what a coordinator would do and answer; around it stand the records, lines and requests
that show it, each at its own moment. Then some of it is taken away, falsified or shifted: the replay must not mind.
"""

from __future__ import annotations

import random
from copy import copy

from hypothesis import strategies as st

from schemas.rows import (
    CoordinatorEventRow,
    GroupMetadataRow,
    GroupRequestRow,
    OfferedProtocol,
    SentAssignment,
    StoredMember,
    ToldMember,
    TopicPartitions,
)
from transforms.coordinator.classic.machine.events import Answered, Cause, Event, Gone, Moved
from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.classic.machine.moves import take_over
from transforms.coordinator.classic.taking.resync import members_of
from transforms.coordinator.evidence.sequence import EvidenceRow
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.requests import Leaver, Request
from transforms.coordinator.kafka.rules import LATEST, release_of
from transforms.coordinator.kafka.states import GroupState

Evidence = tuple[list[GroupMetadataRow], list[CoordinatorEventRow], list[GroupRequestRow]]

GROUP = "orders"
BROKERS = ("1", "2")
VERSIONS = ("4.2.0", "3.9.1", "3.2.3", "2.8.2", "2.4.1", "2.1.1")
FIRST_OF_JAVA, FIRST_OF_JSON = (4, 0), (2, 8)
_TRIGGERS = {
    Event.MEMBER_ADDED: "member_joined",
    Event.SESSION_EXPIRED: "session_expired",
    Event.METADATA_CHANGED: "subscription_changed",
}
_LINE_OF_END = {"session_expired": "member_failed", "left": "member_left", "rebalance_timeout": "members_not_rejoined"}


class _Coordinator:
    """A coordinator that logs what it does, for one group."""

    def __init__(self, dice: random.Random, version: str) -> None:
        self.dice = dice
        release = release_of(version) or LATEST
        dialect = "java" if release >= FIRST_OF_JAVA else "scala"
        self.machine = Machine(GROUP, CoordinatorSettings(dialect, max_size=4).of_build(version))
        self.is_text = release < FIRST_OF_JSON
        self.broker = BROKERS[0]
        self.now = 1_000_000.0
        self.ids = 0
        self.pending: dict[int, GroupRequestRow] = {}
        self.records: list[GroupMetadataRow] = []
        self.events: list[CoordinatorEventRow] = []
        self.requests: list[GroupRequestRow] = []
        self.clients: list[str] = []
        if release < FIRST_OF_JAVA:
            self.line("broker_version", group_id=None, attributes={"version": version})

    def wait(self, milliseconds: float) -> None:
        until = self.now + milliseconds
        while (timer := self.machine.next_timer()) is not None and timer[0] <= until:
            self.now = max(self.now, timer[0])
            self.machine.fire(timer[1])
            self._log()
        self.now = until

    def line(self, event: str, **fields: object) -> None:
        self.events.append(
            CoordinatorEventRow(
                source_file=f"server-{self.broker}.log",
                line_number=len(self.events) + 1,
                seq=0,
                broker=self.broker,
                event=event,
                logged_at=float(int(self.now)),
                dialect=self.machine.settings.dialect,
                **{"group_id": GROUP, **fields},  # type: ignore[arg-type]
            )
        )

    def ask(self, api: str, client: str, **fields: object) -> None:
        """Handle a request; its row is written when it is answered."""
        self.ids += 1
        request = Request(self.ids, api, client_id=client, client_host=f"/{client}", **fields)  # type: ignore[arg-type]
        raw_of = (lambda raw: None) if self.is_text else (lambda raw: raw)
        self.pending[self.ids] = GroupRequestRow(
            source_file=f"requests-{self.broker}.log",
            line_number=self.ids,
            seq=0,
            broker=self.broker,
            answered_at=self.now,
            api=api,
            group_id=GROUP,
            error_code=0,
            handled_at=self.now,
            api_version=request.api_version,
            member_id=request.member_id,
            group_instance_id=request.group_instance_id,
            generation=request.generation,
            client_id=client,
            client_host=f"/{client}",
            connection=f"{client}-{self.broker}",
            correlation_id=self.ids,
            session_timeout_ms=request.session_timeout_ms or None,
            rebalance_timeout_ms=request.rebalance_timeout_ms or None,
            protocol_type=request.protocol_type,
            protocols=[OfferedProtocol(name=name, metadata=raw_of(raw)) for name, raw in request.protocols] or None,
            assignments=[
                SentAssignment(member_id=key, assignment=raw_of(raw)) for key, raw in request.assignments.items()
            ],
            answered_member_id=request.given_member_id or request.member_id,
        )
        self.machine.handle(request, self.now)
        self._log()

    def join(self, client: str, member_id: str = "", instance: str | None = None) -> None:
        given = None if member_id else f"{instance or client}-{self.ids:036d}"
        if given:
            self.clients.append(given)
        self.ask(
            "JoinGroup",
            client,
            api_version=self.dice.choice((3, 5)),
            member_id=member_id,
            group_instance_id=instance,
            given_member_id=given,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=20_000,
            protocol_type="consumer",
            protocols=(("range", self.dice.choice((b"x", b"y"))),),
        )

    def move_to_other_broker(self) -> None:
        """The broker gives the group up, and another loads what was stored last."""
        self.line("coordinator_resigned", group_id=None, topic_partition_of_group=7)
        group = self.machine.present
        if group is not None:
            for member in group.members.values():
                for token in (member.parked_join, member.parked_sync):
                    if token is not None:
                        self._answer(token, 16)
        self.machine.present = None
        self.broker = BROKERS[self.broker == BROKERS[0]]
        self.now += self.dice.randint(1, 500)
        if self.records and not self.records[-1].is_tombstone:
            self._load(self.records[-1])
        self.line("load_finished", group_id=None, topic_partition_of_group=7, attributes={"epoch": "2"})

    def _load(self, last: GroupMetadataRow) -> None:
        members, generation = members_of(last, is_load=True), last.generation or 0
        self.line("group_loaded", generation=generation, member_count=len(members), topic_partition_of_group=7)
        state = GroupState.STABLE if members else GroupState.EMPTY
        take_over(self.machine, state, generation, Cause(self.now), members)
        self.machine.drain()
        if members:
            group = self.machine.group
            group.protocol, group.protocol_type, group.leader = "range", "consumer", last.leader_member_id

    # --- logging -----------------------------------------------------------------------------------------------

    def _log(self) -> None:
        for said in self.machine.drain():
            if isinstance(said, Answered):
                self._answer(said.token, said.error, said)
            elif isinstance(said, Moved):
                self._moved(said)
            elif isinstance(said, Gone) and said.end_cause in _LINE_OF_END:
                self.line(_LINE_OF_END[said.end_cause], member_id=said.member_id)

    def _answer(self, token: int, error: int, said: Answered | None = None) -> None:
        row = self.pending.get(token)
        if row is None or row.handled_at is None:
            return
        self.pending[token] = copy(row)  # one that failed in between answers twice
        self.pending[token].line_number += 1_000
        row.error_code = error
        row.parked_ms = self.now - row.handled_at
        row.answered_at = float(int(self.now) + self.dice.choice((0, 0, 0, 1)))
        row.handled_at += self.dice.choice((0.0, 0.0, 0.3, -0.7))
        if said is not None and said.generation is not None and not error:
            row.answered_generation, row.answered_leader = said.generation, said.leader
            row.answered_protocol = said.protocol
            if said.leader == row.answered_member_id and self.machine.present is not None:
                row.answered_members = [ToldMember(member_id=key) for key in self.machine.present.members]
        self.requests.append(row)

    def _moved(self, move: Moved) -> None:
        if move.to_state is GroupState.PREPARING:
            trigger = _TRIGGERS.get(move.event)
            attributes = {} if trigger is None else {"trigger": trigger}
            is_of_rejoin = trigger == "subscription_changed"
            member_id = move.cause.member_id if is_of_rejoin else None
            self.line("preparing_rebalance", generation=move.generation, attributes=attributes, member_id=member_id)
        elif move.to_state is GroupState.COMPLETING:
            self.line("stabilized", generation=move.generation, member_count=len(self.machine.group.members))
        elif move.to_state is GroupState.STABLE:
            self.line("assignment_received", generation=move.generation)
            self._store(move.generation)
        elif move.to_state is GroupState.EMPTY:
            self.line("group_empty", generation=move.generation)
            self._store(move.generation)
        elif move.to_state is GroupState.DEAD:
            self.line("group_deleted")
            self._store(None)

    def _store(self, generation: int | None) -> None:
        group = self.machine.present
        members = () if group is None or generation is None else group.members.values()
        self.records.append(
            GroupMetadataRow(
                topic_partition_of_record=7,
                record_offset=len(self.records),
                group_id=GROUP,
                is_tombstone=generation is None,
                generation=generation,
                protocol_type="consumer",
                protocol="range",
                leader_member_id=None if group is None else group.leader,
                state_changed_at=self.now,
                recorded_at=float(int(self.now)),
                members=[
                    StoredMember(
                        member_id=member.member_id,
                        group_instance_id=member.group_instance_id,
                        client_id=member.client_id,
                        client_host=member.client_host,
                        session_timeout_ms=member.session_timeout_ms,
                        rebalance_timeout_ms=member.rebalance_timeout_ms,
                        assigned=[TopicPartitions(topic="t", partitions=[number])],
                        subscription=b"x",
                        assignment=b"",
                    )
                    for number, member in enumerate(members)
                ],
            )
        )


def _step(run: _Coordinator, dice: random.Random) -> None:
    group = run.machine.present
    members = list(group.members.values()) if group is not None else []
    chosen = dice.choice(members) if members else None
    generation = group.generation if group is not None else 0
    action = dice.random()
    if action < 0.15 or chosen is None:
        run.join(f"client{dice.randint(1, 3)}", instance=dice.choice((None, None, "i1")))
    elif action < 0.3 and run.clients:
        member_id = dice.choice(run.clients)
        run.join(member_id.partition("-")[0], member_id)
    elif action < 0.5:
        sent = {member.member_id: b"" for member in members}
        run.ask(
            "SyncGroup", chosen.client_id or "", member_id=chosen.member_id, generation=generation, assignments=sent
        )
    elif action < 0.8:
        api = dice.choice(("Heartbeat", "OffsetCommit"))
        stale = dice.choice((generation, generation, generation, generation - 1))
        run.ask(api, chosen.client_id or "", member_id=chosen.member_id, generation=stale)
    elif action < 0.9:
        run.ask("LeaveGroup", chosen.client_id or "", leavers=(Leaver(chosen.member_id),))
    elif action < 0.93:
        run.ask("DeleteGroups", "admin")
    elif action < 0.96:
        run.move_to_other_broker()
    run.wait(dice.choice((0.0, 0.4, 1.0, 3.0, 40.0, 900.0, 4_000.0, 12_000.0)))


def history(seed: int, steps: int, version: str, lost: float, is_falsified: bool) -> Evidence:
    """Return one history; `lost` is the share of its evidence that is missing."""
    dice = random.Random(seed)
    run = _Coordinator(dice, version)
    for _ in range(steps):
        _step(run, dice)
    kept = [[row for row in rows if dice.random() >= lost] for rows in (run.records, run.events, run.requests)]
    if is_falsified:
        for row in kept[2]:
            if dice.random() < 0.05:
                row.error_code = dice.choice((0, 14, 15, 16, 22, 25, 27, 79, 81))
    return kept[0], kept[1], kept[2]  # type: ignore[return-value]


def moment(row: EvidenceRow) -> float:
    """When a row stands in the order, as its columns say."""
    if isinstance(row, GroupRequestRow):
        return row.handled_at or 0.0
    return (row.logged_at if isinstance(row, CoordinatorEventRow) else row.recorded_at) or 0.0


def histories() -> st.SearchStrategy[Evidence]:
    """Random histories, calm and damaged."""
    return st.builds(
        history,
        st.integers(0, 2**32),
        st.integers(1, 80),
        st.sampled_from(VERSIONS),
        st.sampled_from([0.0, 0.0, 0.1, 0.5]),
        st.booleans(),
    )
