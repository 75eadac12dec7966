"""What rules a coordinator: its dialect and the broker's settings."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""Time after which a parked JoinGroup of a new member is given up; a constant of Kafka."""


class CoordinatorSettings(Struct, frozen=True, gc=False, array_like=True):
    """Settings of one broker that the state machine depends on; durations in ms, Kafka's defaults.

    Attributes:
        dialect: "scala" (up to 3.9) or "java" (from 3.7, the only one from 4.0).
        heartbeats_await_sync: a Heartbeat in CompletingRebalance is refused as in a rebalance (up to 2.6).
        expires_pending_sync: members that never sync are removed (3.0, KAFKA-12890).
        initial_delay_ms: group.initial.rebalance.delay.ms.
        min_session_timeout_ms: group.min.session.timeout.ms.
        max_session_timeout_ms: group.max.session.timeout.ms.
        max_size: group.max.size.
    """

    dialect: str = "java"
    heartbeats_await_sync: bool = False
    expires_pending_sync: bool = True
    initial_delay_ms: int = 3_000
    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    max_size: int = 2_147_483_647

    @classmethod
    def relevant(cls, attributes: Mapping[str, str]) -> dict[str, str]:
        """Return those of a broker's printed settings, by Kafka's names, that matter here."""
        return {name: attributes[name] for name in _BY_KAFKA_NAME if name in attributes}

    @property
    def is_java(self) -> bool:
        """Whether the new coordinator answers."""
        return self.dialect == "java"

    def updated(self, attributes: Mapping[str, str]) -> CoordinatorSettings:
        """Return these settings with what a broker printed of its own ("KafkaConfig values").

        Args:
            attributes: values by Kafka's names; names that do not matter here are passed over.
        """
        found = {
            field: int(attributes[name])
            for name, field in _BY_KAFKA_NAME.items()
            if attributes.get(name, "").lstrip("-").isdigit()
        }
        return replace(self, **found) if found else self

    def of_version(self, version: str | None) -> CoordinatorSettings:
        """Return these settings as they hold for a Kafka version such as "2.6.1"."""
        release = _release(version)
        if release is None:
            return self
        return replace(
            self,
            heartbeats_await_sync=release <= (2, 6),
            expires_pending_sync=release >= (3, 0),
        )


_BY_KAFKA_NAME = {
    "group.initial.rebalance.delay.ms": "initial_delay_ms",
    "group.min.session.timeout.ms": "min_session_timeout_ms",
    "group.max.session.timeout.ms": "max_session_timeout_ms",
    "group.max.size": "max_size",
}


def _release(version: str | None) -> tuple[int, ...] | None:
    try:
        return tuple(int(part) for part in (version or "").split("-")[0].split(".")[:2])
    except ValueError:
        return None


def dialect_of_version(version: str | None) -> str | None:
    """Return the dialect of a Kafka version; None from 3.7 to 3.9, which have both coordinators."""
    release = _release(version)
    if release is None or (3, 7) <= release < (4, 0):
        return None
    return "java" if release >= (4, 0) else "scala"
