"""One log entry of a group coordinator to facts of `silver.coordinator_events`."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from msgspec.structs import replace

from transforms.loglines.broker.dialects import FOREIGN_PREFIXES, PREFIXES, dialect_of
from transforms.loglines.broker.reasons import read_reason
from transforms.loglines.broker.tables import LINES
from transforms.loglines.entries.layouts import Parts
from transforms.loglines.facts import CoordinatorEvent
from transforms.loglines.templates.matching import IGNORED

_TEXT_IS_DETAIL = frozenset({"coordinator_error", "coordinator_notice"})
_PREFIX = re.compile(r"\[[^\]]*\]:? ")
_PARTITION = " partition="
_EXCEPTION_LENGTH = 1000


def read_coordinator_line(parts: Parts) -> list[CoordinatorEvent]:
    """Return what an entry says of a group coordinator; nothing if its logger is not one of a coordinator.

    A line that names several groups gives an event for each. A line that no template fits gives one event
    `unrecognised`.
    """
    dialect = dialect_of(parts.logger, parts.message)
    if dialect is None or parts.message.startswith(FOREIGN_PREFIXES):
        return []
    message, partition = parts.message, None
    if message.startswith(PREFIXES[dialect]):
        prefix = _PREFIX.match(message)
        if prefix is not None:
            partition = _partition_of_prefix(prefix.group())
            message = message[prefix.end() :]
    event = LINES[dialect].read(message)
    if event is None:
        event = CoordinatorEvent("unrecognised", attributes={"text": message, "logger": parts.logger})
    elif event.event == IGNORED:
        return []
    elif event.event == "preparing_rebalance":
        _explain(event)
    elif event.event in _TEXT_IS_DETAIL:
        event.attributes["detail"] = message
    if event.topic_partition_of_group is None:
        event.topic_partition_of_group = partition
    event.dialect = dialect
    if parts.trailer:
        event.attributes["exception"] = parts.trailer.split("\n", 1)[0][:_EXCEPTION_LENGTH]
    return _one_for_each_group(event) if event.event == "group_deleted" else [event]


@lru_cache(maxsize=4096)
def _partition_of_prefix(prefix: str) -> int | None:
    """Return 13 for "[GroupCoordinator id=1 topic=__consumer_offsets partition=13] "."""
    number = prefix.rstrip("]: ").rpartition(_PARTITION)[2]
    return int(number) if _PARTITION in prefix and number.isdecimal() and len(number) < 9 else None


def _explain(event: CoordinatorEvent) -> None:
    """Read the reason of a rebalance into trigger, culprits and the client's words."""
    if event.reason is None:
        return
    reason = read_reason(event.reason)
    event.reason = reason.text
    event.client_reason = reason.client_reason
    event.group_instance_id = reason.group_instance_id
    event.attributes["trigger"] = reason.trigger
    if reason.member_ids:
        event.member_id = reason.member_ids[0]
        event.attributes["member_ids"] = json.dumps(reason.member_ids)


def _one_for_each_group(event: CoordinatorEvent) -> list[CoordinatorEvent]:
    """Split "a, b" into an event of a and one of b; the number of offsets removed is that of the whole line.

    Where all groups that were to be deleted have members, the line names none.
    """
    groups = event.group_id.split(", ") if event.group_id else []
    return [
        replace(event, seq=seq, group_id=group_id, attributes=dict(event.attributes))
        for seq, group_id in enumerate(groups)
    ]
