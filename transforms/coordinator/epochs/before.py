"""What is looked at of a group of epochs before an operation changes it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from transforms.coordinator.epochs.protocol import EpochProtocol, Glimpse, Part
from transforms.coordinator.modern.records import Record


class Before(Struct, gc=False):
    """What is looked at of a group before an operation, as far as the operation is about it.

    Attributes:
        seen: members that the operation names.
        members: all of them, if it bumps the epoch or computes targets.
        targets: what each of `members` was to have.
    """

    is_there: bool
    epoch: int
    seen: dict[str, Glimpse]
    targets_seen: dict[str, tuple[Part, ...]]
    members: dict[str, Glimpse]
    targets: dict[str, tuple[Part, ...]]


def named(operation: Sequence[Record[Struct]], protocol: EpochProtocol) -> list[str]:
    """Return the members that an operation is about."""
    types = protocol.types
    of_members = (types.member, types.target, types.current)
    return list(dict.fromkeys(record.name for record in operation if record.type_id in of_members))
