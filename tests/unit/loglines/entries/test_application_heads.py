"""How entries begin in the logs of applications."""

from __future__ import annotations

import pytest

from transforms.loglines.entries.entries import entries, first_stamp
from transforms.loglines.entries.layouts import head_length
from transforms.loglines.facts import ClientEvent
from transforms.loglines.parse import parse_entry

NOON_UTC = 1718452800000
"""2024-06-15 12:00:00."""

BERLIN = "Europe/Berlin"


@pytest.mark.parametrize(
    ("line", "time_zone", "milliseconds"),
    [
        ("2024-06-15T12:00:00.001Z app-0 [INFO] joining group; group: g1", BERLIN, 1),  # franz-go
        ("2024-06-15T14:00:00.001+02:00  INFO 1 --- [main] o.a.k.C : x", "UTC", 1),  # Spring Boot 3
        ("2024-06-15T14:00:00.001+0200\tINFO\tx", "UTC", 1),  # zap
        ("2024-06-15 14:00:00,001 - kafka.coordinator - INFO - x", BERLIN, 1),  # Python's logging
        ("2024-06-15 14:00:00 INFO x", BERLIN, 0),  # the same with a date format of its own
        ("[2024-06-15 14:00:00,001: INFO/MainProcess] x", BERLIN, 1),  # Celery
        ("[sarama] 2024/06/15 14:00:00.001999 x", BERLIN, 1),  # Go's log
        ("2024/06/15 14:00:00 x", BERLIN, 0),
        ("%4|1718452800.001|SESSTMOUT|app#consumer-1| [thrd:main]: x", BERLIN, 1),  # librdkafka
    ],
)
def test_the_time_of_an_entry_is_read_with_its_own_zone_or_that_of_the_log(
    line: str, time_zone: str, milliseconds: int
) -> None:
    (entry,) = entries([line, "  and more"], time_zone)
    assert entry.logged_at == NOON_UTC + milliseconds
    assert entry.text == line + "\n  and more"


@pytest.mark.parametrize(
    "line",
    [
        '{"log":"%4|1718452800.001|MAXPOLL|app#consumer-1| [thrd:main]: x\\n","time":"2024-06-15T12:00:01Z"}',
        "2024-06-15T12:00:01.5Z stderr F %4|1718452800.001|MAXPOLL|app#consumer-1| [thrd:main]: x",
    ],
)
def test_a_collector_may_have_wrapped_it(line: str) -> None:
    (entry,) = entries([line], BERLIN)
    assert (entry.logged_at, entry.text[:12]) == (NOON_UTC + 1, "%4|171845280")


@pytest.mark.parametrize("line", ["[INFO] joining group; group: g", "INFO:kafka.coordinator:(Re-)joining group g"])
def test_a_line_without_a_time_has_that_of_its_collector(line: str) -> None:
    wrapped = [
        f"2024-06-15T12:00:00.001234567Z stderr F {line}",
        '{"log":"LINE\\n","stream":"stderr","time":"2024-06-15T14:00:00.001+02:00"}'.replace("LINE", line),
    ]
    for each in wrapped:
        (entry,) = entries([each, "2024-06-15T12:00:09Z stderr F   of a stack trace"], BERLIN)
        assert entry.logged_at == NOON_UTC + 1
        assert entry.text.endswith(f" {line}\n  of a stack trace")
        (fact,) = parse_entry(entry.text, entry.logged_at)
        assert isinstance(fact, ClientEvent)
        assert (fact.event, fact.group_id) == ("joining", "g")
    assert [entry.logged_at for entry in entries([line])] == [None]


def test_what_the_parts_of_an_application_print_may_be_mixed() -> None:
    lines = [
        "2024-06-15 12:00:00,001 ERROR app x",
        "Traceback (most recent call last):",
        "%4|1718452800.002|MAXPOLL|app#consumer-1| [thrd:main]: x",
        "2024-06-15T12:00:00.003Z y",
        "[app] 2024/06/15 12:00:00.004 z",
    ]
    found = list(entries(lines))
    assert [entry.logged_at for entry in found] == [NOON_UTC + each for each in (1, 2, 3, 4)]
    assert found[0].text.endswith("call last):")


def test_a_brokers_log_begins_entries_by_its_own_layout_only() -> None:
    lines = ["[2024-06-15 12:00:00,001] INFO a (b)", "2024-06-15 12:00:00 as it was", "%4|1718452800.002|x"]
    assert len(list(entries(lines))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "[2024-06-15T12:00:00.001+0000][info][gc] GC(0) Pause Young 1M->1M(2M) 1.234ms",
        "2024-06-15T12:00:00.001+0000: 0.123: [GC pause (G1 Evacuation Pause) (young), 0.0012345 secs]",
    ],
)
def test_logs_of_the_garbage_collector_are_no_applications(line: str) -> None:
    assert [entry.logged_at for entry in entries([line])] == [None]


@pytest.mark.parametrize("line", ["2024/06/15 x", "[app] 12:00:00 x", "%4|x", "2024-06-15x12:00:00", "%9|1|2|"])
def test_other_lines_begin_no_entry(line: str) -> None:
    assert [entry.logged_at for entry in entries([line])] == [None]
    assert head_length(line) == -1


def test_a_file_is_known_by_the_local_time_that_it_begins_with() -> None:
    assert first_stamp(["[app] 2024/06/15 12:00:00.123456 x"]) == "2024-06-15 12:00:00,123"
    assert first_stamp(["2024-06-15T12:00:00.123+02:00 x"]) == "2024-06-15 12:00:00,123"
    assert first_stamp(["[2024-06-15 12:00:00,123] INFO a (b)"]) == "2024-06-15 12:00:00,123"
