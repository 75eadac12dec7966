"""The state machine of one streams group: what each request is answered in each state, and what it writes.

Theory of operation. As a consumer group, with three roles of tasks and a topology: the first member that joins brings
it, and it holds for ever. While it cannot be run, as topics are missing, members come and go and have nothing to do
(NotReady). The first targets of a group that was empty wait for more members for a while (`delayed_until`).

| the group id is | StreamsGroupHeartbeat | a request of the classic protocol |
|---|---|---|
| absent | GROUP_ID_NOT_FOUND; a join makes the group | the classic coordinator's |
| Empty | UNKNOWN_MEMBER_ID; a join makes it go on | a JoinGroup makes it classic, or vanish; else UNKNOWN_MEMBER_ID |
| in any other state | by epoch; it leads its member on | INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID |
| an empty classic group | a join converts it | the classic coordinator's |
| any other group | GROUP_ID_NOT_FOUND | its own coordinator's |

Source: GroupMetadataManager.streamsGroupHeartbeat (4.2), KIP-1071.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from msgspec import Struct, field

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.elsewhere import GroupType, answer_of_none, answer_of_share_or_streams
from transforms.coordinator.modern.group import LEFT
from transforms.coordinator.modern.machine import ModernMachine, Outcome
from transforms.coordinator.modern.records import CLASSIC_GROUP, Record
from transforms.coordinator.modern.requests import Answer, Caller, CommitRequest, FetchRequest, JoinRequest
from transforms.coordinator.modern.world import Refused, World
from transforms.coordinator.streams.group import Group, Member
from transforms.coordinator.streams.heartbeat import answer_of, fence, heartbeat
from transforms.coordinator.streams.offsets import check_commit, check_fetch
from transforms.coordinator.streams.records import StreamsRecord
from transforms.coordinator.streams.requests import JOIN, HeartbeatAnswer, HeartbeatRequest, Request
from transforms.coordinator.streams.targets import update_targets
from transforms.coordinator.streams.turn import Memory, Turn


class Elsewhere(Struct, frozen=True, gc=False):
    """What a group id is while it is no streams group, and whether it has no members."""

    group_type: GroupType = GroupType.ABSENT
    is_empty: bool = True


class Machine(ModernMachine[Group, Turn], array_like=True):
    """One group id as a streams group."""

    TYPE: ClassVar = GroupType.STREAMS
    GROUP: ClassVar = Group
    TURN: ClassVar = Turn

    present: Group | None = None
    memory: Memory = field(default_factory=Memory)

    def take(self, records: Iterable[StreamsRecord], at: float = 0.0) -> None:
        """Take records to the group; of a new one nothing is known beside them."""
        for record in records:
            was_there = self.present is not None
            super().take((record,), at)
            if not was_there and self.present is not None:
                self.memory.must_refresh, self.memory.configured = True, None
                self.memory.endpoint_epoch = 0

    # --- requests ----------------------------------------------------------------------------------------------

    def handle(
        self,
        request: Request,
        world: World,
        caller: Caller = Caller(),  # noqa: B008 (frozen)
        elsewhere: Elsewhere = Elsewhere(),  # noqa: B008 (frozen)
        partitions: Iterable[tuple[str, int]] = (),
    ) -> Outcome[HeartbeatAnswer | Answer]:
        """Handle a request.

        Args:
            request: the request.
            world: what surrounds the group at that moment.
            caller: who sent it.
            elsewhere: what the group id is, where it is no streams group.
            partitions: topics and partitions of a commit.
        """
        turn = self.turn(world)
        try:
            answer = self._answer(turn, request, caller, elsewhere, partitions)
        except Refused as refused:
            return Outcome(_refusal(request, refused.error))
        return self.take_turn(turn, answer)

    def observe(
        self,
        request: Request,
        records: Iterable[StreamsRecord],
        world: World,
        caller: Caller = Caller(),  # noqa: B008 (frozen)
        elsewhere: Elsewhere = Elsewhere(),  # noqa: B008 (frozen)
        partitions: Iterable[tuple[str, int]] = (),
    ) -> HeartbeatAnswer | Answer | None:
        """Take a request together with the records that it wrote, and return what it must have been answered.

        Statuses and the endpoints' version are not in it: they rest on topics, and on what no record tells.
        """
        turn = self.turn(world)
        try:
            answer = self._answer(turn, request, caller, elsewhere, partitions)
        except Refused as refused:
            answer = _refusal(request, refused.error)
        member_id = "" if answer is None else answer.member_id or ""
        before = turn.group.members.get(member_id, Member(member_id))
        self.take(records)
        after = None if self.present is None else self.present.members.get(member_id)
        if answer is None or answer.error or after is None or not isinstance(request, HeartbeatRequest):
            return answer
        return answer_of(request, before, after)

    def _answer(
        self,
        turn: Turn,
        request: Request,
        caller: Caller,
        elsewhere: Elsewhere,
        partitions: Iterable[tuple[str, int]],
    ) -> HeartbeatAnswer | Answer | None:
        if isinstance(request, HeartbeatRequest):
            return self._heartbeat(turn, request, caller, elsewhere)
        if self.present is None:
            return answer_of_none(request, caller) if elsewhere.group_type is GroupType.ABSENT else None
        if isinstance(request, CommitRequest):
            check_commit(turn.group, request, caller.api_version, partitions, turn.world.settings.rules)
            return Answer()
        if isinstance(request, FetchRequest):
            check_fetch(turn.group, request)
            return Answer()
        is_empty = not turn.group.members and turn.world.settings.rules.converts_empty_streams
        if isinstance(request, JoinRequest) and is_empty:
            self._give_up_empty(turn, request)
            return None
        return answer_of_share_or_streams(request)

    def _give_up_empty(self, turn: Turn, request: JoinRequest) -> None:
        """Let an empty group become a classic one by a join; one with an id makes it vanish without a record."""
        if request.member_id:
            self.present = None
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        turn.forget_group()

    def _heartbeat(
        self, turn: Turn, request: HeartbeatRequest, caller: Caller, elsewhere: Elsewhere
    ) -> HeartbeatAnswer:
        _check_fields(request)
        if self.present is None:
            is_convertible = elsewhere.is_empty and turn.world.settings.rules.converts_empty_streams
            is_makeable = elsewhere.group_type is GroupType.ABSENT or (
                elsewhere.group_type is GroupType.CLASSIC and is_convertible
            )
            if request.member_epoch != JOIN or not is_makeable:
                raise Refused(Error.GROUP_ID_NOT_FOUND)
            if elsewhere.group_type is GroupType.CLASSIC:
                turn.records.append(Record(CLASSIC_GROUP))
        if request.member_epoch == LEFT:
            if request.shutdown_application:
                turn.memory.shutdown_by = request.member_id
            fence(turn, request.member_id)
            return HeartbeatAnswer(Error.NONE, request.member_id, LEFT)
        return heartbeat(turn, request, caller)

    # --- what happens by itself --------------------------------------------------------------------------------

    def run_out(self, member_id: str, world: World, is_revocation: bool = False) -> Outcome[HeartbeatAnswer | Answer]:
        """Let a member's session run out, or its time to give up what it was told to."""
        memory = self.memory
        member = None if self.present is None else self.present.members.get(member_id)
        deadline = memory.revocations.pop(member_id, None) if is_revocation else None
        if not is_revocation:
            memory.sessions.pop(member_id, None)
        if self.present is None or member is None:
            return Outcome()
        if is_revocation and deadline is not None and deadline.epoch != member.epoch:
            return Outcome()
        turn = self.turn(world)
        fence(turn, member_id)
        return self.take_turn(turn)

    def end_delay(self, world: World) -> Outcome[HeartbeatAnswer | Answer]:
        """Compute the first targets, for which more members were waited for."""
        memory, group = self.memory, self.present
        memory.delayed_until = None
        if group is None or not group.members or memory.configured is None:
            return Outcome()
        if group.epoch <= group.assignment_epoch:
            return Outcome()
        turn = self.turn(world)
        update_targets(turn, group.epoch, group.topology, memory.configured)
        return self.take_turn(turn)


def _refusal(request: Request, error: Error) -> HeartbeatAnswer | Answer:
    return HeartbeatAnswer(error) if isinstance(request, HeartbeatRequest) else Answer(error)


def _check_fields(request: HeartbeatRequest) -> None:
    """Refuse a heartbeat whose fields do not go together, or ask for what there is not yet."""
    is_joining = request.member_epoch == JOIN
    roles = request.listed
    topology = request.topology
    parts = () if topology is None else topology.subtopologies
    asks_too_much = (
        request.instance_id is not None
        or request.task_offsets is not None
        or request.task_end_offsets is not None
        or bool(request.warmup_tasks)
        or any(part.source_topic_regex for part in parts)
    )
    is_incomplete_join = is_joining and (request.rebalance_timeout_ms == -1 or topology is None or any(roles))
    is_invalid = (
        not request.member_id
        or request.rack_id == ""
        or request.member_epoch < LEFT
        or (None in roles and any(role is not None for role in roles))
        or (not is_joining and topology is not None)
    )
    if asks_too_much or is_incomplete_join:
        raise Refused(Error.INVALID_REQUEST)
    if is_joining and any(topic.partitions for part in parts for topic in part.state_changelog_topics):
        raise Refused(Error.STREAMS_INVALID_TOPOLOGY)
    if is_invalid:
        raise Refused(Error.INVALID_REQUEST)
