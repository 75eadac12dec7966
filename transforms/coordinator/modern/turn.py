"""One request's turn at a modern group: the group as it is, and the records that the request is about to write.

A coordinator looks at the group as it was before the request until all its records are there, and only then takes
them to the group. So the functions that work on a turn read `group` and write `records`.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from transforms.coordinator.modern.group import ModernGroup
from transforms.coordinator.modern.records import Record, TargetEpoch
from transforms.coordinator.modern.world import World


class Deadline(Struct, frozen=True, gc=False, array_like=True):
    """When a member is fenced, unless something happens before; and the epoch that it had then."""

    at: float
    epoch: int = 0


class ModernMemory(Struct, array_like=True):
    """What a coordinator knows of a group beside its records, and forgets when it goes.

    Attributes:
        must_refresh: topics of the group may have changed: the next heartbeat looks.
    """

    must_refresh: bool = True


Group = TypeVar("Group", bound=ModernGroup[Any, Any])
Memory = TypeVar("Memory", bound=ModernMemory)


class ModernTurn(Struct, Generic[Group, Memory], gc=False):
    """One request's turn.

    Attributes:
        group: the group before; a new one, without a record yet, has epoch 0.
        records: what is to be written, in order.
    """

    group: Group
    world: World
    memory: Memory
    records: list[Record[Struct]] = field(default_factory=list)

    def write_target_epoch(self, epoch: int) -> None:
        """Write the epoch of the targets."""
        self.records.append(Record(self.group.TYPES.target_epoch, value=TargetEpoch(epoch)))

    def forget_member(self, member_id: str) -> None:
        """Delete what is written of a member."""
        types = self.group.TYPES
        self.records += [Record(each, member_id) for each in (types.current, types.target, types.member)]

    def forget_group(self) -> None:
        """Delete all that is written of the group; each protocol has its own order."""
        raise NotImplementedError
