"""Lines about the broker itself: its settings, those of groups, its version and what it was built with."""

from __future__ import annotations

import re

from transforms.coordinator.kafka.rules import read_as
from transforms.loglines.entries.layouts import Parts
from transforms.loglines.facts import CoordinatorEvent

SETTINGS_MARKER = "KafkaConfig values:"
GROUP_SETTINGS_MARKER = "Updating group "
"""What brokers print of a group's own settings (GroupConfig, since 4.0): as they start, and whenever these change; all
of them each time (DynamicConfigPublisher)."""

VERSION_MARKER = "Kafka version"
CLASS_PATH_MARKER = "Client environment:java.class.path="
"""What a client of ZooKeeper prints as it begins; the names of the jars tell of the build."""

_PREFIXES = ("group.", "offsets.")
_NAMES = frozenset(
    {"broker.id", "node.id", "process.roles", "offset.metadata.max.bytes", "inter.broker.protocol.version"}
)

_GROUP_SETTINGS = re.compile(r"Updating group (?P<group_id>.*) with new configuration : (?P<settings>.*)", re.DOTALL)
_GROUP_SETTING = re.compile(r"(?:^|,)([a-z.]+) -> ([^,]*)")
_VERSION = re.compile(r"Kafka version ?: (\S+)")
_SCALA = re.compile(r"\bkafka_(\d+\.\d+)-")
_VERSION_LOGGER = "org.apache.kafka.common.utils.AppInfoParser"


def read_broker_line(parts: Parts) -> CoordinatorEvent | None:
    """Return what a line about a broker's or a group's settings or a version tells, None for any other."""
    if parts.message.startswith(SETTINGS_MARKER):
        return CoordinatorEvent("broker_settings", attributes=_settings(parts.message))
    group = _GROUP_SETTINGS.search(parts.message) if GROUP_SETTINGS_MARKER in parts.message else None
    if group is not None:
        own = dict(_GROUP_SETTING.findall(group["settings"]))
        return CoordinatorEvent("group_settings", attributes={"group_id": group["group_id"], **own})
    if parts.logger == _VERSION_LOGGER:
        version = _VERSION.fullmatch(parts.message)
        if version is not None:
            told = {"version": version.group(1)}
            highest = read_as(told["version"])
            more = {} if highest is None else {"read_as": highest}
            return CoordinatorEvent("broker_version", attributes=told | more)
    if parts.message.startswith(CLASS_PATH_MARKER):
        scala = _SCALA.search(parts.message)
        if scala is not None:
            return CoordinatorEvent("broker_version", attributes={"scala": scala.group(1)})
    return None


def _settings(message: str) -> dict[str, str]:
    """Return the settings that rule the coordinator out of a list of `name = value` lines."""
    settings = {}
    for line in message.split("\n")[1:]:
        name, equals, value = line.strip().partition(" =")
        if equals and (name in _NAMES or name.startswith(_PREFIXES)):
            settings[name] = value.strip()
    return settings
