"""What a modern group's coordinator knows beside the group: topics, settings, the time, other groups of that name."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import KAFKAS_ASSIGNORS, CoordinatorSettings
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.modern.topics import NO_TOPICS, Topics

_NO_LIMIT = 2_147_483_647


class Refused(Exception):
    """A coordinator refuses a request and changes nothing; inside the machines only."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.name)
        self.error = error


class ModernSettings(Struct, frozen=True, gc=False, array_like=True):
    """Settings of one broker that modern groups depend on; durations in ms, Kafka's defaults.

    Attributes:
        max_size: group.consumer.max.size.
        classic_max_size: group.max.size.
        assignors: group.consumer.assignors; the first is the default.
        are_assignors_told: they go by their names; of one that is not Kafka's a broker prints the class alone.
        can_upgrade: group.consumer.migration.policy lets a classic group become a consumer group.
        can_downgrade: it lets a consumer group become a classic one.
        session_timeout_ms: group.consumer.session.timeout.ms (…share…, …streams…), or that of the group.
        regex_refresh_ms: group.consumer.regex.refresh.interval.ms.
        share_max_size: group.share.max.size.
        share_retry_ms: group.share.initialize.retry.interval.ms.
        streams_max_size: group.streams.max.size.
        initial_delay_ms: group.streams.initial.rebalance.delay.ms.
        standby_count: num.standby.replicas of the group.
        commit_timeout_ms: offsets.commit.timeout.ms.
        rules: those that hang on the release.
    """

    max_size: int = _NO_LIMIT
    classic_max_size: int = _NO_LIMIT
    assignors: tuple[str, ...] = KAFKAS_ASSIGNORS
    are_assignors_told: bool = True
    can_upgrade: bool = True
    can_downgrade: bool = True
    session_timeout_ms: int = 45_000
    regex_refresh_ms: int = 600_000
    share_max_size: int = 200
    share_retry_ms: int = 30_000
    streams_max_size: int = _NO_LIMIT
    initial_delay_ms: int = 3_000
    standby_count: int = 0
    commit_timeout_ms: int = 5_000
    rules: ModernRules = ModernRules()

    def is_supported(self, assignor: str) -> bool | None:
        """Whether a member may wish for an assignor; None = not known."""
        is_told = self.are_assignors_told or assignor in KAFKAS_ASSIGNORS
        return assignor in self.assignors if is_told else None


@lru_cache(maxsize=64)
def settings_of(broker: CoordinatorSettings) -> ModernSettings:
    """Return the settings of a broker that groups of epochs depend on."""
    rules = ModernRules(broker.rules.release)
    assignors = broker.consumer_assignors
    return ModernSettings(
        max_size=broker.consumer_max_size,
        classic_max_size=broker.max_size,
        share_max_size=broker.share_max_size,
        streams_max_size=broker.streams_max_size,
        assignors=assignors or KAFKAS_ASSIGNORS,
        are_assignors_told=assignors is not None and set(assignors) <= set(KAFKAS_ASSIGNORS),
        can_upgrade=rules.converts and broker.migration_policy in ("bidirectional", "upgrade"),
        can_downgrade=rules.converts and broker.migration_policy in ("bidirectional", "downgrade"),
        commit_timeout_ms=broker.commit_timeout_ms,
        rules=rules,
    )


class World(Struct, gc=False):
    """What surrounds a group at the moment of a request.

    Attributes:
        now: epoch ms.
    """

    topics: Topics = NO_TOPICS
    settings: ModernSettings = ModernSettings()
    now: float = 0.0
