"""Which library printed an entry, and which part of the entry is its message.

Applications print the lines of their libraries in layouts of their own, so each library is known by what it always
prints itself or under the name of its logger, whatever stands before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from transforms.loglines.clients.aiokafka import AIOKAFKA
from transforms.loglines.clients.franz_go import FRANZ_GO
from transforms.loglines.clients.kafka_python import KAFKA_PYTHON
from transforms.loglines.clients.librdkafka import LIBRDKAFKA
from transforms.loglines.clients.sarama import SARAMA
from transforms.loglines.facts import ClientEvent
from transforms.loglines.templates.matching import Index, Template


class Message(NamedTuple):
    """What a library logged.

    Attributes:
        text: its message.
        is_group: its source writes of nothing but groups, so that a message that no template fits counts.
        client_id: client.id, where each line of the library has it.
    """

    text: str
    is_group: bool
    client_id: str | None = None


@dataclass(frozen=True)
class Library:
    """A client library.

    Attributes:
        name: as `schemas.client_events.LIBRARIES` has it.
        templates: its lines.
        markers: an entry that holds none of these is not of this library.
        find: returns the message of an entry behind its time; None if the library did not print it.
        lines: its templates, to look messages up in.
    """

    name: str
    templates: tuple[Template[ClientEvent], ...]
    markers: tuple[str, ...]
    find: Callable[[str], Message | None]
    lines: Index[ClientEvent] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Sort the templates by their first words."""
        object.__setattr__(self, "lines", Index(self.templates))


_NEAR = 400
"""A library's mark begins this near to the time of an entry: behind level, thread and logger."""

_IS_DETAIL = re.compile(r"\b(?:DEBUG|TRACE)\b")

_RDKAFKA = re.compile(
    r"(?:(?P<facility>[A-Z][A-Z0-9_]+)[^\w\[|]*[\[|])?(?P<name>[^\[\]|]*?)#(?:consumer|producer)-\d+[\]|]* "
    r"\[thrd:[^\]]*\]: "
)
_RDKAFKA_DETAIL = re.compile(r"\bDEBUG\b|^%7")
_RDKAFKA_OF_GROUPS = re.compile(r"CGRP|JOIN|SYNC|HEARTBEAT|COMMIT|SESS|MAXPOLL|FATAL|ASSIGN|REBALANCE|LEAVE|MEMBERID")

_PYTHON_LEVEL = r"[\s:\-|\]\[]*(?:(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\b[\s:\-|\]\[]*)?"
_KAFKA_PYTHON_LOGGER = re.compile(
    rf"(?<![\w.(])kafka\.coordinator(?:\.(?:base|consumer|heartbeat))?(?![\w.]){_PYTHON_LEVEL}"
)
_AIOKAFKA_LOGGER = re.compile(rf"aiokafka\.consumer\.group_coordinator(?![\w.]){_PYTHON_LEVEL}")

_KGO_LEVEL = re.compile(r"\[(DEBUG|INFO|WARN|ERROR)\] ")
_SARAMA_BEGIN = re.compile(r"client/coordinator |consumergroup/|JoinGroup failed: group instance id ")


def _librdkafka(text: str) -> Message | None:
    found = _RDKAFKA.search(text, 0, _NEAR)
    if found is None:
        return None
    is_group = _RDKAFKA_OF_GROUPS.match(found["facility"] or "") is not None
    is_detail = _RDKAFKA_DETAIL.search(text, 0, found.start("name")) is not None
    return Message(text[found.end() :], is_group and not is_detail, found["name"])


def _of_logger(text: str, logger: re.Pattern[str]) -> Message | None:
    """Find what a logger of Python printed, by its name before the message."""
    found = logger.search(text, 0, _NEAR)
    if found is None:
        return None
    is_detail = _IS_DETAIL.search(text, 0, found.end()) is not None
    return Message(text[found.end() :], not is_detail)


def _kafka_python(text: str) -> Message | None:
    return _of_logger(text, _KAFKA_PYTHON_LOGGER)


def _aiokafka(text: str) -> Message | None:
    return _of_logger(text, _AIOKAFKA_LOGGER)


def _franz_go(text: str) -> Message | None:
    found = _KGO_LEVEL.search(text, 0, _NEAR)
    if found is None:
        return None
    message = text[found.end() :]
    return Message(message, found[1] != "DEBUG" and "; group: " in message)


def _sarama(text: str) -> Message | None:
    found = _SARAMA_BEGIN.search(text, 0, _NEAR)
    return None if found is None else Message(text[found.start() :], is_group=True)


LIBRARIES = (
    Library("librdkafka", LIBRDKAFKA, ("[thrd:",), _librdkafka),
    Library("aiokafka", AIOKAFKA, ("aiokafka.consumer.group_coordinator",), _aiokafka),
    Library("kafka-python", KAFKA_PYTHON, ("kafka.coordinator",), _kafka_python),
    Library(
        "franz-go",
        FRANZ_GO,
        ("; group: ", "; plan: ", "quitting heartbeat loop; why: ", "injecting fake fetch with an error; err: "),
        _franz_go,
    ),
    Library("sarama", SARAMA, ("client/coordinator ", "consumergroup/", "JoinGroup failed: group instance"), _sarama),
)
"""Libraries beside the Java client, whose lines have a prefix of their own (`client_lines`)."""

MARKERS = tuple(marker for library in LIBRARIES for marker in library.markers)
