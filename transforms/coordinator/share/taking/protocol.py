"""Share groups as groups of epochs (KIP-932)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from transforms.coordinator.epochs.protocol import Glimpse, Part, parts_of
from transforms.coordinator.modern.causes import Cause
from transforms.coordinator.modern.records import Record
from transforms.coordinator.share.causes import cause_of
from transforms.coordinator.share.group import Group
from transforms.coordinator.share.machine import Machine
from transforms.coordinator.share.records import STATE_PARTITIONS, TYPES, read


class ShareEpochs:
    """The protocol, as `epochs` asks of it."""

    group_type: Final = "share"
    types: Final = TYPES
    type_ids: Final = frozenset({*TYPES.numbers, STATE_PARTITIONS})
    ranks: Final[Mapping[int, int]] = {}
    first_epoch: Final = 1

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
        metadata = member.metadata
        return Glimpse(
            member_id,
            member.epoch,
            client_id=metadata.client_id,
            client_host=metadata.client_host,
            topics=tuple(sorted(set(member.topics))),
            owned=parts_of(member.standing.assigned),
        )

    def target(self, group: Group, member_id: str) -> tuple[Part, ...]:
        """Return what a member is to have."""
        return parts_of(group.targets.get(member_id, {}))

    def assignor(self, group: Group) -> str | None:
        """Nobody is asked for a wish."""
        return None

    def is_settled(self, group: Group) -> bool:
        """Whether all members have taken the newest target."""
        is_planned = group.assignment_epoch == group.epoch
        return is_planned and all(member.epoch == group.epoch for member in group.members.values())


PROTOCOL: Final = ShareEpochs()
