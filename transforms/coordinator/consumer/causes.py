"""Why a consumer group's epoch was bumped: read from the operation that did it and the group before.

Source: the callers of GroupMetadataManager.newConsumerGroupEpochRecord (4.0 to 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence

from transforms.coordinator.consumer.group import Group
from transforms.coordinator.consumer.records import EPOCH, MEMBER, REGEX, ConsumerRecord, MemberMetadata
from transforms.coordinator.modern.causes import Cause, Trigger
from transforms.coordinator.modern.records import GroupEpoch


def cause_of(before: Group | None, operation: Sequence[ConsumerRecord]) -> Cause | None:
    """Return why an operation bumps the group's epoch.

    Args:
        before: the group before the operation; None = there was none.
        operation: records that were written at once; those of a classic group may be among them.

    Returns:
        The cause; None if the operation bumps nothing. A conversion counts as one also where it bumps nothing itself.
    """
    epochs = [record.value for record in operation if record.type_id == EPOCH and isinstance(record.value, GroupEpoch)]
    if not epochs:
        return None
    if before is None and any(record.type_id < EPOCH for record in operation):
        return Cause(Trigger.CONVERTED)
    gone = [record.name for record in operation if record.type_id == MEMBER and record.value is None]
    said = {
        record.name: record.value
        for record in operation
        if record.type_id == MEMBER and isinstance(record.value, MemberMetadata)
    }
    if said:
        return _of_member(before, gone, said)
    if gone:
        return Cause(Trigger.MEMBER_REMOVED, gone[0])
    if any(record.type_id == REGEX and record.value is not None for record in operation):
        return Cause(Trigger.REGEX_CHANGED)
    return Cause(Trigger.TOPIC_METADATA_CHANGED)


def _of_member(before: Group | None, gone: Sequence[str], said: dict[str, MemberMetadata]) -> Cause:
    """Return the cause where a member said something of itself; an heir is compared with its forerunner."""
    member_id, metadata = next(iter(said.items()))
    members = {} if before is None else before.members
    known = members.get(member_id) or next((members[each] for each in gone if each in members), None)
    if known is None:
        return Cause(Trigger.MEMBER_JOINED, member_id)
    if set(known.metadata.subscribed_topic_names) != set(metadata.subscribed_topic_names):
        return Cause(Trigger.SUBSCRIPTION_CHANGED, member_id)
    if known.regex != (metadata.subscribed_topic_regex or ""):
        return Cause(Trigger.REGEX_CHANGED, member_id)
    return Cause(Trigger.TOPIC_METADATA_CHANGED)
