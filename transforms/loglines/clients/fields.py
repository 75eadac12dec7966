"""What fields in the templates of client lines stand for, and what one row of their table says."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from schemas.client_events import CLIENT_STATES, EVENTS
from schemas.tables.silver import CLIENT_EVENTS
from transforms.loglines.templates.blocks import IGNORED, blocks
from transforms.loglines.templates.matching import (
    PROVENANCE,
    Kind,
    Matcher,
    Row,
    compile_template,
    put_column,
    put_integer,
)
from transforms.loglines.templates.printed import collection, option

_EMPTY: Row = {name: None for name in CLIENT_EVENTS.columns if name not in PROVENANCE | {"host"}}
_GENERATION = re.compile(r"Generation\{generationId=(-?\d+), memberId='?(.*?)'?, protocol='?.*?'?\}", re.DOTALL)


def empty_row() -> Row:
    """Return a row of `silver.client_events` without its provenance, all null."""
    return _EMPTY.copy()


def _generation(row: Row, raw: str) -> None:
    """Read `Generation{generationId=5, memberId='..', protocol='range'}`, or the number alone (up to 2.6)."""
    printed = _GENERATION.fullmatch(raw)
    number, member_id = (raw, None) if printed is None else printed.groups()
    put_integer("generation")(row, number)
    if member_id is not None:
        row["member_id"] = member_id


def _partitions(row: Row, raw: str) -> None:
    """Read `[orders-0, orders-1]`, or the same without brackets (up to 3.9)."""
    text = raw.strip()
    row["partitions"] = collection(text if text.startswith("[") else f"[{text}]")


def _instance(row: Row, raw: str) -> None:
    row["group_instance_id"] = option(raw)


def _given_member(row: Row, raw: str) -> None:
    """Read `need to re-join with the given member-id: ..`: the reason, and who the client is from now on."""
    row["reason"] = raw
    row["member_id"] = raw.rpartition(": ")[2]


def _drop(row: Row, raw: str) -> None:
    """Match, keep nothing."""


_LAZY, _GREEDY = "(.*?)", "(.*)"

KINDS: dict[str, Kind] = {
    "generation": (r"(Generation\{.*?\}|-?\d{1,10})", _generation),
    "member_id": (r" *(.*?)", put_column("member_id")),
    "group_instance_id": (_LAZY, _instance),
    "group_id": (_GREEDY, put_column("group_id")),
    "client_state": (r"(\w+)", put_column("client_state")),
    "partitions": (r"([^\n]*?)", _partitions),
    "reason": (r"([^\n]*)", put_column("reason")),
    "rebalancing": (r"([^\n]* rebalancing)", put_column("reason")),
    "coordinator_is_another": (r"(the group coordinator [^\n]* is incorrect)\.[^\n]*", put_column("reason")),
    "given_member": (r"(need to re-join with the given member-id: [^\n]+)", _given_member),
    "any": (_LAZY, _drop),
    "rest": (_GREEDY, _drop),
}
"""Field of a template to the column that it fills; all that a template can name."""


@dataclass(frozen=True, slots=True)
class ClientPattern:
    """One log line of a consumer.

    Attributes:
        event: event that the line tells, out of `schemas.client_events`, or `IGNORED`.
        versions: Kafka versions that print it, first and last; open = up to the latest.
        client_state: the client's state after the line; None = the line does not tell, or has it itself.
        template: Kafka's text with fields out of `KINDS`.
        sample: such a line as a client prints it, behind its prefix.
    """

    event: str
    versions: str
    client_state: str | None
    template: str
    sample: str
    matcher: Matcher = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the template; refuse an event or a state that is not in the vocabulary."""
        if self.event != IGNORED and self.event not in EVENTS:
            raise ValueError(f"{self.event} is not an event")
        if self.client_state is not None and self.client_state not in CLIENT_STATES:
            raise ValueError(f"{self.client_state} is not a state")
        object.__setattr__(self, "matcher", compile_template(self.template, KINDS.__getitem__, empty_row))

    def read(self, message: str) -> Row | None:
        """Return the row of a message, or None if the template does not fit."""
        row = self.matcher.match(message)
        if row is not None:
            row["event"] = self.event
            if self.client_state is not None:
                row["client_state"] = self.client_state
        return row


def client_table(text: str) -> tuple[ClientPattern, ...]:
    r"""Read a table of client lines, see `transforms.loglines.templates.blocks.blocks`.

    A heading is `event · versions` or `event · versions · state after the line`; `\n` and `\t` stand for themselves.
    """
    rows: list[ClientPattern] = []
    for heading, template, sample in blocks(text):
        state: Any = heading[2] if len(heading) > 2 else None
        rows.append(ClientPattern(heading[0], heading[1], state, _unescape(template), _unescape(sample)))
    return tuple(rows)


def _unescape(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t")
