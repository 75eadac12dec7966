"""One log entry of a group coordinator to rows of `silver.coordinator_events`."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from transforms.loglines.broker.reasons import read_reason
from transforms.loglines.broker.tables import FOREIGN_PREFIXES, LOGGERS, PREFIXES, candidates
from transforms.loglines.entries.layouts import Parts
from transforms.loglines.templates.blocks import IGNORED
from transforms.loglines.templates.matching import Row, empty_row

_TEXT_IS_DETAIL = frozenset({"coordinator_error", "coordinator_notice"})
_PREFIX = re.compile(r"\[[^\]]*\]:? ")
_PARTITION = " partition="
_EXCEPTION_LENGTH = 1000


def read_coordinator_line(parts: Parts) -> list[Row]:
    """Return what an entry says of a group coordinator; nothing if its logger is not one of a coordinator.

    A line that names several groups gives a row for each. A line that is not in the pattern tables gives one row
    of event `unrecognised`.
    """
    dialect = LOGGERS.get(parts.logger)
    if dialect is None or parts.message.startswith(FOREIGN_PREFIXES):
        return []
    message, partition = parts.message, None
    if message.startswith(PREFIXES[dialect]):
        prefix = _PREFIX.match(message)
        if prefix is not None:
            partition = _partition_of_prefix(prefix.group())
            message = message[prefix.end() :]
    row = _match(dialect, message)
    if row is None:
        return []
    if row["topic_partition_of_group"] is None:
        row["topic_partition_of_group"] = partition
    row["dialect"] = dialect
    if row["event"] == "unrecognised":
        row["attributes"]["logger"] = parts.logger
    if parts.trailer:
        row["attributes"]["exception"] = parts.trailer.split("\n", 1)[0][:_EXCEPTION_LENGTH]
    return _one_for_each_group(row) if row["event"] == "group_deleted" else [row]


@lru_cache(maxsize=4096)
def _partition_of_prefix(prefix: str) -> int | None:
    """Return 13 for "[GroupCoordinator id=1 topic=__consumer_offsets partition=13] "."""
    number = prefix.rstrip("]: ").rpartition(_PARTITION)[2]
    return int(number) if _PARTITION in prefix and number.isdecimal() and len(number) < 9 else None


def _match(dialect: str, message: str) -> Row | None:
    """Return the row of a message, None if the line is known to say nothing."""
    for pattern in candidates(dialect, message):
        row = pattern.matcher.match(message)
        if row is None:
            continue
        event = pattern.event
        if event == IGNORED:
            return None
        row["event"] = event
        if event == "preparing_rebalance":
            _explain(row)
        elif event in _TEXT_IS_DETAIL:
            row["attributes"]["detail"] = message
        return row
    row = empty_row()
    row["event"] = "unrecognised"
    row["attributes"]["text"] = message
    return row


def _explain(row: Row) -> None:
    """Read the reason of a rebalance into trigger, culprits and the client's words."""
    if row["reason"] is None:
        return
    reason = read_reason(row["reason"])
    row["reason"] = reason.text
    row["client_reason"] = reason.client_reason
    row["group_instance_id"] = reason.group_instance_id
    row["attributes"]["trigger"] = reason.trigger
    if reason.member_ids:
        row["member_id"] = reason.member_ids[0]
        row["attributes"]["member_ids"] = json.dumps(reason.member_ids)


def _one_for_each_group(row: Row) -> list[Row]:
    """Split "a, b" into a row for a and one for b; the number of offsets removed is that of the whole line."""
    rows = []
    for seq, group_id in enumerate(row["group_id"].split(", ")):
        rows.append({**row, "seq": seq, "group_id": group_id, "attributes": dict(row["attributes"])})
    return rows
