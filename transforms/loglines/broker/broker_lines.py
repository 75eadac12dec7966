"""Lines about the broker itself: its settings and its version."""

from __future__ import annotations

import re

from transforms.loglines.entries.layouts import Parts
from transforms.loglines.templates.matching import Row, empty_row

SETTINGS_MARKER = "KafkaConfig values:"
VERSION_MARKER = "Kafka version"

_PREFIXES = ("group.", "offsets.")
_NAMES = frozenset(
    {"broker.id", "node.id", "process.roles", "offset.metadata.max.bytes", "inter.broker.protocol.version"}
)

_VERSION = re.compile(r"Kafka version ?: (\S+)")
_VERSION_LOGGER = "org.apache.kafka.common.utils.AppInfoParser"


def read_broker_line(parts: Parts) -> Row | None:
    """Return the row of a `broker_settings` or `broker_version` line, None for any other."""
    if parts.message.startswith(SETTINGS_MARKER):
        return _row("broker_settings", _settings(parts.message))
    if parts.logger == _VERSION_LOGGER:
        version = _VERSION.fullmatch(parts.message)
        if version is not None:
            return _row("broker_version", {"version": version.group(1)})
    return None


def _row(event: str, attributes: dict[str, str]) -> Row:
    row = empty_row()
    row["event"] = event
    row["attributes"] = attributes
    return row


def _settings(message: str) -> dict[str, str]:
    """Return the settings that rule the coordinator out of a list of `name = value` lines."""
    settings = {}
    for line in message.split("\n")[1:]:
        name, equals, value = line.strip().partition(" =")
        if equals and (name in _NAMES or name.startswith(_PREFIXES)):
            settings[name] = value.strip()
    return settings
