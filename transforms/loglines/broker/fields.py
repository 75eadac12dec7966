"""What fields in the templates of coordinator lines stand for.

A field's name says where its value goes: the columns of `silver.coordinator_events` by their names, the names in
`_SPECIAL` by a rule of their own, any other name into `attributes`.
"""

from __future__ import annotations

import json

from schemas.client_reasons import said
from schemas.coordinator_events import EVENTS
from transforms.loglines.facts import CoordinatorEvent
from transforms.loglines.templates.fields import GREEDY, INTEGER, LAZY, Kind, Put, drop, put_integer, put_text
from transforms.loglines.templates.matching import IGNORED, Vocabulary
from transforms.loglines.templates.printed import member, member_ids, option


def _put_attribute(name: str) -> Put[CoordinatorEvent]:
    def put(event: CoordinatorEvent, raw: str) -> None:
        event.attributes[name] = raw

    return put


def _client_reason(event: CoordinatorEvent, raw: str) -> None:
    event.client_reason = said(raw)


def _instance_option(event: CoordinatorEvent, raw: str) -> None:
    event.group_instance_id = option(raw)


def _epoch(event: CoordinatorEvent, raw: str) -> None:
    if raw.isdecimal():  # OptionalInt.empty or None otherwise
        event.attributes["epoch"] = raw


def _members(event: CoordinatorEvent, raw: str) -> None:
    event.attributes["member_ids"] = json.dumps(member_ids(raw))


def _member(event: CoordinatorEvent, raw: str) -> None:
    fields = member(raw)
    event.member_id = fields["memberId"]
    event.group_instance_id = fields.get("groupInstanceId")
    for name, attribute in (("clientId", "client_id"), ("clientHost", "client_host")):
        value = fields.get(name)
        if value is not None:
            event.attributes[attribute] = value


def _new_leader(event: CoordinatorEvent, raw: str) -> None:
    member_id = member(raw)["memberId"]
    if member_id is not None:
        event.attributes["new_leader_member_id"] = member_id


# Member ids end in a uuid and hold no more than the client's own name before it, so the shortest text that fits is
# right; a group id may hold anything, even what follows it in the line, so the longest is.
_COLUMNS: dict[str, Kind[CoordinatorEvent]] = {
    "group_id": (GREEDY, put_text("group_id")),
    "member_id": (LAZY, put_text("member_id")),
    "group_instance_id": (LAZY, put_text("group_instance_id")),
    "generation": (INTEGER, put_integer("generation")),
    "member_count": (INTEGER, put_integer("member_count")),
    "topic_partition_of_group": (INTEGER, put_integer("topic_partition_of_group")),
    "state": (r"(\w+)", put_text("state")),
    "reason": (GREEDY, put_text("reason")),
    "client_reason": (GREEDY, _client_reason),
}

_SPECIAL: dict[str, Kind[CoordinatorEvent]] = {
    "instance_option": (LAZY, _instance_option),
    "epoch": (r"(?:OptionalInt\[|Some\()?(-?\d+|OptionalInt\.empty|None)[\])]?", _epoch),
    "members": (LAZY, _members),
    "member": (LAZY, _member),
    "new_leader": (LAZY, _new_leader),
    "groups": (GREEDY, put_text("group_id")),
    "static_count": (r"(\d+)", _put_attribute("static_count")),
    "duration_ms": (r"(\d+)", _put_attribute("duration_ms")),
    "records": (r"(\d+)", _put_attribute("records")),
    "offsets_removed": (r"(\d+)", _put_attribute("offsets_removed")),
    "detail": (GREEDY, _put_attribute("detail")),
    "short_group_id": (LAZY, put_text("group_id")),
    "rest": (GREEDY, drop),
}


def _kind(name: str) -> Kind[CoordinatorEvent]:
    return _COLUMNS.get(name) or _SPECIAL.get(name) or (LAZY, _put_attribute(name))


def _new(meaning: str, _: str | None) -> CoordinatorEvent:
    return CoordinatorEvent(meaning)


table = Vocabulary({*EVENTS, IGNORED}, _kind, _new).table
"""Reads a table of coordinator lines."""
