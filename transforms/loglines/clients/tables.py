"""All patterns of the lines of Java consumers, and what their lines are known by.

Lines carry a prefix, which is not part of the templates, since 1.0; before, the group stands in the text.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import ClientPattern
from transforms.loglines.clients.joining import JOINING
from transforms.loglines.clients.membership import MEMBERSHIP
from transforms.loglines.clients.modern import MODERN
from transforms.loglines.clients.partitions import PARTITIONS
from transforms.loglines.templates.blocks import index

CLIENT_PATTERNS: tuple[ClientPattern, ...] = (*JOINING, *MEMBERSHIP, *PARTITIONS, *MODERN)
"""All patterns; the first that fits is taken."""

_INDEX = index(CLIENT_PATTERNS)


def candidates(message: str) -> tuple[ClientPattern, ...]:
    """Return the patterns worth trying on a message, in the order of the tables."""
    return _INDEX.get(message.split(None, 1)[0] if message else "") or _INDEX[""]


PREFIXES = ("[Consumer ", "[Worker ")
"""Beginnings of the prefix (log context) of consumers and of Connect's workers, whose coordinator is the same class."""

_INTERNALS = "org.apache.kafka.clients.consumer.internals."

LOGGERS = frozenset({_INTERNALS + "AbstractCoordinator", _INTERNALS + "ConsumerCoordinator"})
"""Loggers of lines that have no prefix (0.11)."""

GROUP_CLASSES = (
    "AbstractCoordinator",
    "ConsumerCoordinator",
    "WorkerCoordinator",
    "ConsumerRebalanceListenerInvoker",
    "MembershipManager",
    "HeartbeatRequestManager",
)
"""Classes, by the ends of their names, that write of nothing but their group: lines that no pattern knows count."""
