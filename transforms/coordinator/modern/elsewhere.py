"""What a request is answered at a group id that is another type of group, or none.

A request goes by the group id alone. So each coordinator of a type of group is also asked for groups that are not
its own, and answers without looking further. Source: GroupMetadataManager.classicGroup…, OffsetMetadataManager,
OffsetCommit and OffsetFetch of ShareGroup (4.2).
"""

from __future__ import annotations

from enum import Enum

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.requests import (
    Answer,
    Caller,
    CommitRequest,
    FetchRequest,
    JoinRequest,
)

_ABSENCE_IS_SAID = 9
"""Version of OffsetCommit since which a group that is not there is said to be not there."""


class GroupType(str, Enum):
    """Type of a group, as Kafka's admin API spells it; ABSENT = there is no group of that id."""

    ABSENT = "absent"
    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"

    __hash__ = str.__hash__


def answer_of_none(request: object, caller: Caller) -> Answer | None:
    """Return what is answered where there is no group; None: the request makes one, or is the classic coordinator's."""
    if isinstance(request, JoinRequest):
        return Answer(Error.UNKNOWN_MEMBER_ID) if request.member_id else None
    if isinstance(request, CommitRequest):
        if request.generation_id_or_member_epoch < 0:
            return None
        is_said = caller.api_version >= _ABSENCE_IS_SAID and not request.is_transactional
        return Answer(Error.GROUP_ID_NOT_FOUND if is_said else Error.ILLEGAL_GENERATION)
    if isinstance(request, FetchRequest):
        return Answer()
    return Answer(Error.UNKNOWN_MEMBER_ID)


def answer_of_share_or_streams(request: object) -> Answer:
    """Return what a request of the classic protocol is answered by a share group, or a streams group with members."""
    if isinstance(request, JoinRequest):
        return Answer(Error.INCONSISTENT_GROUP_PROTOCOL)
    return Answer(Error.UNKNOWN_MEMBER_ID)


def answer_of_share(request: CommitRequest | FetchRequest) -> Answer:
    """Return what a request about offsets is answered by a share group: it keeps its own, elsewhere."""
    return Answer(Error.GROUP_ID_NOT_FOUND) if isinstance(request, CommitRequest) else Answer()
