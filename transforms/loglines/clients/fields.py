"""What fields in the templates of client lines stand for."""

from __future__ import annotations

import re

from schemas.client_events import CLIENT_STATES, EVENTS
from transforms.loglines.facts import ClientEvent
from transforms.loglines.templates.fields import GREEDY, LAZY, Kind, drop, put_integer, put_text
from transforms.loglines.templates.matching import IGNORED, Vocabulary
from transforms.loglines.templates.printed import collection, option

_GENERATION = re.compile(r"Generation\{generationId=(-?\d+), memberId='?(.*?)'?, protocol='?.*?'?\}", re.DOTALL)

_put_generation = put_integer("generation")


def _generation(event: ClientEvent, raw: str) -> None:
    """Read `Generation{generationId=5, memberId='..', protocol='range'}`, or the number alone (up to 2.6)."""
    printed = _GENERATION.fullmatch(raw)
    number, member_id = (raw, None) if printed is None else printed.groups()
    _put_generation(event, number)
    if member_id is not None:
        event.member_id = member_id


def _partitions(event: ClientEvent, raw: str) -> None:
    """Read `[orders-0, orders-1]`, or the same without brackets (up to 3.9)."""
    text = raw.strip()
    event.partitions = collection(text if text.startswith("[") else f"[{text}]")


def _instance(event: ClientEvent, raw: str) -> None:
    event.group_instance_id = option(raw)


def _given_member(event: ClientEvent, raw: str) -> None:
    """Read `need to re-join with the given member-id: ..`: the reason, and who the client is from now on."""
    event.reason = raw
    event.member_id = raw.rpartition(": ")[2]


_KINDS: dict[str, Kind[ClientEvent]] = {
    "generation": (r"(Generation\{.*?\}|-?\d{1,10})", _generation),
    "member_id": (r" *(.*?)", put_text("member_id")),
    "group_instance_id": (LAZY, _instance),
    "group_id": (GREEDY, put_text("group_id")),
    "client_state": (r"(\w+)", put_text("client_state")),
    "partitions": (r"([^\n]*?)", _partitions),
    "reason": (r"([^\n]*)", put_text("reason")),
    "rebalancing": (r"([^\n]* rebalancing)", put_text("reason")),
    "coordinator_is_another": (r"(the group coordinator [^\n]* is incorrect)\.[^\n]*", put_text("reason")),
    "given_member": (r"(need to re-join with the given member-id: [^\n]+)", _given_member),
    "any": (LAZY, drop),
    "rest": (GREEDY, drop),
}
"""Field of a template to what it fills; all that a template can name."""


def _new(meaning: str, state: str | None) -> ClientEvent:
    return ClientEvent(meaning, client_state=state)


table = Vocabulary({*EVENTS, IGNORED}, _KINDS.__getitem__, _new, CLIENT_STATES).table
"""Reads a table of client lines, where a heading may name the client's state after the line."""
