"""Streams groups as groups of epochs (KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from transforms.coordinator.epochs.protocol import Glimpse, Part, parts_of
from transforms.coordinator.kafka.states import ModernState, TaskState
from transforms.coordinator.modern.causes import Cause
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import Record
from transforms.coordinator.streams.causes import cause_of
from transforms.coordinator.streams.group import Group
from transforms.coordinator.streams.machine import Machine
from transforms.coordinator.streams.records import TOPOLOGY, TYPES, read
from transforms.coordinator.streams.tasks import Tasks

_WAITING = {TaskState.UNREVOKED_TASKS, TaskState.UNRELEASED_TASKS}


class StreamsEpochs:
    """The protocol, as `epochs` asks of it."""

    group_type: Final = "streams"
    types: Final = TYPES
    type_ids: Final = frozenset({*TYPES.numbers, TOPOLOGY})
    ranks: Final[Mapping[int, int]] = {}
    first_epoch: Final = 2

    def read(self, type_id: int, name: str, body: str | None) -> Record[Struct]:
        """Read a record out of the JSON of its fields; None = a tombstone."""
        return read(type_id, name, body)

    def machine(self) -> Machine:
        """Return the machine of a group of which nothing is known."""
        return Machine()

    def cause_of(self, before: Group | None, operation: Sequence[Record[Struct]]) -> Cause | None:
        """Return why an operation bumps the epoch of a group; None if it does not."""
        return cause_of(before, operation)

    def glimpse(self, group: Group, member_id: str) -> Glimpse | None:
        """Return a member of a group as it stands."""
        member = group.members.get(member_id)
        if member is None:
            return None
        metadata, standing = member.metadata, member.standing
        return Glimpse(
            member_id,
            standing.epoch,
            standing.state.name if standing.state in _WAITING else None,
            metadata.instance_id,
            metadata.client_id,
            metadata.client_host,
            rebalance_timeout_ms=None if metadata.rebalance_timeout_ms < 0 else metadata.rebalance_timeout_ms,
            owned=_parts(standing.assigned.tasks),
            revoking=_parts(standing.revoking.tasks),
        )

    def target(self, group: Group, member_id: str) -> tuple[Part, ...]:
        """Return what a member is to have."""
        return _parts(group.targets.get(member_id, Tasks()))

    def assignor(self, group: Group) -> str | None:
        """Nobody is asked for a wish."""
        return None

    def computed_by(
        self, group: Group, had: Mapping[str, Partitions], names: Mapping[str, str], elected: str | None
    ) -> str | None:
        """There is one assignor only."""
        return None

    def is_settled(self, group: Group) -> bool:
        """Whether all members have got to the newest target."""
        return group.state is ModernState.STABLE


def _parts(tasks: Tasks) -> tuple[Part, ...]:
    active, standby = parts_of(tasks.active, "active"), parts_of(tasks.standby, "standby")
    return (*active, *standby, *parts_of(tasks.warmup, "warmup"))


PROTOCOL: Final = StreamsEpochs()
