"""Why a modern group's epoch was bumped, as far as the records of the bump alone can tell."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Trigger(str, Enum):
    """What bumped an epoch.

    MEMBER_REMOVED is a leave or an expiry: the records of both are the same. UNKNOWN: nothing in the records changed
    that bumps, so it was a setting of the group, or a topic in a way that leaves no trace.
    """

    CONVERTED = "converted"
    MEMBER_JOINED = "member_joined"
    MEMBER_REMOVED = "member_removed"
    SUBSCRIPTION_CHANGED = "subscription_changed"
    REGEX_CHANGED = "regex_changed"
    TOPIC_METADATA_CHANGED = "topic_metadata_changed"
    TOPOLOGY_CHANGED = "topology_changed"
    PARTITIONS_INITIALISED = "partitions_initialised"
    UNKNOWN = "unknown"

    __hash__ = str.__hash__


class Cause(Struct, frozen=True, gc=False, array_like=True):
    """The cause of one bump.

    Attributes:
        member_id: who did it; None where nobody in the group did. Who carried a change of the topics is no culprit.
    """

    trigger: Trigger
    member_id: str | None = None
