"""The state machine of one share group: what each request is answered in each state, and what it writes.

Theory of operation. Members of a share group take the target as it is at their next heartbeat and give nothing back,
so there is nothing to wait for: a group is Empty or Stable, and a request is judged by the member's epoch alone. What
takes two steps are the partitions: only those may be assigned whose share state is ready, so a heartbeat that finds a
new one asks for it (record 15), and the first heartbeat after that is done bumps the epoch again.

| the group id is | ShareGroupHeartbeat | any request of the classic protocol |
|---|---|---|
| absent | GROUP_ID_NOT_FOUND; a join makes the group | the classic coordinator's |
| Empty or Stable | by epoch | refused: INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID, GROUP_ID_NOT_FOUND |
| any other group | GROUP_ID_NOT_FOUND | its own coordinator's |

Source: GroupMetadataManager.shareGroupHeartbeat, ShareGroupAssignmentBuilder (4.2), KIP-932.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from msgspec import field

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.elsewhere import (
    GroupType,
    answer_of_none,
    answer_of_share,
    answer_of_share_or_streams,
)
from transforms.coordinator.modern.group import LEFT
from transforms.coordinator.modern.machine import ModernMachine, Outcome
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.requests import Answer, Caller, CommitRequest, FetchRequest, JoinRequest
from transforms.coordinator.modern.world import ModernSettings, Refused, World
from transforms.coordinator.share.group import Group, Member
from transforms.coordinator.share.heartbeat import answer_of, fence, heartbeat
from transforms.coordinator.share.initialising import initialised, not_initialised
from transforms.coordinator.share.records import ShareRecord
from transforms.coordinator.share.requests import JOIN, HeartbeatRequest, Request
from transforms.coordinator.share.turn import Memory, Turn

_LONGEST_ID = 36


class Machine(ModernMachine[Group, Turn], array_like=True):
    """One group id as a share group."""

    TYPE: ClassVar = GroupType.SHARE
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
        elsewhere: GroupType = GroupType.ABSENT,
    ) -> Outcome[Answer]:
        """Handle a request.

        Args:
            request: the request.
            world: what surrounds the group at that moment.
            caller: who sent it.
            elsewhere: what the group id is, where it is no share group.
        """
        turn = self.turn(world)
        try:
            answer = self._answer(turn, request, caller, elsewhere)
        except Refused as refused:
            return Outcome(Answer(refused.error))
        return self.take_turn(turn, answer)

    def observe(
        self,
        request: Request,
        records: Iterable[ShareRecord],
        world: World,
        caller: Caller = Caller(),  # noqa: B008 (frozen)
        elsewhere: GroupType = GroupType.ABSENT,
    ) -> Answer | None:
        """Take a request together with the records that it wrote, and return what it must have been answered."""
        turn = self.turn(world)
        try:
            answer = self._answer(turn, request, caller, elsewhere)
        except Refused as refused:
            answer = Answer(refused.error)
        member_id = "" if answer is None else answer.member_id or ""
        before = turn.group.members.get(member_id, Member(member_id))
        self.take(records, world.now)
        after = None if self.present is None else self.present.members.get(member_id)
        if answer is None or answer.error or after is None or not isinstance(request, HeartbeatRequest):
            return answer
        return answer_of(request, before, after, world.settings.rules)

    def _answer(self, turn: Turn, request: Request, caller: Caller, elsewhere: GroupType) -> Answer | None:
        if isinstance(request, HeartbeatRequest):
            return self._heartbeat(turn, request, caller, elsewhere)
        if self.present is not None:
            if isinstance(request, CommitRequest | FetchRequest):
                return answer_of_share(request)
            if isinstance(request, JoinRequest) and not turn.world.settings.rules.knows_other_types:
                raise Refused(Error.GROUP_ID_NOT_FOUND)
            return answer_of_share_or_streams(request)
        return answer_of_none(request, caller) if elsewhere is GroupType.ABSENT else None

    def _heartbeat(self, turn: Turn, request: HeartbeatRequest, caller: Caller, elsewhere: GroupType) -> Answer:
        is_joining = request.member_epoch == JOIN
        needs_id = turn.world.settings.rules.needs_share_member_id or not is_joining
        is_invalid = (
            (needs_id and not request.member_id)
            or len(request.member_id) > _LONGEST_ID
            or request.rack_id == ""
            or request.member_epoch < LEFT
            or (is_joining and not request.subscribed_topic_names)
        )
        if is_invalid:
            raise Refused(Error.INVALID_REQUEST)
        if self.present is None and (elsewhere is not GroupType.ABSENT or not is_joining):
            raise Refused(Error.GROUP_ID_NOT_FOUND)
        if request.member_epoch == LEFT:
            fence(turn, request.member_id)
            return Answer(Error.NONE, request.member_id, LEFT)
        return heartbeat(turn, request, caller)

    # --- what happens by itself --------------------------------------------------------------------------------

    def run_out(self, member_id: str, world: World) -> Outcome[Answer]:
        """Let a member's session run out."""
        self.memory.deadlines.pop(member_id, None)
        if self.present is None or member_id not in self.present.members:
            return Outcome()
        turn = self.turn(world)
        fence(turn, member_id)
        return self.take_turn(turn)

    def share_state_made(self, partitions: Partitions, world: World) -> Outcome[Answer]:
        """Take note that the share state of partitions is ready."""
        return self._write(initialised(self.present, partitions, world), world)

    def share_state_failed(self, partitions: Partitions, world: World) -> Outcome[Answer]:
        """Take note that the share state of partitions could not be made ready; a later heartbeat tries again."""
        return self._write(not_initialised(self.present, partitions), world)

    def _write(self, record: ShareRecord | None, world: World) -> Outcome[Answer]:
        records = [] if record is None else [record]
        self.take(records, world.now)
        return Outcome(None, records)

    # --- administrators ----------------------------------------------------------------------------------------

    def assignor(self, settings: ModernSettings) -> str:
        """Return by which assignor the next targets would be computed: there is but one (group.share.assignors)."""
        return "simple"

    def delete_offsets(self, topic: str, elsewhere: GroupType = GroupType.ABSENT) -> Answer | None:
        """Return what an OffsetDelete is answered: a share group keeps its offsets elsewhere."""
        is_own = self.present is not None
        return Answer(Error.GROUP_ID_NOT_FOUND) if is_own else super().delete_offsets(topic, elsewhere)
