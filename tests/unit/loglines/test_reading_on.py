"""A log that has grown is read on from where it was read to, and gives the rows of one reading."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.sources.logs import packed, reader
from jobs.sources.logs.files import LogFile, find_log_files
from tests.unit.loglines.test_growing_files import ERROR, INFO, SETTINGS, TRACE, WHOLE
from transforms.loglines.entries import lines
from transforms.loglines.entries.entries import MAX_LINES, skimmed
from transforms.loglines.entries.lines import Lines, Place
from transforms.silver.logs import READ_TO, Wanted

FETCHES = "".join(
    f"[2026-11-20 10:00:0{second},{milli:03}] DEBUG Completed request:"
    '{"isForwarded":false,"requestHeader":{"requestApiKey":1,"requestApiVersion":17,"correlationId":1,'
    '"clientId":"c","requestApiKeyName":"FETCH"},"request":{},"response":{}} (kafka.request.logger)\n'
    for second in range(3)
    for milli in range(4)
)
Row = tuple[Any, ...]


def found(path: Path, text: str, age: float = 1) -> LogFile:
    """A log with some text, written a moment ago."""
    path.write_text(text, encoding="utf-8", newline="\n")
    os.utime(path, (time.time() - age,) * 2)
    (file,) = find_log_files(str(path), "1")
    return file


def rows_of(file: LogFile, keep: str = reader.ALL, time_zone: str = "UTC") -> list[dict[str, Any]]:
    batches = reader.arrow_batches(reader.Share((file,)), time_zone, "auto", tuple(Wanted), keep)
    return [row for batch in batches for row in batch.to_pylist()]


def keyed(rows: list[dict[str, Any]]) -> dict[Row, Row]:
    """Rows that tables get, by their key."""
    return {
        (row["table"], row["line_number"], row.get("reason_code")): tuple(map(str, row.values()))
        for row in rows
        if row["table"] not in {READ_TO, "left_out"}
    }


def read_on(file: LogFile, rows: list[dict[str, Any]]) -> LogFile:
    """The file as the next run finds it, if this one gave these rows."""
    for row in rows:
        if row["table"] == READ_TO:
            at, place = round(row["logged_at"].timestamp() * 1000), Place(row["place_line"], row["place_byte"])
            return replace(file, read_from=row["line_number"], read_at=at, place=place)
    return file


@pytest.mark.parametrize("apart", [1, 1 << 20], ids=["sought", "passed over"])
@pytest.mark.parametrize(
    ("text", "step"), [(WHOLE, 1), (FETCHES + ERROR + TRACE + INFO.format(9), 13)], ids=["all sorts", "much unkept"]
)
def test_at_whatever_byte_it_is_taken_up_the_rows_are_those_of_one_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, step: int, apart: int
) -> None:
    monkeypatch.setattr(lines, "_APART_BYTES", apart)
    monkeypatch.setattr(packed, "_CHUNK_BYTES", 100)
    log = tmp_path / "server.log"
    whole = keyed(rows_of(found(log, text, age=60)))
    for cut in range(0, len(text), step):
        first = rows_of(found(log, text[:cut]))
        second = rows_of(read_on(found(log, text, age=60), first))
        assert keyed(first) | keyed(second) == whole, text[:cut][-60:]


def test_of_a_log_that_has_grown_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_APART_BYTES", 10_000)
    monkeypatch.setattr(packed, "_CHUNK_BYTES", 1_000)
    monkeypatch.setattr(packed, "_HEAD_BYTES", 1_000)
    log, text = tmp_path / "server.log", WHOLE * 500
    first = read_on(found(log, text), rows_of(found(log, text)))
    place, there = first.place, log.read_bytes()
    assert len(text) - place.byte < 12_000
    assert text[: place.byte].count("\n") == place.line_number - 1
    # What stands before that place is not looked at any more, but for how the file begins.
    gone = bytes(place.byte - 1_000 - 1)
    log.write_bytes(there[:1_000] + gone + there[place.byte - 1 :] + INFO.format(9).encode())
    assert {number for _, number, _ in keyed(rows_of(first))} == {first.read_from, first.read_from + 1}


def test_where_no_line_begins_any_more_the_lines_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    first = read_on(found(log, WHOLE), rows_of(found(log, WHOLE)))
    again = keyed(rows_of(replace(first, place=Place(3, 50))))
    assert again == keyed(rows_of(first))


def test_what_was_read_is_not_read_again_but_for_the_last_entry(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    first = rows_of(found(log, WHOLE))
    more = "".join(INFO.format(i) for i in range(3))
    again = keyed(rows_of(read_on(found(log, WHOLE + more), first)))
    last = max(number for _, number, _ in keyed(first))
    assert {number for _, number, _ in again} == {last, last + 1, last + 2, last + 3}


@given(st.integers(1, len(FETCHES) - 1))
def test_entries_that_nothing_keeps_are_counted_once(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    log = tmp_path_factory.mktemp("logs") / "kafka-request.log"

    def left_out(rows: list[dict[str, Any]]) -> tuple[int, int]:
        return next(((row["line_number"], row["left_out_count"]) for row in rows if row["table"] == "left_out"), (0, 0))

    text = FETCHES + SETTINGS
    first = rows_of(found(log, text[:cut]), reader.RELEVANT)
    counted_to, before = left_out(first)
    second = rows_of(replace(read_on(found(log, text, 60), first), counted_to=counted_to), reader.RELEVANT)
    entries = {number for table, number, _ in keyed(first) | keyed(second) if table == "log_lines"}
    assert before + left_out(second)[1] + len(entries) == 13


def test_a_log_that_ends_inside_of_what_was_cut_for_its_length_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    rows = rows_of(found(log, WHOLE + "\tof a long trace\n" * (MAX_LINES + 5), age=60))
    assert not [row for row in rows if row["table"] == READ_TO]


def test_the_hour_that_comes_twice_is_told_by_the_entry_that_was_read_last() -> None:
    lines = [f"[2026-10-25 {clock}:00,000] INFO x (y)\n" for clock in ("02:10", "02:50", "02:05", "02:40", "03:10")]
    text = "".join(lines).encode()
    whole = list(skimmed(Lines([text]), "Europe/Berlin"))
    for number, last in enumerate(whole, start=1):
        on = skimmed(Lines([text], first=number), "Europe/Berlin", since=last.logged_at)  # type: ignore[union-attr]
        assert [*on] == whole[number - 1 :]
