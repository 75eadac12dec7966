"""States of groups, and of the members of modern ones."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final


class GroupState(str, Enum):
    """State of a classic group, spelled as Kafka's admin API does (ClassicGroupState)."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"

    __hash__ = str.__hash__  # Enum's own is Python, and is asked at every look at the table


# By name, for what is asked at every request: up to Python 3.11, each look into an enum is a call.
EMPTY: Final = GroupState.EMPTY
PREPARING: Final = GroupState.PREPARING
COMPLETING: Final = GroupState.COMPLETING
STABLE: Final = GroupState.STABLE
DEAD: Final = GroupState.DEAD

NAMES: Final[dict[GroupState, str]] = {state: state.value for state in GroupState}
"""As rows have them; to ask a member of an enum for its value is a call, too."""


class ModernState(str, Enum):
    """State of a consumer, share or streams group, spelled as Kafka's admin API does.

    It is never stored: it follows from the group's epochs and members. Dead is in Kafka's own lists and never used.
    """

    EMPTY = "Empty"
    NOT_READY = "NotReady"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"

    __hash__ = str.__hash__


class MemberState(IntEnum):
    """State of a member of a consumer or share group, as its record has it (MemberState).

    UNKNOWN stands for every number that this version does not know; a share group's member is STABLE, always.
    """

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127

    @classmethod
    def _missing_(cls, value: object) -> MemberState:
        return cls.UNKNOWN


class TaskState(IntEnum):
    """State of a member of a streams group, as its record has it (streams.MemberState)."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127

    @classmethod
    def _missing_(cls, value: object) -> TaskState:
        return cls.UNKNOWN
