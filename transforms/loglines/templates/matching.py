"""Log templates: Kafka's own text with named fields, compiled to a matcher that fills a row.

A field's name says where its value goes: the columns of `silver.coordinator_events` by their names, the names in
`_SPECIAL` by a rule of their own, any other name into `attributes`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schemas.tables.silver import COORDINATOR_EVENTS
from transforms.loglines.templates.printed import collection, member, option

Row = dict[str, Any]
Put = Callable[[Row, str], None]
Kind = tuple[str, Put]
"""Regular expression of a field, with one group, and what is done with what it caught."""

PROVENANCE = frozenset({"cluster", "broker", "source_file", "line_number", "loaded_at"})
"""Columns that a line cannot know of itself; whoever read the file adds them."""

_EMPTY: Row = {name: None for name in COORDINATOR_EVENTS.columns if name not in PROVENANCE}

NOT_PROVIDED = "not provided"
"""What a coordinator prints where a client gave no reason."""

_INT_MAX = (1 << 31) - 1


def empty_row() -> Row:
    """Return a row of `silver.coordinator_events` without its provenance, all null but seq 0 and no attributes."""
    row = _EMPTY.copy()
    row["seq"] = 0
    row["attributes"] = {}
    return row


def put_column(name: str) -> Put:
    """Return what stores a text in a column."""

    def put(row: Row, raw: str) -> None:
        row[name] = raw

    return put


def put_integer(name: str) -> Put:
    """Return what stores a 32 bit number in a column."""

    def put(row: Row, raw: str) -> None:
        value = int(raw)
        if abs(value) > _INT_MAX:
            raise ValueError(f"{name} {raw} is out of range")
        row[name] = value

    return put


def _attribute(name: str) -> Put:
    def put(row: Row, raw: str) -> None:
        row["attributes"][name] = raw

    return put


def _client_reason(row: Row, raw: str) -> None:
    row["client_reason"] = None if raw == NOT_PROVIDED else raw


def _instance_option(row: Row, raw: str) -> None:
    row["group_instance_id"] = option(raw)


def _epoch(row: Row, raw: str) -> None:
    if raw.isdigit():  # OptionalInt.empty or None otherwise
        row["attributes"]["epoch"] = raw


def _members(row: Row, raw: str) -> None:
    row["attributes"]["member_ids"] = json.dumps(collection(raw))


def _member(row: Row, raw: str) -> None:
    fields = member(raw)
    row["member_id"] = fields["memberId"]
    row["group_instance_id"] = fields.get("groupInstanceId")
    for name, attribute in (("clientId", "client_id"), ("clientHost", "client_host")):
        value = fields.get(name)
        if value is not None:
            row["attributes"][attribute] = value


def _new_leader(row: Row, raw: str) -> None:
    row["attributes"]["new_leader_member_id"] = member(raw)["memberId"]


def _drop(row: Row, raw: str) -> None:
    """Match, keep nothing: the whole line is kept, or none of it."""


_LAZY, _GREEDY, _INTEGER = "(.*?)", "(.*)", r"(-?\d{1,10})"

# Member ids end in a uuid and hold no more than the client's own name before it, so the shortest text that fits is
# right; a group id may hold anything, even what follows it in the line, so the longest is.
_COLUMNS: dict[str, Kind] = {
    "group_id": (_GREEDY, put_column("group_id")),
    "member_id": (_LAZY, put_column("member_id")),
    "group_instance_id": (_LAZY, put_column("group_instance_id")),
    "generation": (_INTEGER, put_integer("generation")),
    "member_count": (_INTEGER, put_integer("member_count")),
    "topic_partition_of_group": (_INTEGER, put_integer("topic_partition_of_group")),
    "state": (r"(\w+)", put_column("state")),
    "reason": (_GREEDY, put_column("reason")),
    "client_reason": (_GREEDY, _client_reason),
}

_SPECIAL: dict[str, Kind] = {
    "instance_option": (_LAZY, _instance_option),
    "epoch": (r"(?:OptionalInt\[|Some\()?(-?\d+|OptionalInt\.empty|None)[\])]?", _epoch),
    "members": (_LAZY, _members),
    "member": (_LAZY, _member),
    "new_leader": (_LAZY, _new_leader),
    "groups": (_GREEDY, put_column("group_id")),
    "static_count": (r"(\d+)", _attribute("static_count")),
    "duration_ms": (r"(\d+)", _attribute("duration_ms")),
    "records": (r"(\d+)", _attribute("records")),
    "offsets_removed": (r"(\d+)", _attribute("offsets_removed")),
    "detail": (_GREEDY, _attribute("detail")),
    "short_group_id": (_LAZY, put_column("group_id")),
    "rest": (_GREEDY, _drop),
}

_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Matcher:
    """A compiled template.

    Attributes:
        first_word: the literal text up to the first space, by which messages are looked up; empty if a field is
            part of the first word.
        literal: the longest literal piece, to test before the regular expression.
        full_match: matches the whole message.
        puts: one for each group of the match: stores what it caught.
        new_row: makes the row that they fill.
    """

    first_word: str
    literal: str
    full_match: Callable[[str], re.Match[str] | None]
    puts: tuple[Put, ...]
    new_row: Callable[[], Row]

    def match(self, message: str) -> Row | None:
        """Return a row with the fields of `message`, or None if the template does not fit."""
        if self.literal not in message:
            return None
        found = self.full_match(message)
        if found is None:
            return None
        row = self.new_row()
        try:
            for put, raw in zip(self.puts, found.groups(), strict=True):
                put(row, raw)
        except ValueError:  # a number that no broker can print
            return None
        return row


def _kind(name: str) -> Kind:
    return _COLUMNS.get(name) or _SPECIAL.get(name) or (_LAZY, _attribute(name))


def compile_template(
    template: str, kind: Callable[[str], Kind] = _kind, new_row: Callable[[], Row] = empty_row
) -> Matcher:
    """Compile Kafka's text with `{fields}` in it.

    Args:
        template: the text.
        kind: gives the kind of a field by its name.
        new_row: makes an empty row of the table that the fields go to.
    """
    pieces = _FIELD.split(template)
    literals, names = pieces[::2], pieces[1::2]
    kinds = [kind(name) for name in names]
    regex = re.escape(literals[0])
    for (expression, _), literal in zip(kinds, literals[1:], strict=True):
        regex += expression + re.escape(literal)
    return Matcher(
        first_word=literals[0].split(" ", 1)[0] if " " in literals[0] or not names else "",
        literal=max(literals, key=len),
        full_match=re.compile(regex, re.DOTALL).fullmatch,
        puts=tuple(put for _, put in kinds),
        new_row=new_row,
    )
