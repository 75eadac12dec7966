"""What members that had nothing to change waited for, and the protocol in which they would not have: KIP-848.

With an eager assignor each member gives up all that it has whenever the group rebalances. As a consumer group those
that keep what they have go on (`transforms.whatif.pauses`). That is told where it is what most of a storm's pauses
were, where the group's own evidence shows that its brokers know the new protocol, and where nothing shows an assignor
of the clients' own, which would not run there.
"""

from __future__ import annotations

import re
from math import inf

from transforms.findings.client_settings import NOT_TOLD, are_consumers
from transforms.findings.evidence import Evidence
from transforms.findings.sentences import duration, listed
from transforms.findings.stay import OFTEN
from transforms.whatif.figures import Window
from transforms.whatif.pauses import Pauses, pauses_of

MOST = 0.5
"""From this share of the pauses on those that were for nothing are what a storm cost."""

_OF_JAVA = re.compile(r"explicit `LeaveGroup` request|with group instance id (?!None\b|Some\()")
"""Reasons in the words of the coordinator that knows the consumer protocol: the only one of brokers from 4.0 on. The
older one, of Scala, writes an instance id as None or Some(id)."""


OFFER = "With group.protocol=consumer "
"""How the sentence begins."""


def without_barrier(evidence: Evidence) -> str | None:
    """Return what group.protocol=consumer would have spared the members of a classic group in a storm, and the price.

    Args:
        evidence: of the storm.

    Returns:
        A sentence; None where it would be little, or where the evidence does not carry it.
    """
    if evidence.group_type != "classic" or not are_consumers(evidence) or not _knows_the_protocol(evidence):
        return None
    found = pauses_of(evidence, Window(-inf, inf))
    if found.not_known or found.avoided < OFTEN or not _is_most(found):
        return None
    seen = sorted({r.client_software for r in evidence.requests if r.client_software} - {NOT_TOLD})
    of_time = ""
    if found.avoided_ms and found.observed_ms:
        of_time = f" ({duration(found.avoided_ms)} of {duration(found.observed_ms)}, all members together)"
    return (
        f"{OFFER}{found.avoided} of the {found.observed} times that a member stood still for a "
        f"rebalance would not have been{of_time}: it kept all that it had; the price: brokers of 4.0 or later, and "
        "clients that know it (Java from 4.0, librdkafka from 2.12"
        f"{f'; seen here: {listed(seen)}' if seen else ''}); the broker shares the partitions out, and the session is "
        "its setting."
    )


def _knows_the_protocol(evidence: Evidence) -> bool:
    """Whether the group's coordinator is the one that has it, and no assignor of the clients' own is seen."""
    is_own = any(row.assignor == "custom" for row in evidence.generations)
    return not is_own and any(_OF_JAVA.search(row.reason or "") for row in evidence.generations)


def _is_most(found: Pauses) -> bool:
    """Whether most of what members waited was for nothing; where times are not known, of how often they did."""
    if found.avoided_ms is None or not found.observed_ms:
        return found.avoided >= MOST * found.observed
    return found.avoided_ms >= MOST * found.observed_ms
