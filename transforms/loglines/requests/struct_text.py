"""Reads what `Struct.toString` prints of a request or an answer: `{group_id=g1,members=[{member_id=m,...}]}`.

Nothing is quoted or escaped, so a text ends where a name follows that Kafka knows, or where its struct ends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from transforms.loglines.requests.apis import APIS, ERROR, GROUP, INTEGER, TEXT, Each, Json, Value

_OLD_NAMES: dict[str, str] = {
    "group_protocols": "protocols",
    "protocol_metadata": "metadata",
    "group_protocol": "protocolName",
    "leader_id": "leader",
    "member_metadata": "metadata",
    "group_assignment": "assignments",
    "member_assignment": "assignment",
    "session_timeout": "sessionTimeoutMs",
    "rebalance_timeout": "rebalanceTimeoutMs",
    "responses": "topics",
    "partition_responses": "partitions",
    "group_error_codes": "results",
    "topic": "name",
}
"""Names in the schemas that were written by hand, up to 2.2, which those of the message files do not spell alike."""

_OLD_NAMES_WITHIN: dict[str, dict[str, str]] = {"group_protocols": {"protocol_name": "name"}}
"""Names that mean something else inside the structs of a list."""

_OTHERS = ("throttleTimeMs", "retentionTimeMs", "retentionTime", "transactionalId", "producerId", "topic")
_NOTHING: Mapping[str, str] = {}


def _snake(name: str) -> str:
    return re.sub("(?=[A-Z])", "_", name).lower()


def _fields() -> dict[str, Value | None]:
    """Return the JSON names of all fields that are read, with the kind of those that are single values."""
    known: dict[str, Value | None] = dict.fromkeys(_OTHERS)
    known.update((field.name, field.value) for field in (GROUP, ERROR))
    for api in APIS.values():
        for field in (*api.request, *api.response):
            if isinstance(field, Each):
                known[field.name] = None
                known.update((inner.name, inner.value) for inner in field.fields)
            else:
                known[field.name] = field.value
        known.update(dict.fromkeys(api.errors))
    return known


_FIELDS = _fields()
_NAMES: dict[str, str] = {**{_snake(name): name for name in _FIELDS}, **_OLD_NAMES}
_INTEGERS = frozenset(name for name, value in _FIELDS.items() if value is INTEGER)
_TEXTS = frozenset(name for name, value in _FIELDS.items() if value is TEXT)
_NEVER_NULL = frozenset({"groupId", "memberId", "leader"})
_TAGS = "_tagged_fields"

_NAME = re.compile(r"([a-z_]+)=")
_BYTES = re.compile(r"java\.nio\.\w+\[[^\]]*\]|null(?=[,}])")
_NEXT = rf",(?:{'|'.join(sorted((*_NAMES, _TAGS, 'partition', 'partition_index')))})="
_END = re.compile(rf"{_NEXT}|\}}\Z")
_END_IN_LIST = re.compile(rf"{_NEXT}|\}}(?:,\{{|\])")
"""Where a text ends: before the next name, or with its struct, which another one or the end of the list follows."""


def read_struct(line: str) -> Json:
    """Read a struct.

    Returns:
        The fields by the names that the JSON of later brokers has for them, as far as `apis` knows them.
        Bytes are None: only their place in a buffer is printed.

    Raises:
        ValueError: this is no struct, or it is cut off.
    """
    struct, end = _struct(line, 0, _NOTHING, _END)
    if end != len(line):
        raise ValueError(f"text after a struct: {line[end : end + 40]!r}")
    return struct


def _struct(line: str, begin: int, within: Mapping[str, str], ends: re.Pattern[str]) -> tuple[Json, int]:
    if not line.startswith("{", begin):
        raise ValueError(f"struct expected, not {line[begin : begin + 40]!r}")
    struct: Json = {}
    at = begin + 1
    while not line.startswith("}", at):
        found = _NAME.match(line, at)
        if found is None:
            raise ValueError(f"field expected, not {line[at : at + 40]!r}")
        printed = found.group(1)
        name = within.get(printed) or _NAMES.get(printed, printed)
        value, at = _value(line, found.end(), name, printed, ends)
        struct[name] = value
        if line.startswith(",", at):
            at += 1
    return struct, at + 1


def _value(line: str, begin: int, name: str, printed: str, ends: re.Pattern[str]) -> tuple[Any, int]:
    if name not in _TEXTS and (line.startswith("[{", begin) or line.startswith("[]", begin)):
        return _list(line, begin + 1, _OLD_NAMES_WITHIN.get(printed, _NOTHING))
    if printed == _TAGS:
        end = line.find("}", begin) + 1
        if not end:
            raise ValueError("the struct is cut off")
        return None, end
    is_bytes = _BYTES.match(line, begin)
    if is_bytes is not None and name not in _NEVER_NULL:
        return None, is_bytes.end()
    end_of_text = ends.search(line, begin)
    if end_of_text is None:
        raise ValueError("the struct is cut off")
    end = end_of_text.start()
    value = line[begin:end]
    return (int(value) if name in _INTEGERS else value), end


def _list(line: str, begin: int, within: Mapping[str, str]) -> tuple[list[Json], int]:
    items: list[Json] = []
    at = begin
    while not line.startswith("]", at):
        item, at = _struct(line, at, within, _END_IN_LIST)
        items.append(item)
        if line.startswith(",", at):
            at += 1
    return items, at + 1
