"""A request to a group of epochs with all that surrounds it, and what the group answers to it in one of its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from transforms.coordinator.epochs.converting import ClassicThere, refusal
from transforms.coordinator.epochs.nearby import Claim, Moment, Speaker, Surroundings
from transforms.coordinator.epochs.predicted import Predicted, agrees, predicted_of
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.epochs.recall import Recall
from transforms.coordinator.epochs.requests import caller_of
from transforms.coordinator.evidence.exchanges import Observed
from transforms.coordinator.evidence.ownership import Ownership
from transforms.coordinator.evidence.tolerances import SAME_MOMENT_MS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.apis import DELETE_GROUPS, MODERN_HEARTBEATS
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.requests import Answer
from transforms.coordinator.modern.world import World

_LOOKED_AT_LAST = frozenset({Error.NONE, Error.INVALID_REGULAR_EXPRESSION})
"""What a join is answered for its own sake, once the group that its id names was found to be one that it can join."""


class Asked(Struct, frozen=True, gc=False):
    """A request and what surrounds it.

    Attributes:
        request: as the machine takes it.
        near: what was written around it.
        speaker: who sent it.
        moment: when, by the order of its connection, and what was written before it by those who sent it.
        claimed: by member, the moment and place of what its requests before wrote last.
        elsewhere: what the group id is, where it is no group of the protocol; None = not known.
        classic: the classic group, where the group id is one.
        failures: when targets could not be computed, and of which epoch, as lines tell.
        is_release_told: the broker told its version; else it may be an earlier one than it is taken for.
        ownership: which broker coordinated the group when.
        recall: answers of the group as it is by the records that were taken.
        topic_names: names of topics by their ids, as far as they are known.
        session_bounds: as `unasked` has them.
        unwritten: members that the broker has in memory alone.
        shows_assignor: whether the broker has the assignor that is wished for, nothing but the answer shows.
    """

    exchange: Observed
    request: Any
    near: Surroundings
    world: World
    speaker: Speaker
    moment: Moment
    claimed: dict[str, Claim]
    elsewhere: GroupType | None = GroupType.ABSENT
    classic: ClassicThere = ClassicThere()
    failures: Sequence[tuple[float, int]] = ()
    is_release_told: bool = True
    ownership: Ownership = field(default_factory=Ownership)
    recall: Recall = field(default_factory=Recall)
    topic_names: Mapping[str, str] = {}
    session_bounds: tuple[int, int] | None = None
    unwritten: tuple[str, ...] = ()
    shows_assignor: bool = False

    def is_agreed(self, protocol: EpochProtocol, predicted: Predicted) -> bool:
        """Whether it was answered all that is predicted."""
        return agrees(protocol, self.exchange, predicted, self.topic_names)


def answer_after(protocol: EpochProtocol, asked: Asked, end: int) -> Predicted | None:
    """Return what a request is answered that wrote nothing, after the first operations, so many of them."""
    near, row = asked.near, asked.exchange.row
    if end != near.taken or near.present is None or asked.failures:
        return answer_of(protocol, asked, near.group_at(protocol, end), ())
    said = (asked.request, asked.world.settings, caller_of(row), row.answered_member_id, asked.unwritten)
    predicted: Predicted | None = asked.recall.answer(
        (protocol.group_type, row.api, row.member_id),
        said,
        lambda: answer_of(protocol, asked, near.group_at(protocol, end), ()),
    )
    return predicted


def answer_of(protocol: EpochProtocol, asked: Asked, group: Any, records: Sequence[Record[Struct]]) -> Predicted | None:
    """Return what a request is answered by a group, which is used up, and that wrote some records."""
    row = asked.exchange.row
    if group is not None and asked.unwritten:
        group = protocol.with_unwritten(group, asked.unwritten)
    state = None if group is None else group.state.value
    if row.api == DELETE_GROUPS and (group is not None or asked.elsewhere is GroupType.ABSENT):
        return predicted_of(Answer(_error_of_deletion(group)), state)
    if group is None and row.api not in MODERN_HEARTBEATS:
        return None  # what is answered where there is no group, the classic coordinator knows
    given = "" if row.member_id else row.answered_member_id or ""
    fails = not records and group is not None and _fails(asked, group)
    answer = protocol.observe(group, asked.request, records, asked.world, caller_of(row), given)
    if answer is not None and group is None and not records and answer.error in _LOOKED_AT_LAST:
        of_other = _of_other_group(asked)
        return predicted_of(answer, None) if of_other is None and answer.error else of_other
    if answer is not None and not answer.error and fails:
        return predicted_of(Answer(Error.UNKNOWN_SERVER_ERROR), state)
    return None if answer is None else predicted_of(answer, state)


def _error_of_deletion(group: Any) -> Error:
    if group is None:
        return Error.GROUP_ID_NOT_FOUND
    return Error.NON_EMPTY_GROUP if group.members else Error.NONE


def _fails(asked: Asked, group: Any) -> bool:
    """Whether a line tells that the targets could not be computed which a request would have led to."""
    exchange, row = asked.exchange, asked.exchange.row
    if not asked.failures:
        return False
    is_leave = row.generation is not None and row.generation < 0
    says_something = row.api == "JoinGroup" or (row.api in MODERN_HEARTBEATS and not is_leave)
    is_due = row.generation == 0 or row.subscribed_topics is not None or group.epoch > group.assignment_epoch
    epochs = {group.epoch, group.epoch + 1}
    return (
        says_something
        and (is_due or row.api == "JoinGroup")
        and any(
            exchange.handled_at - SAME_MOMENT_MS <= at <= exchange.answered_at and epoch in epochs
            for at, epoch in asked.failures
        )
    )


def _of_other_group(asked: Asked) -> Predicted | None:
    """Return what a join is answered that makes no group: the id is another type of group's."""
    api, settings = asked.exchange.row.api, asked.world.settings
    if asked.elsewhere is GroupType.CLASSIC and api == "ConsumerGroupHeartbeat":
        error = refusal(asked.classic, settings)
        return None if error is None else predicted_of(Answer(error), None)
    gives_way = (
        asked.elsewhere is GroupType.CLASSIC
        and api == "StreamsGroupHeartbeat"
        and asked.classic.is_empty
        and settings.rules.converts_empty_streams
    )
    is_known = asked.elsewhere not in (None, GroupType.ABSENT)
    return predicted_of(Answer(Error.GROUP_ID_NOT_FOUND), None) if is_known and not gives_way else None
