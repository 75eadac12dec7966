"""What the settings of a group's clients are called: by what its members are, and by their library.

Members of a classic group say what they are (`protocol_type`): 'consumer'; 'connect', workers of Kafka Connect; 'sr',
schema registries; or anything else. Of what is neither of the first two no setting is known. Where nothing tells, they
are taken for consumers, which most are.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from itertools import chain

from transforms.findings.evidence import Evidence


@dataclass(frozen=True)
class ClientSettings:
    """The names of settings; null = these clients have none of the kind.

    Attributes:
        session: how long a member may be silent.
        poll: how long it may be between two polls, and in coming to a rebalance.
        instance: the name under which it is a static member.
        batch: the most records of one poll.
        are_consumers: the members read and commit as consumers do.
    """

    session: str | None = None
    poll: str | None = None
    instance: str | None = None
    batch: str | None = None
    are_consumers: bool = False


CONSUMERS = ClientSettings(
    "session.timeout.ms", "max.poll.interval.ms", "group.instance.id", "max.poll.records", are_consumers=True
)
"""As Kafka itself calls them."""

CONNECT = "connect"

_WITHOUT_BATCHES = replace(CONSUMERS, batch=None)

_OF_OTHERS = {CONNECT: ClientSettings("session.timeout.ms", "rebalance.timeout.ms")}

_OF_LIBRARIES = (
    (re.compile("rdkafka"), _WITHOUT_BATCHES),
    (re.compile("apache-kafka-java"), CONSUMERS),
    (
        re.compile("kafka-python|aiokafka"),
        ClientSettings(
            "session_timeout_ms", "max_poll_interval_ms", "group_instance_id", "max_poll_records", are_consumers=True
        ),
    ),
    (
        re.compile("sarama"),
        ClientSettings(
            "Consumer.Group.Session.Timeout",
            "Consumer.Group.Rebalance.Timeout",
            "Consumer.Group.InstanceId",
            are_consumers=True,
        ),
    ),
    (
        re.compile("kgo|franz-go"),
        ClientSettings("SessionTimeout", "RebalanceTimeout", "InstanceID", are_consumers=True),
    ),
)
"""By what a library says it is in ApiVersions; wrappers of librdkafka name it beside themselves, so it comes first."""

NOT_TOLD = "unknown/unknown"
"""What the broker prints for a client whose ApiVersions request is older than version 3 (ClientInformation)."""


def are_consumers(evidence: Evidence) -> bool:
    """Whether the members of a group read and commit as consumers do, for all that is known."""
    return evidence.protocol_type in (None, "consumer")


def settings_for(evidence: Evidence, clients: Container[tuple[str | None, str | None]]) -> ClientSettings:
    """Return what settings are called that are advised to some clients of a group.

    Args:
        evidence: of the finding.
        clients: client id and host of each; where nothing tells their library, Kafka's own names are taken.
    """
    if not are_consumers(evidence):
        return _OF_OTHERS.get(evidence.protocol_type or "", ClientSettings())
    requests = chain(evidence.requests, evidence.refused)
    said = {r.client_software for r in requests if r.client_software and (r.client_id, r.client_host) in clients}
    return _common(map(_of_library, said - {NOT_TOLD}))


def _of_library(software: str) -> ClientSettings:
    known = (names for pattern, names in _OF_LIBRARIES if pattern.search(software.lower()))
    return next(known, _WITHOUT_BATCHES)


def _common(found: Iterable[ClientSettings]) -> ClientSettings:
    """Return the names that clients of several libraries understand: Kafka's own, where they differ."""
    names = set(found)
    if len(names) < 2:
        return next(iter(names), CONSUMERS)
    return CONSUMERS if all(each.batch for each in names) else _WITHOUT_BATCHES


def or_smaller_batches(names: ClientSettings, share: float) -> str:
    """Return what there is instead of a longer time between two polls, to go on with a sentence.

    Args:
        names: what settings of the client are called.
        share: to which part of what it is a batch has to shrink.
    """
    if names.batch:
        return f", or {names.batch} at {100 * share:.0f} % of what it is"
    return f", or {100 * share:.0f} % of the work between two polls" if names.are_consumers else ""
