"""Why a share group's epoch was bumped: read from the operation that did it and the group before."""

from __future__ import annotations

from collections.abc import Sequence

from transforms.coordinator.modern.causes import Cause, Trigger
from transforms.coordinator.modern.records import GroupEpoch
from transforms.coordinator.share.group import Group
from transforms.coordinator.share.records import EPOCH, MEMBER, MemberMetadata, ShareRecord


def cause_of(before: Group | None, operation: Sequence[ShareRecord]) -> Cause | None:
    """Return why an operation bumps the group's epoch; None if it does not."""
    epoch = next(
        (each.value for each in operation if each.type_id == EPOCH and isinstance(each.value, GroupEpoch)), None
    )
    if epoch is None:
        return None
    members = {} if before is None else before.members
    for record in operation:
        if record.type_id == MEMBER:
            known = members.get(record.name)
            if not isinstance(record.value, MemberMetadata):
                return Cause(Trigger.MEMBER_REMOVED, record.name)
            if known is None:
                return Cause(Trigger.MEMBER_JOINED, record.name)
            if set(known.topics) != set(record.value.subscribed_topic_names):
                return Cause(Trigger.SUBSCRIPTION_CHANGED, record.name)
    if before is not None and epoch.metadata_hash != before.metadata_hash:
        return Cause(Trigger.TOPIC_METADATA_CHANGED)
    return Cause(Trigger.PARTITIONS_INITIALISED)
