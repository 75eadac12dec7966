"""What the machines of all modern protocols do alike: take records, and take what a turn writes.

Each protocol's `Machine` says what a request is answered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.administering import Description, described, not_of_that_type
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.group import ModernGroup, apply
from transforms.coordinator.modern.records import CLASSIC_GROUP, Record
from transforms.coordinator.modern.requests import Answer
from transforms.coordinator.modern.turn import ModernMemory, ModernTurn
from transforms.coordinator.modern.world import ModernSettings, World

Said = TypeVar("Said", bound=Struct)
Group = TypeVar("Group", bound=ModernGroup[Any, Any])
Turn = TypeVar("Turn", bound=ModernTurn[Any, Any])


class Outcome(Struct, Generic[Said], frozen=True, gc=False):
    """What comes of a request.

    Attributes:
        answer: what it is answered; None = it is another coordinator's to answer.
        records: what it writes, in order.
    """

    answer: Said | None = None
    records: list[Record[Struct]] = []


class ModernMachine(Struct, Generic[Group, Turn], array_like=True):
    """One group id as a group of one protocol; a plain value that can be written down between two requests.

    Attributes:
        TYPE: type of its groups.
        GROUP: the group of that protocol.
        TURN: its turn.
        present: the group; None where the id is no group of that protocol.
        memory: what the coordinator knows beside the records.
    """

    TYPE: ClassVar[GroupType]
    GROUP: ClassVar[type[Any]]
    TURN: ClassVar[type[Any]]

    present: Group | None
    memory: ModernMemory

    def turn(self, world: World) -> Turn:
        """Return a turn at the group, or at a new one."""
        turn: Turn = self.TURN(self.present or self.GROUP(), world, self.memory)
        return turn

    def take(self, records: Iterable[Record[Struct]], at: float = 0.0) -> None:
        """Take records, written at a moment (epoch ms), to the group."""
        for record in records:
            if record.type_id == CLASSIC_GROUP:
                continue
            was_there = self.present is not None
            self.present = apply(self.present, record, self.GROUP, at)
            if self.present is None and was_there:
                self.memory = type(self.memory)()

    def topics_changed(self, names: Iterable[str]) -> None:
        """Take note that topics were created, changed or deleted: the next heartbeat looks at them."""
        if self.present is not None:
            needed = self.present.needed_topics()
            self.memory.must_refresh |= any(name in needed for name in names)

    def take_turn(self, turn: Turn, answer: Said | None = None) -> Outcome[Said]:
        """Take what a turn writes to the group, and return what comes of it."""
        self.take(turn.records, turn.world.now)
        return Outcome(answer, turn.records)

    def delete(self, world: World, elsewhere: GroupType = GroupType.ABSENT) -> Outcome[Answer]:
        """Handle a DeleteGroups, or the group's expiry; of a share group, once its share state is gone.

        Args:
            world: what surrounds the group.
            elsewhere: what the group id is, where it is no group of the protocol: that of another is not its to delete.
        """
        if self.present is None:
            return Outcome(Answer(Error.GROUP_ID_NOT_FOUND) if elsewhere is GroupType.ABSENT else None)
        if self.present.members:
            return Outcome(Answer(Error.NON_EMPTY_GROUP))
        turn = self.turn(world)
        turn.forget_group()
        return self.take_turn(turn, Answer())

    # --- administrators ----------------------------------------------------------------------------------------

    def describe(
        self,
        asked: GroupType,
        api_version: int = 0,
        elsewhere: GroupType = GroupType.ABSENT,
        settings: ModernSettings = ModernSettings(),  # noqa: B008 (frozen)
    ) -> Description | None:
        """Return what a describe is told; None where it asks for another coordinator's own group.

        Args:
            asked: the type of group that it asks for; CLASSIC = DescribeGroups.
            api_version: version of the request.
            elsewhere: what the group id is, where it is no group of the protocol.
            settings: of the broker.
        """
        there = elsewhere if self.present is None else self.TYPE
        if asked is not there:
            return not_of_that_type(asked, api_version)
        return None if self.present is None else described(self.present, self.assignor(settings))

    def assignor(self, settings: ModernSettings) -> str:
        """Return by which assignor the next targets would be computed, as a describe has it; "" = it has none."""
        return ""

    def delete_offsets(self, topic: str, elsewhere: GroupType = GroupType.ABSENT) -> Answer | None:
        """Return what an OffsetDelete is answered of a topic's partitions: those that are subscribed to are kept.

        Args:
            topic: the topic.
            elsewhere: what the group id is, where it is no group of the protocol: offsets of another are that one's to
                keep. Where there is none at all, offsets are those of consumers that assign themselves.
        """
        if self.present is None:
            return Answer() if elsewhere is GroupType.ABSENT else None
        is_kept = self.present.is_subscribed_to(topic)
        return Answer(Error.GROUP_SUBSCRIBED_TO_TOPIC) if is_kept else Answer()
