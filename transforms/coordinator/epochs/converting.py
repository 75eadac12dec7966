"""What becomes of a classic group, and of who waits in it, when a member of the consumer protocol joins its id.

An empty group gives way to a new one, whatever the broker's policy. Of any other Kafka first looks whether it may be
converted: by the policy, by what its members speak, by its size. Then it sends all back who wait in it, and only then
finds out whether it can be, and whether the joiner has room in it: if not, the group stays as it was, but for those who
waited. Source: GroupMetadataManager.getOrMaybeCreateConsumerGroup, validateOnlineUpgrade, convertToConsumerGroup and
throwIfConsumerGroupIsFull, ConsumerGroup.fromClassicGroup (3.8.1, 4.0.0 and 4.2.0 were read; these and 4.1.1 were run).
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
"""What a joiner is answered only once the group was, or was to be, converted; GROUP_ID_NOT_FOUND it can be before."""


class ClassicThere(Struct, frozen=True, gc=False):
    """The classic group at a group id, as far as a conversion asks for it.

    Attributes:
        size: how many members it has.
        is_elected: they have elected an assignor.
        is_assigned: all of them were given an assignment.
        is_empty: it is Empty; one whose members have all gone amid a rebalance is not yet.
        is_of_consumers: its members' type of protocol is that of consumers, unlike Kafka Connect's, as far as is known.
        has_user_data: some assignment has data of its own, which only the assignor understands that gave it.
    """

    size: int = 0
    is_elected: bool = False
    is_assigned: bool = False
    is_empty: bool = False
    is_of_consumers: bool = True
    has_user_data: bool = False


def refusal(classic: ClassicThere, settings: ModernSettings) -> Error | None:
    """Return what a joiner of the consumer protocol is answered; None = the group is converted, or gives way."""
    if classic.is_empty and settings.rules.converts:
        return None
    if not _is_tried(classic, settings):
        return Error.GROUP_ID_NOT_FOUND
    if not settings.rules.converts_unassigned and not classic.is_assigned:
        return Error.GROUP_ID_NOT_FOUND
    if not classic.is_elected:
        return Error.UNKNOWN_SERVER_ERROR
    if _is_custom(classic, settings):
        return Error.GROUP_ID_NOT_FOUND
    return Error.GROUP_MAX_SIZE_REACHED if classic.size >= settings.max_size else None


def has_sent_back(classic: ClassicThere, settings: ModernSettings, epoch: int | None, observed: int) -> bool:
    """Whether the answer to a heartbeat shows that all who waited in the group were sent back, and it is still there.

    Args:
        classic: the group.
        settings: those of its broker.
        epoch: the member epoch of the heartbeat.
        observed: the error that it was answered.
    """
    if epoch != _JOIN_EPOCH or classic.is_empty or not _is_tried(classic, settings):
        return False
    is_unfit = not settings.rules.converts_unassigned or _is_custom(classic, settings)
    return observed in _SINCE_SENT_BACK or (is_unfit and observed == Error.GROUP_ID_NOT_FOUND)


def _is_tried(classic: ClassicThere, settings: ModernSettings) -> bool:
    return settings.can_upgrade and classic.is_of_consumers and classic.size <= settings.max_size


def _is_custom(classic: ClassicThere, settings: ModernSettings) -> bool:
    return classic.has_user_data and settings.rules.refuses_user_data
