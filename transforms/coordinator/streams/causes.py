"""Why a streams group's epoch was bumped: read from the operation that did it and the group before."""

from __future__ import annotations

from collections.abc import Sequence

from transforms.coordinator.modern.causes import Cause, Trigger
from transforms.coordinator.modern.records import CLASSIC_GROUP
from transforms.coordinator.streams.group import Group
from transforms.coordinator.streams.records import EPOCH, MEMBER, GroupMetadata, StreamsRecord


def cause_of(before: Group | None, operation: Sequence[StreamsRecord]) -> Cause | None:
    """Return why an operation bumps the group's epoch; None if it does not.

    Whatever a known member says anew of itself bumps it: its process, its tags, its timeout. A conversion counts as a
    cause of its own: an empty classic group gives way to a streams group.
    """
    bump = next(
        (each.value for each in operation if each.type_id == EPOCH and isinstance(each.value, GroupMetadata)), None
    )
    if bump is None:
        return None
    if before is None and any(each.type_id == CLASSIC_GROUP for each in operation):
        return Cause(Trigger.CONVERTED)
    members = {} if before is None else before.members
    for record in operation:
        if record.type_id == MEMBER:
            if record.value is None:
                return Cause(Trigger.MEMBER_REMOVED, record.name)
            is_known = record.name in members
            return Cause(Trigger.SUBSCRIPTION_CHANGED if is_known else Trigger.MEMBER_JOINED, record.name)
    if before is not None and bump.metadata_hash != before.metadata_hash:
        return Cause(Trigger.TOPIC_METADATA_CHANGED)
    if before is not None and bump.validated_topology_epoch != before.validated_epoch:
        return Cause(Trigger.TOPOLOGY_CHANGED)
    return Cause(Trigger.UNKNOWN)
