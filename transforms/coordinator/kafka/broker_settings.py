"""What rules a coordinator: its dialect, the rules of its release and the broker's settings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.rules import LATEST, Release, Rules, release_of

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""Time after which a parked JoinGroup of a new member is given up; a constant of Kafka."""


class CoordinatorSettings(Struct, frozen=True, gc=False, array_like=True):
    """Settings of one broker that the state machine depends on; durations in ms, Kafka's defaults.

    Attributes:
        dialect: "scala" (up to 3.9) or "java" (from 3.7, the only one from 4.0).
        rules: those that hang on the release.
        initial_delay_ms: group.initial.rebalance.delay.ms.
        min_session_timeout_ms: group.min.session.timeout.ms.
        max_session_timeout_ms: group.max.session.timeout.ms.
        max_size: group.max.size.
        consumer_max_size: group.consumer.max.size.
        share_max_size: group.share.max.size.
        streams_max_size: group.streams.max.size.
        migration_policy: group.consumer.migration.policy.
        consumer_assignors: group.consumer.assignors, Kafka's own by name, others by class; None = not told.
        commit_timeout_ms: offsets.commit.timeout.ms: how long the log may take, and not of commits alone since 3.7.
    """

    dialect: str = "java"
    rules: Rules = Rules()
    initial_delay_ms: int = 3_000
    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    max_size: int = 2_147_483_647
    consumer_max_size: int = 2_147_483_647
    share_max_size: int = 200
    streams_max_size: int = 2_147_483_647
    migration_policy: str = "bidirectional"
    consumer_assignors: tuple[str, ...] | None = None
    commit_timeout_ms: int = 5_000

    @classmethod
    def relevant(cls, attributes: Mapping[str, str]) -> dict[str, str]:
        """Return those of a broker's printed settings, by Kafka's names, that matter here."""
        names = (*_BY_KAFKA_NAME, _MIGRATION_POLICY, _ASSIGNORS)
        return {name: attributes[name] for name in names if name in attributes}

    @property
    def is_java(self) -> bool:
        """Whether the new coordinator answers."""
        return self.dialect == "java"

    @property
    def map_kind(self) -> str:
        """Kind of hash map that the coordinator keeps its members in (see `java_hashing.map_order`)."""
        return "scala 2.12" if self.rules.is_of_scala_2_12 and not self.is_java else self.dialect

    def updated(self, attributes: Mapping[str, str]) -> CoordinatorSettings:
        """Return these settings with what a broker printed of its own ("KafkaConfig values").

        Args:
            attributes: values by Kafka's names; names that do not matter here are passed over.
        """
        found = {
            field: int(attributes[name])
            for name, field in _BY_KAFKA_NAME.items()
            if _NUMBER.fullmatch(attributes.get(name, ""))
        }
        policy = attributes.get(_MIGRATION_POLICY, self.migration_policy)
        assignors = _assignors(attributes.get(_ASSIGNORS, "")) or self.consumer_assignors
        return replace(self, migration_policy=policy, consumer_assignors=assignors, **found)

    def of_build(
        self, version: str | None, scala: str | None = None, shown: Release | None = None
    ) -> CoordinatorSettings:
        """Return these settings as they hold for a build of Kafka.

        Args:
            version: Kafka's version, such as "2.6.1"; None = not known, which gives the rules of the latest.
            scala: version of Scala that it was built with, such as "2.12"; None = not known.
            shown: release that something else shows, which holds where the version is not known.
        """
        release = release_of(version) or shown or LATEST
        policy = "bidirectional" if ModernRules(release).converts_by_default else "disabled"
        return replace(self, rules=Rules(release, scala), migration_policy=policy)


KAFKAS_ASSIGNORS = ("uniform", "range")
"""Names of the assignors that Kafka has for consumer groups, the default first."""

_MIGRATION_POLICY = "group.consumer.migration.policy"
_ASSIGNORS = "group.consumer.assignors"

_KAFKAS_BY_CLASS = {
    f"org.apache.kafka.coordinator.group.assignor.{name.capitalize()}Assignor": name for name in KAFKAS_ASSIGNORS
}
"""A broker may be given either, but for those up to 3.9, which take classes alone (GroupCoordinatorConfig)."""

_NUMBER = re.compile(r"-?[0-9]{1,18}")

_BY_KAFKA_NAME = {
    "group.initial.rebalance.delay.ms": "initial_delay_ms",
    "group.min.session.timeout.ms": "min_session_timeout_ms",
    "group.max.session.timeout.ms": "max_session_timeout_ms",
    "group.max.size": "max_size",
    "group.consumer.max.size": "consumer_max_size",
    "group.share.max.size": "share_max_size",
    "group.streams.max.size": "streams_max_size",
    "offsets.commit.timeout.ms": "commit_timeout_ms",
}


def _assignors(printed: str) -> tuple[str, ...]:
    """Return the assignors of a list as a broker prints it."""
    listed = (each.strip() for each in printed.strip("[] ").split(","))
    return tuple(_KAFKAS_BY_CLASS.get(each, each) for each in listed if each)


def dialect_of_version(version: str | None) -> str | None:
    """Return the dialect of a Kafka version; None from 3.7 to 3.9, which have both coordinators."""
    release = release_of(version)
    if release is None or (3, 7) <= release < (4, 0):
        return None
    return "java" if release >= (4, 0) else "scala"
