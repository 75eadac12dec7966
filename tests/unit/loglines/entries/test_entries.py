"""Lines to entries, and time stamps to moments."""

from __future__ import annotations

import pytest

from transforms.loglines.entries.entries import entries
from transforms.loglines.entries.entry import Entry

NOON_UTC = 1718452800000
"""2024-06-15 12:00:00."""


def at(stamp: str, time_zone: str = "UTC") -> int | None:
    (entry,) = entries([f"[{stamp}] INFO x (y)"], time_zone)
    return entry.logged_at


def test_an_entry_is_a_stamped_line_and_what_belongs_to_it() -> None:
    lines = [
        "[2024-06-15 12:00:00,001] ERROR a (b)\n",
        "java.lang.X\n",
        "\tat y\n",
        "[2024-06-15 12:00:00,002] INFO c (d)\n",
    ]
    assert list(entries(lines)) == [
        Entry(1, NOON_UTC + 1, "[2024-06-15 12:00:00,001] ERROR a (b)\njava.lang.X\n\tat y"),
        Entry(4, NOON_UTC + 2, "[2024-06-15 12:00:00,002] INFO c (d)"),
    ]


def test_leading_text_has_no_time() -> None:
    first, second = entries(["\tat x", "", "[2024-06-15 12:00:00,001] INFO c (d)"])
    assert first == Entry(1, None, "\tat x\n")
    assert second.line_number == 3


def test_nothing_gives_nothing() -> None:
    assert list(entries([])) == []


def test_windows_line_ends_are_taken_off() -> None:
    (entry,) = entries(["[2024-06-15 12:00:00,001] INFO a (b)\r\n", "c\r\n"])
    assert entry.text == "[2024-06-15 12:00:00,001] INFO a (b)\nc"


@pytest.mark.parametrize("limits", [{"max_lines": 2}, {"max_characters": 30}])
def test_an_overlong_entry_goes_on_in_another_of_the_same_time(limits: dict[str, int]) -> None:
    lines = ["[2024-06-15 12:00:00,001] INFO a (b)", *"wxyz"]
    found = list(entries(lines, **limits))
    assert len(found) > 1
    assert "\n".join(entry.text for entry in found) == "\n".join(lines)
    assert {entry.logged_at for entry in found} == {NOON_UTC + 1}
    assert found[1].line_number == 1 + found[0].text.count("\n") + 1


@pytest.mark.parametrize("stamp", ["2024-13-15 12:00:00,001", "2024-06-31 12:00:00,001", "2024-06-15 25:00:00,001"])
def test_an_impossible_date_begins_no_entry(stamp: str) -> None:
    assert [entry.logged_at for entry in entries([f"[{stamp}] INFO a (b)"])] == [None]


@pytest.mark.parametrize(
    "line", ["[2024-06-15 12:00:00]", "[Group g] x", "2024", "[２０２４-06-15 12:00:00,001] INFO a (b)"]
)
def test_other_lines_begin_no_entry(line: str) -> None:
    assert [entry.logged_at for entry in entries([line])] == [None]


def test_the_time_zone_is_the_brokers() -> None:
    assert at("2024-06-15 12:00:00,250") == NOON_UTC + 250
    assert at("2024-06-15 14:00:00,250", "Europe/Berlin") == NOON_UTC + 250
    assert at("2024-06-15 17:30:00,250", "Asia/Kolkata") == NOON_UTC + 250


def test_the_hour_that_comes_twice_is_told_by_order() -> None:
    lines = [
        f"[2024-10-27 {clock},000] INFO a (b)" for clock in ("01:59:59", "02:30:00", "02:59:59", "02:00:01", "03:00:00")
    ]
    moments = [entry.logged_at or 0 for entry in entries(lines, "Europe/Berlin")]
    assert [later - earlier for earlier, later in zip(moments, moments[1:], strict=False)] == [
        1801_000,
        1799_000,
        2_000,
        3599_000,
    ]


def test_threads_out_of_order_do_not_turn_back_the_clock() -> None:
    lines = [f"[2024-10-27 {clock}] INFO a (b)" for clock in ("02:30:00,500", "02:30:00,498", "02:29:59,999")]
    first, second, third = [entry.logged_at or 0 for entry in entries(lines, "Europe/Berlin")]
    assert (second - first, third - first) == (-2, -501)


def test_a_hole_before_the_first_line_is_skipped() -> None:
    (entry,) = entries(["\0" * 5000 + "[2024-06-15 12:00:00,001] INFO a (b)"])
    assert entry.logged_at == NOON_UTC + 1
