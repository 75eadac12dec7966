"""Lines of JSON: events of log4j2's layouts, and lines that a collector wrapped."""

from __future__ import annotations

import json
from typing import Any

import pytest

from transforms.loglines.entries.entries import entries
from transforms.loglines.entries.entry import Entry
from transforms.loglines.parse import parse_entry

NOON_UTC = 1718452800000
MESSAGE = "[GroupCoordinator 1]: Stabilized group g1 generation 5 (__consumer_offsets-13) with 2 members"
LOGGER = "kafka.coordinator.group.GroupCoordinator"
PLAIN = f"[2024-06-15 12:00:00,123] INFO {MESSAGE} ({LOGGER})"
TRACE = "java.lang.X: boom\n\tat a.b(C.java:1)"
INSTANT = {"epochSecond": 1718452800, "nanoOfSecond": 123456789}


def dumps(fields: dict[str, Any]) -> str:
    return json.dumps(fields)


def read(*lines: str, time_zone: str = "UTC") -> list[Entry]:
    return list(entries([line + "\n" for line in lines], time_zone))


EVENTS: dict[str, dict[str, Any]] = {
    "EcsLayout": {"@timestamp": "2024-06-15T12:00:00.123Z", "log.level": "INFO", "message": MESSAGE,
                  "log.logger": LOGGER},
    "Ecs nested": {"@timestamp": "2024-06-15T12:00:00.123456Z", "log": {"level": "info", "logger": LOGGER},
                   "message": MESSAGE},
    "LogstashJsonEventLayoutV1": {"@version": 1, "source_host": "b1", "message": MESSAGE, "thread_name": "main",
                                  "@timestamp": "2024-06-15T14:00:00.123+0200", "level": "INFO", "logger_name": LOGGER},
    "JsonLayout": {"instant": INSTANT, "thread": "main", "level": "INFO", "loggerName": LOGGER, "message": MESSAGE},
    "JsonLayout of 2.8": {"timeMillis": 1718452800123, "level": "INFO", "loggerName": LOGGER, "message": MESSAGE},
    "GelfLayout": {"version": "1.1", "host": "b1", "timestamp": 1718452800.123, "level": 6, "_logger": LOGGER,
                   "short_message": MESSAGE, "full_message": MESSAGE},
    "GcpLayout": {"timestamp": "2024-06-15T12:00:00.123Z", "severity": "INFO", "message": MESSAGE, "_logger": LOGGER},
    "own names": {"time": "2024-06-15 12:00:00,123", "level": "INFO", "logger": LOGGER, "message": MESSAGE},
}  # fmt: skip

WRAPPED: dict[str, dict[str, Any]] = {
    "Docker": {"log": PLAIN + "\n", "stream": "stdout", "time": "2024-06-15T12:00:01.5Z"},
    "Filebeat": {
        "@timestamp": "2024-06-15T12:00:01.500Z",
        "message": PLAIN,
        "log": {"file": {"path": "/x"}, "offset": 7},
    },
    "Fluent Bit": {"date": 1718452801.5, "log": PLAIN, "kubernetes": {"pod_name": "b1"}},
    "journald": {"MESSAGE": PLAIN, "_HOSTNAME": "b1"},
    "Docker around Filebeat": {"log": dumps({"message": PLAIN}) + "\n", "stream": "stdout"},
    "Docker around JSON": {"log": dumps(EVENTS["JsonLayout"]) + "\n", "stream": "stdout"},
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_as_kafka_would_have_printed_it(name: str) -> None:
    ((number, logged_at, text),) = read(dumps(EVENTS[name]))
    assert (number, logged_at) == (1, NOON_UTC + 123)
    (parsed,) = parse_entry(text, logged_at)
    assert (parsed.event, parsed.group_id, parsed.generation) == ("stabilized", "g1", 5)
    assert parsed.topic_partition_of_group == 13


@pytest.mark.parametrize("name", WRAPPED)
def test_an_original_line_is_read_as_if_it_stood_alone(name: str) -> None:
    assert read(dumps(WRAPPED[name])) == [Entry(1, NOON_UTC + 123, PLAIN)]


def test_the_line_of_a_container_is_read_as_if_it_stood_alone() -> None:
    assert read(f"2024-06-15T12:00:01.500000000Z stdout F {PLAIN}") == [Entry(1, NOON_UTC + 123, PLAIN)]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda piece, is_last: dumps({"log": piece + ("\n" if is_last else ""), "stream": "stdout"}),
        lambda piece, is_last: f"2024-06-15T12:00:01.500000000Z stdout {'F' if is_last else 'P'} {piece}",
        lambda piece, is_last: dumps({"log": piece, "stream": "stdout", "logtag": "F" if is_last else "P"}),
    ],
)
def test_a_line_that_was_cut_is_put_together(wrap: Any) -> None:
    pieces = [PLAIN[:20], PLAIN[20:50], PLAIN[50:]]
    lines = [wrap(piece, number == 2) for number, piece in enumerate(pieces)]
    assert read(*lines, wrap(PLAIN, True)) == [Entry(1, NOON_UTC + 123, PLAIN), Entry(4, NOON_UTC + 123, PLAIN)]
    assert [entry.text for entry in read(*lines[:2])] == [PLAIN[:50]]


def test_a_wrapped_stack_trace_stays_with_its_line() -> None:
    lines = [dumps({"log": line + "\n", "stream": "stdout"}) for line in (PLAIN, *TRACE.split("\n"), PLAIN)]
    assert [entry.text for entry in read(*lines)] == [f"{PLAIN}\n{TRACE}", PLAIN]


@pytest.mark.parametrize(
    "fields",
    [
        {**EVENTS["EcsLayout"], "error.stack_trace": TRACE},
        {**EVENTS["LogstashJsonEventLayoutV1"], "exception": {"exception_class": "X", "stacktrace": TRACE}},
        {**EVENTS["JsonLayout"], "thrown": {"name": "X", "extendedStackTrace": TRACE}},
    ],
)
def test_the_stack_trace_of_an_event_follows_it(fields: dict[str, Any]) -> None:
    (entry,) = read(dumps(fields))
    assert entry.text.endswith(f"({LOGGER})\n{TRACE}")
    assert parse_entry(entry.text, entry.logged_at)[0].attributes["exception"] == "java.lang.X: boom"


def test_requests_may_be_events_too() -> None:
    request = 'Completed request:{"requestHeader":{"requestApiKey":12,'
    fields = {**EVENTS["EcsLayout"], "message": request, "log.logger": "kafka.request.logger", "log.level": "DEBUG"}
    (entry,) = read(dumps(fields))
    assert parse_entry(entry.text, entry.logged_at)[0].reason_code == "bad_request_line"


def test_a_time_without_a_zone_is_the_brokers() -> None:
    (entry,) = read(dumps(EVENTS["own names"]), time_zone="Europe/Berlin")
    assert entry.logged_at == NOON_UTC + 123 - 7200_000
    (entry,) = read(dumps(EVENTS["EcsLayout"]), time_zone="Europe/Berlin")
    assert entry.logged_at == NOON_UTC + 123


@pytest.mark.parametrize(
    "line", ["{", "{}", '{"a":1}', '{"message":5}', "{" * 10_000, '{"log":{"message":"x"}}', '{"log":null}']
)
def test_other_json_belongs_to_the_entry_before(line: str) -> None:
    assert [entry.text for entry in read(PLAIN, line, PLAIN)] == [f"{PLAIN}\n{line}", PLAIN]


@pytest.mark.parametrize("time", ["", "yesterday", None, -1, 1e300, float("nan"), {}, [], "2024-13-41T12:00:00Z", True])
def test_an_impossible_time_begins_no_entry(time: Any) -> None:
    found = read(PLAIN, dumps({**EVENTS["EcsLayout"], "@timestamp": time}))
    assert len(found) == 1


def test_half_a_surrogate_pair_does_not_reach_the_tables() -> None:
    """Applications cut lines at some length, and an emoji in two with them."""
    event = {"@timestamp": "2024-06-15T12:00:00.123Z", "level": "INFO", "logger_name": "com.shop.Checkout"}
    pieces = [{"log": half, "stream": "stdout"} for half in ("[2024-06-15 12:00:01,000] INFO so \ud83d", "\ude00!\n")]
    lines = [
        dumps({**event, "message": "thanks \ud83d"}),
        dumps({"log": f"{PLAIN} \udc00\n", "stream": "stdout"}),
        *map(dumps, pieces),
        dumps({"log": "[2024-06-15 12:00:02,000] INFO at its end \ud83d", "stream": "stdout"}),
    ]
    texts = [entry.text for entry in read(*lines)]
    assert [text.encode().decode() for text in texts] == texts, "UTF-8 can hold them"
    assert "thanks \ufffd" in texts[0]
    assert texts[1] == f"{PLAIN} \ufffd"
    assert "so \U0001f600!" in texts[2], "halves that lie in two pieces are a whole"
