"""Lines of brokers as those who show or ship them print them: with a time or a name in front, or without line ends."""

from __future__ import annotations

import json

import pytest

from transforms.loglines.entries.entries import entries
from transforms.loglines.entries.entry import Entry
from transforms.loglines.parse import parse_entry

NOON_UTC = 1718452800000
MESSAGE = "[GroupCoordinator 1]: Stabilized group g1 generation 5 (__consumer_offsets-13) with 2 members"
PLAIN = f"[2024-06-15 12:00:00,123] INFO {MESSAGE} (kafka.coordinator.group.GroupCoordinator)"
NEXT = PLAIN.replace("12:00:00,123", "12:00:01,000")
STRIMZI = f"2024-06-15 12:00:00,123 INFO {MESSAGE} (kafka.coordinator.group.GroupCoordinator) [executor-Rebalance]"
TRACE = ["java.lang.X: boom", "\tat a.b(C.java:1)", "Caused by: java.lang.Y", "... 3 more"]


def read(*lines: str, layout: str = "auto") -> list[Entry]:
    return list(entries([line + "\n" for line in lines], layout=layout))


FRONTS = {
    "kubectl logs --timestamps": "2024-06-15T12:00:09.123456789Z ",
    "journalctl -o short-iso": "2024-06-15T14:00:09+0200 host kafka[1]: ",
    "Fluentd": "2024-06-15T14:00:09+02:00\tkube.var.log\t",
    "docker compose logs": "kafka-1  | ",
    "docker compose logs, narrow": "broker | ",
    "kubectl logs --prefix": "[pod/kafka-0/kafka] ",
    "syslog": "Jun 15 12:00:09 host kafka[1]: ",
    "syslog with a priority": "<14>Jun  5 12:00:09 host kafka-server: ",
    "syslog since 2009": "<14>1 2024-06-15T12:00:09Z host kafka 1 - - ",
    "the order of bytes": "\ufeff",
}


@pytest.mark.parametrize("front", FRONTS.values(), ids=FRONTS)
@pytest.mark.parametrize("line", [PLAIN, STRIMZI], ids=["Kafka", "Strimzi"])
def test_what_stands_in_front_of_a_line_is_taken_off(front: str, line: str) -> None:
    assert read(front + line, front + NEXT) == [Entry(1, NOON_UTC + 123, line), Entry(2, NOON_UTC + 1000, NEXT)]


@pytest.mark.parametrize("front", FRONTS.values(), ids=FRONTS)
def test_json_behind_it_is_read_as_if_it_stood_alone(front: str) -> None:
    event = {"@timestamp": "2024-06-15T12:00:00.123Z", "log.level": "INFO", "message": MESSAGE}
    (entry,) = read(front + json.dumps({**event, "log.logger": "kafka.coordinator.group.GroupCoordinator"}))
    assert entry == Entry(1, NOON_UTC + 123, PLAIN)


@pytest.mark.parametrize("front", ["kafka-1  | ", "[pod/kafka-0/kafka] "])
def test_a_name_in_front_goes_from_stack_traces_as_well(front: str) -> None:
    assert read(*(front + line for line in (PLAIN, *TRACE, NEXT)))[0].text == "\n".join([PLAIN, *TRACE])


@pytest.mark.parametrize(
    "line",
    ["2024-06-15T12:00:00.123Z INFO started", "kafka | what is this", "[pod] is ready", "Jun 15 12:00:09 x y: z"],
)
def test_what_stands_in_front_of_no_entry_stays(line: str) -> None:
    assert any(line in entry.text for entry in read(PLAIN, line))


def test_who_prints_no_line_ends_has_cut_no_lines() -> None:
    """Fluent Bit reads the lines of containers, and puts them into JSON as they are."""
    lines = [PLAIN, *TRACE, NEXT]
    for fields in ({"stream": "stdout", "_p": "F"}, {"stream": "stdout"}):
        texts = [entry.text for entry in read(*(json.dumps({**fields, "log": line}) for line in lines))]
        assert texts == ["\n".join([PLAIN, *TRACE]), NEXT]
    pieces = [
        json.dumps({"stream": "stdout", "_p": tag, "log": text}) for tag, text in (("P", PLAIN[:9]), ("F", PLAIN[9:]))
    ]
    assert read(*pieces) == [Entry(1, NOON_UTC + 123, PLAIN)]


def test_pieces_are_put_together_up_to_a_bound() -> None:
    piece = json.dumps({"log": "x" * 16_384, "stream": "stdout"})
    found = read(PLAIN, *[piece] * 200)
    assert max(len(entry.text) for entry in found) < 3 << 20
    assert sum(entry.text.count("x") for entry in found) == PLAIN.count("x") + 200 * 16_384


SCALA, JAVA = (
    "Stabilized group g1 generation 5 (__consumer_offsets-13) with 2 members",
    "Stabilized group g1 generation 5 with 2 members.",
)


@pytest.mark.parametrize(
    ("layout", "line", "dialect"),
    [
        (
            "[%d] %p %m (%c{1})%n",
            f"[2024-06-15 12:00:00,123] INFO [GroupCoordinator 1]: {SCALA} (GroupCoordinator)",
            "scala",
        ),
        (
            "[%d] %p %m (%c{1.})%n",
            f"[2024-06-15 12:00:00,123] INFO [GroupCoordinator 1]: {SCALA} (k.c.g.GroupCoordinator)",
            "scala",
        ),
        ("auto", f"[2024-06-15 12:00:00,123] INFO [GroupCoordinator 1]: {SCALA} (group.GroupCoordinator)", "scala"),
        ("auto", f"[2024-06-15 12:00:00,123] INFO [GroupCoordinator id=1] {JAVA} (GroupMetadataManager)", "java"),
        (
            "auto",
            f"[2024-06-15 12:00:00,123] INFO [GroupCoordinator id=1] {JAVA} (o.a.k.c.g.GroupMetadataManager) ",
            "java",
        ),
    ],
)
def test_a_logger_may_be_shortened_and_blanks_may_follow(layout: str, line: str, dialect: str) -> None:
    (entry,) = read(line, layout=layout)
    (event,) = parse_entry(entry.text, entry.logged_at)
    assert (event.event, event.group_id, event.dialect) == ("stabilized", "g1", dialect)


@pytest.mark.parametrize("logger", ["org.acme.GroupCoordinator", "x.y.z.GroupMetadataManager", "", "."])
def test_the_loggers_of_others_tell_nothing(logger: str) -> None:
    (entry,) = read(f"[2024-06-15 12:00:00,123] INFO {SCALA} ({logger})")
    assert not [each for each in parse_entry(entry.text, entry.logged_at) if getattr(each, "event", "") == "stabilized"]


def test_digits_that_are_no_decimals_are_no_time() -> None:
    assert len(read(PLAIN, PLAIN.replace(",123", ",²23"))) == 1


@pytest.mark.parametrize("lines", [(PLAIN, STRIMZI.replace("12:00:00,123", "12:00:01,000")), (STRIMZI, NEXT)])
def test_what_runs_beside_a_broker_may_print_another_layout(lines: tuple[str, ...]) -> None:
    assert [entry.text for entry in read(*lines, *lines)] == [*lines, *lines]
    odd = "2024-06-15 12:00:01,000 is what the producer sent"
    assert [entry.text for entry in read(PLAIN, odd)] == [f"{PLAIN}\n{odd}"], "it has no level"


REFUSED = "Heartbeat failed for group g1 because it is rebalancing"
EVENTS = {
    "slog": {"time": "2024-06-15T12:00:00.123Z", "level": "INFO", "msg": REFUSED},
    "zap": {"level": "info", "ts": 1718452800.123, "msg": REFUSED, "logger": "x"},
    "pino": {"level": 30, "time": 1718452800123, "msg": REFUSED},
    "structlog": {"event": REFUSED, "level": "warning", "timestamp": "2024-06-15T12:00:00.123000Z"},
    "python-json-logger": {
        "asctime": "2024-06-15 12:00:00,123",
        "levelname": "WARNING",
        "name": "x",
        "message": REFUSED,
    },
}


@pytest.mark.parametrize("fields", EVENTS.values(), ids=EVENTS)
def test_an_event_of_an_application_is_an_entry(fields: dict[str, object]) -> None:
    entry, _ = read(json.dumps(fields), json.dumps(fields))
    assert entry.logged_at == NOON_UTC + 123
    assert f" {REFUSED}" in entry.text


def test_a_line_that_a_collector_took_apart_is_the_line() -> None:
    fields = {"@timestamp": "2024-06-15T12:00:09Z", "level": "INFO", "message": PLAIN}
    assert read(json.dumps(fields)) == [Entry(1, NOON_UTC + 123, PLAIN)]
