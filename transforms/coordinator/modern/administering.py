"""What administrators ask of a modern group, and are told: what it is, and whether its offsets may be deleted.

A describe goes by the group id alone and asks for one type of group; a group of another type is not found, as if there
were none. Source: GroupMetadataManager.consumerGroupDescribe, shareGroupDescribe, streamsGroupDescribe, describeGroups,
OffsetMetadataManager.deleteOffsets, asDescribedGroup of each type of group (4.2).
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.states import ModernState
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.group import ModernGroup

_ABSENCE_IS_SAID = 6
"""Version of DescribeGroups since which a group that is not there is an error, and not just Dead (KIP-1043)."""


class Description(Struct, frozen=True, gc=False):
    """What a group is said to be.

    Attributes:
        state: in Kafka's words; "" where a newer protocol's describe is refused.
        assignor: the server's, by which the next targets would be computed; "" where the describe has none.
        member_ids: in the order in which Kafka goes through them.
    """

    error: Error = Error.NONE
    state: str = ""
    epoch: int = 0
    assignment_epoch: int = 0
    assignor: str = ""
    member_ids: tuple[str, ...] = ()


def described(group: ModernGroup[Any, Any], assignor: str) -> Description:
    """Return a group as a describe of its own type has it, by what is committed."""
    return Description(
        Error.NONE, group.state.value, group.epoch, group.assignment_epoch, assignor, tuple(group.in_order())
    )


def not_of_that_type(asked: GroupType, api_version: int) -> Description:
    """Return what is said where the id is no group of the type that is asked for; CLASSIC is that of DescribeGroups."""
    if asked is not GroupType.CLASSIC:
        return Description(Error.GROUP_ID_NOT_FOUND)
    is_error = api_version >= _ABSENCE_IS_SAID
    return Description(Error.GROUP_ID_NOT_FOUND if is_error else Error.NONE, ModernState.DEAD.value)
