"""Groups of epochs that begin anew although no record says how the one before ended.

A coordinator writes tombstones when a group ends. They may be missing: compacted before they were read, lost with a
failover, or left out of what was copied. But what follows gives it away, as epochs never go back within one life.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.modern.records import Record


def begins_anew(group: Any, operation: Sequence[Record[Struct]], protocol: EpochProtocol) -> bool:
    """Whether an operation is of a group that has begun from nothing since the one that is known.

    A group's own epoch may go back further than its members know: a coordinator that lost the latest records has the
    group as it was before them. Only the first epoch of all says that there was nothing left.

    Args:
        group: the group as it is known.
        operation: the operation, not taken yet.
        protocol: the protocol.
    """
    types = protocol.types
    joiners = {each.name for each in operation if each.type_id == types.member and _is_of_nobody(each.value)}
    for record in operation:
        value: Any = record.value
        if value is None:
            continue
        if record.type_id == types.epoch and value.epoch <= protocol.first_epoch and value.epoch < group.epoch:
            return True
        if record.type_id == types.target_epoch and value.assignment_epoch < group.assignment_epoch:
            return True
        if record.type_id == types.current and _falls_back(group, record.name, value.member_epoch, joiners):
            return True
    return False


def _is_of_nobody(metadata: Any) -> bool:
    """Whether somebody comes who cannot take the place of another, with its epoch: who is no instance."""
    return metadata is not None and getattr(metadata, "instance_id", None) is None


def _falls_back(group: Any, member_id: str, epoch: int, joiners: set[str]) -> bool:
    """Whether a member's epoch goes back, or a joiner's is older than the targets: it gets to these at once."""
    member = group.members.get(member_id)
    if epoch <= 0:
        return False
    if member is None or member.epoch == 0:
        return member_id in joiners and epoch < group.assignment_epoch
    return bool(epoch < member.epoch)
