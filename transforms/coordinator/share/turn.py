"""One request's turn at a share group: the group as it is, and the records that the request is about to write."""

from __future__ import annotations

from msgspec import field

from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.turn import ModernMemory, ModernTurn
from transforms.coordinator.share.group import Group
from transforms.coordinator.share.records import EPOCH, STATE_PARTITIONS, TARGET_EPOCH


class Memory(ModernMemory, array_like=True):
    """What a coordinator knows of a share group beside its records.

    Attributes:
        deadlines: when a member's session ends (epoch ms), by member id.
    """

    deadlines: dict[str, float] = field(default_factory=dict)


class Turn(ModernTurn[Group, Memory], gc=False):
    """One request's turn; a member that joins is in the group from the beginning."""

    def forget_group(self) -> None:
        """Delete all that is written of an empty group."""
        self.records += [Record(TARGET_EPOCH), Record(STATE_PARTITIONS), Record(EPOCH)]
