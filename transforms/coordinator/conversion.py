"""A group goes over to the consumer protocol (KIP-848), and perhaps comes back.

The classic group ends there, with a tombstone like a deleted one; members that still speak the classic protocol go on
as members of another kind of group, whose answers this state machine does not know. Whoever waits is sent to join
again. A group that comes back begins a new life, with the epoch it had as its generation.

Source: GroupMetadataManager.convertToConsumerGroup and convertToClassicGroup (Java).
"""

from __future__ import annotations

from transforms.coordinator.answers import Error
from transforms.coordinator.events import Cause
from transforms.coordinator.evidence import Row
from transforms.coordinator.records import delete
from transforms.coordinator.replaying import Replay

CLASSIC_TYPES = frozenset({"classic", "generic"})
"""What the Java coordinator calls a classic group; the second word up to 3.6."""


def converted(replay: Replay, line: Row, cause: Cause) -> None:
    """Take the line about a conversion, in either direction."""
    if (line["attributes"] or {}).get("to") in CLASSIC_TYPES:
        replay.is_modern = False
    else:
        become_modern(replay, cause)


def become_modern(replay: Replay, cause: Cause) -> None:
    """The group does not speak the classic protocol any more."""
    replay.is_modern = True
    group = replay.machine.present
    if group is None or replay.is_deletion_known(cause.at, cause.source):
        return
    for member in group.members.values():
        for token in (member.parked_join, member.parked_sync):
            if token is not None:
                replay.machine.answer(token, Error.REBALANCE_IN_PROGRESS, cause.at)
        member.parked_join = member.parked_sync = None
    delete(replay, cause)
