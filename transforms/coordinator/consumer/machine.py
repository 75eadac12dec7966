"""The state machine of one consumer group: what each request is answered in each state, and what it writes.

Theory of operation. A consumer group has no state of its own making: what it is follows from its records (`group`).
A request is handled in one turn: it is refused and changes nothing, or it is answered, and the records that it writes
are taken to the group. So a replay that has the records needs no more than `take`, and one that has the requests can
foresee both answer and records by `handle`. What a request meets is one of these:

| the group id is | a request of a consumer member | a request of the classic protocol |
|---|---|---|
| absent | GROUP_ID_NOT_FOUND; a join makes the group | the classic coordinator's |
| Empty | UNKNOWN_MEMBER_ID; a join makes it go on | a JoinGroup makes it classic; else UNKNOWN_MEMBER_ID |
| Assigning, Reconciling, Stable | by epoch and instance; a heartbeat leads its member on | as in `classic_protocol` |
| a classic group | GROUP_ID_NOT_FOUND; a join converts it, where that may be | the classic coordinator's |
| a share or streams group | GROUP_ID_NOT_FOUND | its own coordinator's |

Assigning, Reconciling and Stable make no difference to what is answered: the epochs do. A heartbeat in an Assigning
group computes the targets; one in a Reconciling group leads its member on, if it is not there yet.
Source: GroupMetadataManager (4.2), KIP-848.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from transforms.coordinator.consumer import classic_protocol, offsets
from transforms.coordinator.consumer.bumps import resolve_regexes
from transforms.coordinator.consumer.conversion import ClassicBefore, upgrade
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.heartbeat import answer_of, heartbeat
from transforms.coordinator.consumer.joining import check_fields
from transforms.coordinator.consumer.leaving import leave, remove, time_out
from transforms.coordinator.consumer.records import ConsumerRecord
from transforms.coordinator.consumer.requests import JOIN, HeartbeatRequest, Request
from transforms.coordinator.consumer.targets import fails_for_topics, preferred_assignor
from transforms.coordinator.consumer.turn import Memory, TimerKind, Turn
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.elsewhere import (
    GroupType,
    answer_of_none,
    answer_of_share,
    answer_of_share_or_streams,
)
from transforms.coordinator.modern.group import LEFT, LEFT_FOR_A_WHILE
from transforms.coordinator.modern.machine import ModernMachine, Outcome
from transforms.coordinator.modern.records import CLASSIC_GROUP, Record
from transforms.coordinator.modern.requests import (
    Answer,
    Caller,
    ClassicHeartbeatRequest,
    ClassicRequest,
    CommitRequest,
    FetchRequest,
    JoinRequest,
    LeaveRequest,
    SyncRequest,
)
from transforms.coordinator.modern.world import ModernSettings, Refused, World


class Elsewhere(Struct, frozen=True, gc=False):
    """What a group id is while it is no consumer group.

    Attributes:
        is_empty: it has no members.
        classic: the classic group, where it may be converted.
    """

    group_type: GroupType = GroupType.ABSENT
    is_empty: bool = True
    classic: ClassicBefore | None = None


class Machine(ModernMachine[Group, Turn], array_like=True):
    """One group id as a consumer group."""

    TYPE: ClassVar = GroupType.CONSUMER
    GROUP: ClassVar = Group
    TURN: ClassVar = Turn

    present: Group | None = None
    memory: Memory = field(default_factory=Memory)

    # --- requests ----------------------------------------------------------------------------------------------

    def handle(
        self,
        request: Request,
        world: World,
        caller: Caller = Caller(),  # noqa: B008 (frozen)
        elsewhere: Elsewhere = Elsewhere(),  # noqa: B008 (frozen)
        given_id: str = "",
    ) -> Outcome[Answer]:
        """Handle a request.

        Args:
            request: the request.
            world: what surrounds the group at that moment.
            caller: who sent it.
            elsewhere: what the group id is, where it is no consumer group.
            given_id: the id that the broker makes up for a joiner without one; random, so it is foreseen by nobody.
        """
        turn = self.turn(world)
        try:
            answer = self._answer(turn, request, caller, elsewhere, given_id)
        except Refused as refused:
            return Outcome(Answer(refused.error))
        return self.take_turn(turn, answer)

    def observe(
        self,
        request: Request,
        records: Sequence[ConsumerRecord],
        world: World,
        caller: Caller = Caller(),  # noqa: B008 (frozen)
        elsewhere: Elsewhere = Elsewhere(),  # noqa: B008 (frozen)
        given_id: str = "",
    ) -> Answer | None:
        """Take a request together with the records that it wrote, and return what it must have been answered.

        So nothing need be known of the cluster's topics, of which the records of groups say nothing: whether a
        request is refused follows from the group alone, and what else is answered from the group afterwards.

        Args:
            request: the request.
            records: what it wrote; nothing, if it was refused.
            world: what surrounds the group at that moment, as far as it is known.
            caller: who sent it.
            elsewhere: what the group id is, where it is no consumer group.
            given_id: the id that the broker made up for a joiner without one.
        """
        turn = self.turn(world)
        try:
            answer = self._answer(turn, request, caller, elsewhere, given_id)
        except Refused as refused:
            answer = Answer(refused.error)
        if not records and answer is not None and not answer.error and fails_for_topics(turn):
            return Answer(Error.UNKNOWN_SERVER_ERROR)
        member_id = "" if answer is None else answer.member_id or ""
        before = turn.group.members.get(member_id, Member(member_id))
        self.take(records)
        after = None if self.present is None else self.present.members.get(member_id)
        if answer is None or answer.error or after is None:
            return answer
        if isinstance(request, HeartbeatRequest) and request.member_epoch >= JOIN:
            return answer_of(request, before, after, world.settings.rules)
        return replace(answer, epoch=after.epoch) if isinstance(request, JoinRequest) else answer

    def _answer(
        self, turn: Turn, request: Request, caller: Caller, elsewhere: Elsewhere, given_id: str
    ) -> Answer | None:
        if isinstance(request, HeartbeatRequest):
            return self._heartbeat(turn, request, caller, elsewhere, given_id)
        if self.present is None:
            return _answer_elsewhere(request, caller, elsewhere)
        if isinstance(request, CommitRequest):
            offsets.check_commit(turn.group, request, caller.api_version, turn.world.settings)
            return Answer()
        if isinstance(request, FetchRequest):
            offsets.check_fetch(turn.group, request)
            return Answer()
        return self._answer_classic(turn, request, caller, given_id)

    def _answer_classic(self, turn: Turn, request: ClassicRequest, caller: Caller, given_id: str) -> Answer | None:
        if not turn.world.settings.rules.converts:
            raise Refused(Error.GROUP_ID_NOT_FOUND)
        if not turn.group.members and isinstance(request, JoinRequest):
            return self._give_up_empty(turn, request)
        if isinstance(request, JoinRequest):
            return classic_protocol.join(turn, request, caller, given_id)
        if isinstance(request, SyncRequest):
            return classic_protocol.sync(turn, request)
        if isinstance(request, ClassicHeartbeatRequest):
            return classic_protocol.keep_alive(turn, request)
        if isinstance(request, LeaveRequest):
            return remove(turn, request)
        raise TypeError(f"no request to a consumer group: {request!r}")

    def _heartbeat(
        self, turn: Turn, request: HeartbeatRequest, caller: Caller, elsewhere: Elsewhere, given_id: str
    ) -> Answer:
        check_fields(request, caller.api_version, turn.world.settings)
        if self.present is None:
            _make_group(turn, request, elsewhere)
        if request.member_epoch in (LEFT, LEFT_FOR_A_WHILE):
            return leave(turn, request)
        return heartbeat(turn, request, caller, given_id)

    def _give_up_empty(self, turn: Turn, request: JoinRequest) -> Answer | None:
        """Let an empty group become a classic one by a join; one with an id makes it vanish without a record."""
        if request.member_id:
            self.present = None
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        turn.forget_group()
        return None

    def assignor(self, settings: ModernSettings) -> str:
        """Return by which assignor the next targets would be computed: the one that most members wish for."""
        nobody = Member("")
        wished = None if self.present is None else preferred_assignor(self.present, nobody, nobody)
        return wished or settings.assignors[0]

    # --- what happens by itself --------------------------------------------------------------------------------

    def run_out(self, kind: TimerKind, member_id: str, world: World) -> Outcome[Answer]:
        """Let a member's timer run out."""
        if self.present is None:
            return Outcome()
        deadline = self.memory.deadlines.pop((kind, member_id), None)
        turn = self.turn(world)
        time_out(turn, kind, member_id, deadline)
        return self.take_turn(turn)

    def resolve(self, world: World) -> Outcome[Answer]:
        """Let the regular expressions be resolved that wait for it."""
        if self.present is None:
            return Outcome()
        turn = self.turn(world)
        resolve_regexes(turn)
        return self.take_turn(turn)


def _answer_elsewhere(request: Request, caller: Caller, elsewhere: Elsewhere) -> Answer | None:
    """Answer a request where the group id is no consumer group; None where that is for its own coordinator to do."""
    if elsewhere.group_type is GroupType.ABSENT:
        return answer_of_none(request, caller)
    if elsewhere.group_type is GroupType.CLASSIC:
        return None
    if not isinstance(request, CommitRequest | FetchRequest):
        return answer_of_share_or_streams(request)
    return answer_of_share(request) if elsewhere.group_type is GroupType.SHARE else None


def _make_group(turn: Turn, request: HeartbeatRequest, elsewhere: Elsewhere) -> None:
    """Let a join make the group, out of a classic one if need be."""
    if request.member_epoch != JOIN:
        raise Refused(Error.GROUP_ID_NOT_FOUND)
    if elsewhere.group_type is GroupType.ABSENT:
        return
    if elsewhere.group_type is not GroupType.CLASSIC or not turn.world.settings.rules.converts:
        raise Refused(Error.GROUP_ID_NOT_FOUND)
    if elsewhere.is_empty:
        turn.records.append(Record(CLASSIC_GROUP))
    elif elsewhere.classic is None:
        raise Refused(Error.GROUP_ID_NOT_FOUND)
    else:
        upgrade(turn, elsewhere.classic)
