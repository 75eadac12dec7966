"""What fields in the templates of client lines stand for, whichever library prints them."""

from __future__ import annotations

import re
from functools import partial

from schemas.client_errors import WORDINGS
from schemas.client_events import CLIENT_STATES, EVENTS, LIBRARIES
from schemas.kafka_errors import ERROR_CODES, ERROR_NAMES
from transforms.loglines.facts import ClientEvent
from transforms.loglines.templates.fields import GREEDY, LAZY, Kind, drop, put_integer, put_text
from transforms.loglines.templates.matching import IGNORED, Vocabulary
from transforms.loglines.templates.printed import collection, option

_GENERATION = re.compile(r"Generation\{generationId=(-?\d+), memberId='?(.*?)'?, protocol='?.*?'?\}", re.DOTALL)

_TUPLE = re.compile(r"TopicPartition\(topic='(.*?)', partition=(\d+)\)")
_NUMBERS = re.compile(r"([\w.\-]+):?\[(\d[\d ]*)\]")
_WITH_TOPIC_ID = re.compile(r"([\w.\-]+)\([\w\-]{22}\)\[(\d+)\]")
_TASK = re.compile(r"TaskId\{subtopologyId=(.*?), partitionId=(\d+)\}")
_TOPIC_THEN_PARTITION = re.compile(r"topic: ([^,]+), partition: (\d+)")

_NO_COORDINATOR = "incorrect|not available|still loading"

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


def _tuples(event: ClientEvent, raw: str) -> None:
    """Read `{TopicPartition(topic='orders', partition=0), ..}` and the like; `set()` and `[]` are none."""
    event.partitions = [f"{topic}-{partition}" for topic, partition in _TUPLE.findall(raw)]


def _numbers(event: ClientEvent, raw: str) -> None:
    """Read `orders[0 1], payments[2]`, or `map[orders:[0 1]]`."""
    event.partitions = [f"{topic}-{each}" for topic, numbers in _NUMBERS.findall(raw) for each in numbers.split()]


def _with_topic_ids(event: ClientEvent, raw: str) -> None:
    """Read `orders(PvDmpIcZT1a0v0vPDMCaxg)[2], ..`."""
    event.partitions = [f"{topic}-{partition}" for topic, partition in _WITH_TOPIC_ID.findall(raw)]


def _tasks(event: ClientEvent, raw: str) -> None:
    """Read `TaskId{subtopologyId=0, partitionId=1}, ..`, of Kafka Streams."""
    event.partitions = [f"{subtopology}-{partition}" for subtopology, partition in _TASK.findall(raw)]


def _one_of_topic(event: ClientEvent, raw: str) -> None:
    """Read `topic: orders, partition: 0`."""
    found = _TOPIC_THEN_PARTITION.fullmatch(raw)
    event.partitions = None if found is None else ["-".join(found.groups())]


def _one_behind_slash(event: ClientEvent, raw: str) -> None:
    """Read `orders/0`."""
    event.partitions = ["-".join(raw.rsplit("/", 1))]


def _error_code(event: ClientEvent, raw: str) -> None:
    event.error = ERROR_NAMES.get(int(raw))


def _error_name(event: ClientEvent, raw: str) -> None:
    if raw not in ERROR_CODES:
        raise ValueError(f"{raw} is no error of Kafka")
    event.error = raw


def _instance(event: ClientEvent, raw: str) -> None:
    event.group_instance_id = None if raw == "<nil>" else option(raw)


def _given_member(event: ClientEvent, raw: str) -> None:
    """Read `need to re-join with the given member-id: ..`: the reason, and who the client is from now on."""
    event.reason = raw
    event.member_id = raw.rpartition(": ")[2]


_KINDS: dict[str, Kind[ClientEvent]] = {
    "generation": (r"(Generation\{.*?\}|-?\d{1,10})", _generation),
    "member_id": (r" *(.*?)", put_text("member_id")),
    "member_line": (r"([^\n]*)", put_text("member_id")),
    "group_instance_id": (LAZY, _instance),
    "group_id": (GREEDY, put_text("group_id")),
    "client_state": (r"(\w+)", put_text("client_state")),
    "partitions": (r"([^\n]*?)", _partitions),
    "reason": (r"([^\n]*)", put_text("reason")),
    "brief": (r"([^\n]*?)", put_text("reason")),
    "named_error": (rf"((?:{'|'.join(WORDINGS)}): [A-Z][^\n]*)", put_text("reason")),
    "error_code": (r"(\d{1,3})", _error_code),
    "error_name": (r"([A-Z]+(?:_[A-Z]+)+)", _error_name),
    "not_available": ("(not available)", put_text("reason")),
    "no_broker": (r"(no available broker [^\n]*)", put_text("reason")),
    "client_id": (LAZY, put_text("client_id")),
    "join_state": (r"([\w\-]+)", put_text("client_state")),
    "tuples": (LAZY, _tuples),
    "numbers": (LAZY, _numbers),
    "with_topic_ids": (r"([^\"]*)", _with_topic_ids),
    "tasks": (r"([^\n]*?)", _tasks),
    "one_of_topic": (r"(topic: [^,]+, partition: \d+)", _one_of_topic),
    "one_behind_slash": (r"([\w.\-]+/\d+)", _one_behind_slash),
    "rebalancing": (r"([^\n]* rebalancing)", put_text("reason")),
    "no_coordinator": (rf"(the group coordinator [^\n]* is (?:{_NO_COORDINATOR}))\.[^\n]*", put_text("reason")),
    "fenced": (r"(member fenced - rejoining)", put_text("reason")),
    "given_member": (r"(need to re-join with the given member-id: [^\n]+)", _given_member),
    "any": (LAZY, drop),
    "rest": (GREEDY, drop),
}
"""Field of a template to what it fills; all that a template can name."""


def _new(library: str, meaning: str, state: str | None) -> ClientEvent:
    return ClientEvent(meaning, client_state=state, client_software=library)


VOCABULARIES = {
    library: Vocabulary({*EVENTS, IGNORED}, _KINDS.__getitem__, partial(_new, library), CLIENT_STATES)
    for library in LIBRARIES
}
"""Reads the tables of a library's lines; a heading may name the client's state after the line."""

table = VOCABULARIES["java"].table
"""Reads a table of the Java consumer's lines."""
