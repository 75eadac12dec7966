"""Options of Kafka's client among the settings: any of them, by their own names, and none of them shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, SecretStr

PREFIX = "kafka."

_SECRET = re.compile(r"password|secret|jaas\.config|keystore\.key")
"""Options that Kafka itself prints as [hidden], but for certificates, which are public."""

_OURS = (
    "bootstrap.servers",
    "key.deserializer",
    "value.deserializer",
    "auto.offset.reset",
    "enable.auto.commit",
    "interceptor.classes",
)
"""Options that Spark's source sets itself and refuses from others, and the one that has a setting of its own."""

_ISOLATION_LEVELS = ("read_uncommitted", "read_committed")


def gathered(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return a section with all options of Kafka in one mapping, however they were written.

    TOML reads `kafka.security.protocol` as mappings within each other, and `"kafka.security.protocol"` as one name.
    """
    rest = {name: value for name, value in section.items() if name != "kafka" and not name.startswith(PREFIX)}
    options = dict(_flat(section.get("kafka", {})))
    for name, value in section.items():
        if name.startswith(PREFIX):
            options.update(_flat({name.removeprefix(PREFIX): value}))
    return {**rest, "kafka": options} if options else rest


def secrets(section: Mapping[str, Any]) -> list[str]:
    """Return the names of the options of a gathered section that are secrets."""
    return [name for name in section.get("kafka", {}) if _SECRET.search(name)]


def _flat(options: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(options, Mapping):
        for name, value in options.items():
            yield from _flat(value, f"{prefix}.{name}" if prefix else name)
    else:
        yield prefix, str(options).lower() if isinstance(options, bool) else str(options)


def _checked(options: Any) -> Any:
    ours = [name for name in options if name in _OURS]
    if "bootstrap.servers" in ours:
        raise ValueError("bootstrap.servers is the setting offsets.bootstrap_servers")
    if ours:
        raise ValueError(f"{', '.join(ours)} cannot be set: the reader depends on it")
    if options.get("isolation.level", _ISOLATION_LEVELS[0]) not in _ISOLATION_LEVELS:
        raise ValueError(f"isolation.level must be {' or '.join(_ISOLATION_LEVELS)}")
    return options


KafkaOptions = Annotated[dict[str, SecretStr], BeforeValidator(_checked)]
"""Options without their prefix `kafka.`, as `gathered` leaves them."""
