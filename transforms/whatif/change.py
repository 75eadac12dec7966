"""The change that is asked about: other settings of the clients or the broker, or static membership."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from transforms.coordinator.assignors.classify import ASSIGNORS
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.errors import SettingsError


class Change(Struct, frozen=True, kw_only=True):
    """What would have been otherwise; None = as it was.

    Attributes:
        session_timeout_ms: session.timeout.ms of all clients.
        max_poll_interval_ms: max.poll.interval.ms of all clients, which is their rebalance timeout too.
        initial_delay_ms: group.initial.rebalance.delay.ms of the broker.
        strategy: the first assignor of partition.assignment.strategy, by the name that members send.
        protocol: group.protocol of all clients; only "consumer" can be asked about, and nothing beside it.
        is_static: every process has a group.instance.id of its own.
    """

    session_timeout_ms: int | None = None
    max_poll_interval_ms: int | None = None
    initial_delay_ms: int | None = None
    strategy: str | None = None
    protocol: str | None = None
    is_static: bool = False


def _milliseconds(least: int) -> Callable[[str, str], int]:
    def read(name: str, value: str) -> int:
        if not value.isascii() or not value.isdigit() or not least <= int(value) <= 2_147_483_647:
            raise SettingsError(f"{name} must be a number of milliseconds from {least} to 2147483647, not {value!r}")
        return int(value)

    return read


def _strategy(name: str, value: str) -> str:
    by_class = {_class_name(protocol): protocol for protocol in ASSIGNORS}
    first = value.split(",")[0].strip().rpartition(".")[2]
    protocol = by_class.get(first, first)
    if protocol not in ASSIGNORS:
        raise SettingsError(f"{name} must be one of {', '.join(sorted(ASSIGNORS))}, not {value!r}")
    return protocol


def _protocol(name: str, value: str) -> str:
    if value.lower() != "consumer":
        raise SettingsError(f"{name} must be consumer, not {value!r}")
    return "consumer"


def _class_name(protocol: str) -> str:
    """Return the name of Kafka's class: cooperative-sticky is CooperativeStickyAssignor."""
    words = {"roundrobin": ["round", "robin"]}.get(protocol) or protocol.split("-")
    return "".join(word.capitalize() for word in words) + "Assignor"


_READERS: dict[str, tuple[str, Callable[[str, str], int | str]]] = {
    "session.timeout.ms": ("session_timeout_ms", _milliseconds(1)),
    "max.poll.interval.ms": ("max_poll_interval_ms", _milliseconds(1)),
    "group.initial.rebalance.delay.ms": ("initial_delay_ms", _milliseconds(0)),
    "partition.assignment.strategy": ("strategy", _strategy),
    "group.protocol": ("protocol", _protocol),
}
NAMES = ", ".join(_READERS)
"""The settings that can be asked about, by Kafka's names."""


def change_of(settings: Iterable[str], is_static: bool = False) -> Change:
    """Read a change.

    Args:
        settings: NAME=VALUE, by Kafka's names.
        is_static: whether every process gets a group.instance.id.

    Raises:
        SettingsError: a setting that cannot be asked about, a bad value, or no change at all.
    """
    values: dict[str, int | str] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or name not in _READERS:
            raise SettingsError(f"{text!r} is no change that can be asked about: NAME=VALUE with NAME of {NAMES}")
        field, read = _READERS[name]
        if field in values:
            raise SettingsError(f"{name} is set twice: ask about one value at a time")
        values[field] = read(name, value)
    if "protocol" in values and (len(values) > 1 or is_static):
        raise SettingsError("group.protocol=consumer is asked about alone: such groups are set up on the broker")
    if not values and not is_static:
        raise SettingsError(f"nothing to ask about: give --static or --set NAME=VALUE with NAME of {NAMES}")
    return Change(**values, is_static=is_static)  # type: ignore[arg-type]


def check_against(change: Change, settings: CoordinatorSettings) -> None:
    """Check that the broker would take the change.

    Raises:
        SettingsError: it would refuse every member (INVALID_SESSION_TIMEOUT).
    """
    if is_refused(change, settings):
        raise SettingsError(
            f"session.timeout.ms={change.session_timeout_ms} would be refused: the broker's "
            f"group.min.session.timeout.ms is {settings.min_session_timeout_ms}, "
            f"its group.max.session.timeout.ms {settings.max_session_timeout_ms}"
        )


def is_refused(change: Change, settings: CoordinatorSettings) -> bool:
    """Whether a broker with these settings would refuse every member (INVALID_SESSION_TIMEOUT)."""
    session = change.session_timeout_ms
    return session is not None and not settings.min_session_timeout_ms <= session <= settings.max_session_timeout_ms


def letting_in(settings: CoordinatorSettings, sessions: Iterable[int | None]) -> CoordinatorSettings:
    """Return settings with bounds that let members with any of these session timeouts in (ms; null = not known)."""
    known = [session for session in sessions if session is not None]
    return replace(
        settings,
        min_session_timeout_ms=min([settings.min_session_timeout_ms, *known]),
        max_session_timeout_ms=max([settings.max_session_timeout_ms, *known]),
    )
