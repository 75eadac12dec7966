"""Patterns of log4j as readers of their lines."""

from __future__ import annotations

import pytest

from transforms.errors import LayoutError
from transforms.loglines.entries.entries import entries
from transforms.loglines.entries.log4j_pattern import compile_layout
from transforms.loglines.parse import parse_entry

NOON_UTC = 1718452800000
MESSAGE = "[GroupCoordinator 1]: Stabilized group g1 generation 5 (__consumer_offsets-13) with 2 members"
LOGGER = "kafka.coordinator.group.GroupCoordinator"

PRINTED = {
    "[%d] %p %m (%c)%n": f"[2024-06-15 12:00:00,123] INFO {MESSAGE} ({LOGGER})",
    "%d{ISO8601} [%t] %-5p %c - %m%n": f"2024-06-15 12:00:00,123 [main] INFO  {LOGGER} - {MESSAGE}",
    "%d{ISO8601} %p [%t] %c{2}:%L: %m%n%throwable": f"2024-06-15T12:00:00,123 INFO [a [b]] {LOGGER}:17: {MESSAGE}",
    "%date{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %level %logger{36} : %msg%n": (
        f"2024-06-15T14:00:00.123+02:00 INFO {LOGGER} : {MESSAGE}"
    ),
    "%d{yyyy-MM-dd HH:mm:ss.SSSSSS}{UTC} %5p %msg [%c]%n": f"2024-06-15 12:00:00.123456  INFO {MESSAGE} [{LOGGER}]",
    "%d{dd MMM yyyy HH:mm:ss,SSS} %p %m (%c)%n": f"15 Jun 2024 12:00:00,123 INFO {MESSAGE} ({LOGGER})",
    "%d{dd/MM/yyyy HH:mm:ss.SSS}|%p|%c|%m|%X{id}|%n": f"15/06/2024 12:00:00.123|INFO|{LOGGER}|{MESSAGE}|x|",
    "%p %d{COMPACT} %c %m%n": f"INFO 20240615120000123 {LOGGER} {MESSAGE}",
    "100%% %d %p %c %m%n": f"100% 2024-06-15 12:00:00,123 INFO {LOGGER} {MESSAGE}",
}


@pytest.mark.parametrize("pattern", PRINTED)
def test_a_line_is_read_by_the_pattern_that_printed_it(pattern: str) -> None:
    lines = [PRINTED[pattern], "java.lang.IllegalStateException: boom", "\tat y", PRINTED[pattern]]
    first, second = entries(lines, "UTC", pattern)
    assert (first.line_number, second.line_number) == (1, 4)
    assert first.logged_at == second.logged_at == NOON_UTC + 123
    for entry in (first, second):
        (parsed,) = parse_entry(entry.text, entry.logged_at)
        assert (parsed.event, parsed.group_id, parsed.member_count) == ("stabilized", "g1", 2)
    assert parse_entry(first.text, 0)[0].attributes["exception"] == "java.lang.IllegalStateException: boom"


def test_a_message_of_several_lines_stays_whole() -> None:
    settings = ["KafkaConfig values: ", "\tgroup.max.size = 3", "\tnode.id = 1", ""]
    for pattern, begin, end in (
        ("%d %p %c - %m%n", "2024-06-15 12:00:00,123 INFO kafka.server.KafkaConfig - ", ""),
        ("%d %p %m <%c>%n", "2024-06-15 12:00:00,123 INFO ", " <kafka.server.KafkaConfig>"),
    ):
        lines = (begin + "\n".join(settings) + end).split("\n")
        (entry,) = entries(lines, "UTC", pattern)
        (parsed,) = parse_entry(entry.text, entry.logged_at)
        assert parsed.attributes == {"group.max.size": "3", "node.id": "1"}


def test_the_time_is_of_the_brokers_zone_unless_the_pattern_has_its_own() -> None:
    line = "2024-06-15 12:00:00,123 INFO x y"
    assert [entry.logged_at for entry in entries([line], "Europe/Berlin", "%d %p %c %m%n")] == [
        NOON_UTC + 123 - 7200_000
    ]
    assert [entry.logged_at for entry in entries([line], "Europe/Berlin", "%d{ISO8601}{UTC} %p %c %m%n")] == [
        NOON_UTC + 123
    ]


def test_lines_of_another_layout_have_no_time() -> None:
    (entry,) = entries(["INFO x y"], "UTC", "%d %p %c %m%n")
    assert (entry.logged_at, entry.text) == (None, "INFO x y")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("%p %m%n", "no year"),
        ("%d{HH:mm:ss} %m", "no year"),
        ("%d %p%n", "no %m"),
        ("", "no %m"),
        ("%d %Q %m", "%Q is not known"),
        ("%d{yyyy-ww} %m", "ww in its date"),
        ("%m %d", "no year"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_refused_with_the_reason(pattern: str, why: str) -> None:
    with pytest.raises(LayoutError, match=why):
        compile_layout(pattern)
