"""What becomes of a classic group, and of who waits in it, when a member of the consumer protocol joins its id.

Kafka first looks whether the group may be converted. Then it sends all back who wait in it, and only then finds out
whether it can be, and whether the joiner has room in it. Source: GroupMetadataManager.getOrMaybeCreateConsumerGroup,
validateOnlineUpgrade, convertToConsumerGroup and throwIfConsumerGroupIsFull, ConsumerGroup.fromClassicGroup (3.8.1,
4.0.0, 4.1.1 and 4.2.0 were run).
"""

from __future__ import annotations

from msgspec import Struct

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.world import ModernSettings

_JOIN_EPOCH = 0

_SINCE_SENT_BACK = frozenset(
    {
        Error.UNKNOWN_SERVER_ERROR,
        Error.GROUP_MAX_SIZE_REACHED,
        Error.UNRELEASED_INSTANCE_ID,
        Error.INVALID_REGULAR_EXPRESSION,
    }
)
"""What a joiner can be answered once the group was, or was to be, converted; it then stays as it was."""


class ClassicThere(Struct, frozen=True, gc=False):
    """The classic group at a group id, as far as a conversion asks for it.

    Attributes:
        size: how many members it has.
        is_elected: they have elected an assignor.
        is_assigned: all of them were given an assignment.
    """

    size: int = 0
    is_elected: bool = False
    is_assigned: bool = False


def refusal(classic: ClassicThere, settings: ModernSettings) -> Error | None:
    """Return what a joiner of the consumer protocol is answered; None = the group is converted."""
    if not _is_tried(classic, settings):
        return Error.GROUP_ID_NOT_FOUND
    if not settings.rules.converts_unassigned and not classic.is_assigned:
        return Error.GROUP_ID_NOT_FOUND
    if not classic.is_elected:
        return Error.UNKNOWN_SERVER_ERROR
    return Error.GROUP_MAX_SIZE_REACHED if classic.size >= settings.max_size else None


def has_sent_back(classic: ClassicThere, settings: ModernSettings, epoch: int | None, observed: int) -> bool:
    """Whether the answer to a heartbeat shows that all who waited in the group were sent back, and it is still there.

    Args:
        classic: the group.
        settings: those of its broker.
        epoch: the member epoch of the heartbeat.
        observed: the error that it was answered.
    """
    if epoch != _JOIN_EPOCH or not _is_tried(classic, settings):
        return False
    is_malformed = observed == Error.GROUP_ID_NOT_FOUND and not settings.rules.converts_unassigned
    return is_malformed or observed in _SINCE_SENT_BACK


def _is_tried(classic: ClassicThere, settings: ModernSettings) -> bool:
    return settings.can_upgrade and classic.size <= settings.max_size
