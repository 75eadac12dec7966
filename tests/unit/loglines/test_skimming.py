"""Lines that are only counted: what is left out and what is kept is as if each had been made an entry."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.captures import ALL, MODERN
from transforms.loglines.entries.entries import entries, skimmed
from transforms.loglines.entries.entry import Entry
from transforms.loglines.entries.lines import Lines, Run
from transforms.loglines.facts import Fact
from transforms.loglines.parse import parse_entry
from transforms.loglines.relevant import Selection
from transforms.loglines.requests.apis import APIS
from transforms.loglines.requests.request_log import OTHER_REQUEST
from transforms.loglines.requests.request_text import KEYS

MODERN_REQUEST = (
    '{{"isForwarded":false,"requestHeader":{{"requestApiKey":{key},"requestApiVersion":4,"correlationId":5,'
    '"clientId":"c"}},"request":{{"x":1}},"response":{{}},"connection":"a-b-4","totalTimeMs":1.0}}'
)
OLD_REQUEST = "RequestHeader(apiKey={key}, apiVersion=4, clientId=c, correlationId=5) -- {{}},response:{{}} from c"
BARE_REQUEST = MODERN_REQUEST.replace('"isForwarded":false,', "")
FETCH = MODERN_REQUEST.format(key=1)


def line(second: int, message: str, level: str = "DEBUG", ms: int = 0) -> str:
    return f"[2024-06-15 12:00:{second:02},{ms:03}] {level} {message} (kafka.request.logger)\n"


def completed(second: int, request: str, ms: int = 0) -> str:
    return line(second, f"Completed request:{request}", ms=ms)


def chunks(text: bytes, size: int) -> Iterator[bytes]:
    return (text[begin : begin + size] for begin in range(0, len(text), size))


def chosen(found: Iterator[Entry | Run], counted_to: int = 0) -> tuple[list[Entry], list[Entry], int, int]:
    """Entries that are kept for what they tell, all that are kept, how many are left out, and the last line."""
    selection = Selection(counted_to)
    kept = []
    for item in found:
        if isinstance(item, Run):
            selection.passes(item)
        elif selection.takes(item):
            kept.append(item)
    newest = selection.end()
    return kept, [*kept, *([] if newest is None else [newest])], selection.left_out, selection.line_number


def facts(found: Sequence[Entry]) -> list[tuple[int, Sequence[Fact]]]:
    return [(entry.line_number, parse_entry(entry.text, entry.logged_at)) for entry in found]


def same_is_chosen(text: bytes, size: int = 1 << 18) -> int:
    """Hold what is chosen of skimmed lines to what is of all of them; return how many were skimmed."""
    runs = []

    def noting() -> Iterator[Entry | Run]:
        for item in skimmed(Lines(chunks(text, size), OTHER_REQUEST), "UTC"):
            if isinstance(item, Run):
                runs.append(item)
            yield item

    plain = io.StringIO(text.decode("utf-8", "backslashreplace"), newline="\n")
    told, kept, left_out, last = chosen(noting())
    told_of_all, kept_of_all, left_out_of_all, last_of_all = chosen(iter(entries(plain)))
    assert told == told_of_all
    assert facts(told) == facts(told_of_all)
    assert (len(kept) + left_out, last) == (len(kept_of_all) + left_out_of_all, last_of_all)
    newest, newest_of_all = (max((each.logged_at or 0 for each in some), default=0) for some in (kept, kept_of_all))
    assert newest // 1000 == newest_of_all // 1000
    return sum(len(run.line_numbers) for run in runs)


@given(st.binary(max_size=60) | st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"\xff", b"\xc3\xa4"])).map(b"".join))
def test_lines_are_those_of_the_text_in_whatever_chunks_they_come(text: bytes) -> None:
    plain = list(enumerate(io.StringIO(text.decode("utf-8", "backslashreplace"), newline="\n"), start=1))
    for size in (1, 2, 3, 7, 100):
        lines = Lines(chunks(text, size))
        assert list(lines) == plain
        assert lines.is_closed == (not text or text.endswith(b"\n"))


def test_of_lines_in_a_row_that_tell_nothing_the_last_of_each_second_is_made() -> None:
    text = "".join(completed(second, FETCH, ms) for second in (1, 2) for ms in range(50))
    found = list(skimmed(Lines([text.encode()], OTHER_REQUEST), "UTC"))
    assert found[0] == Run(range(1, 50))
    assert found[2] == Run(range(51, 100))
    assert [item.line_number for item in found[1::2]] == [50, 100]
    assert chosen(iter(found))[1:] == ([found[3]], 99, 100)


@pytest.mark.parametrize("request_line", [MODERN_REQUEST, BARE_REQUEST, OLD_REQUEST])
def test_no_request_for_a_coordinator_is_skimmed(request_line: str) -> None:
    keys = [*range(100)] if request_line != OLD_REQUEST else [*KEYS, "FETCH", "PRODUCE", "METADATA", "JOIN_GROUPS"]
    made = set()
    for key in keys:
        lines = Lines([(completed(1, request_line.format(key=key)) * 9).encode()], OTHER_REQUEST)
        if not any(isinstance(item, Run) for _, item in lines):
            made.add(key)
    assert made == set(KEYS if request_line == OLD_REQUEST else APIS)


LINES = st.sampled_from(
    [
        *(completed(second, FETCH, ms) for second in (1, 2) for ms in (3, 5)),
        completed(1, OLD_REQUEST.format(key="FETCH")),
        completed(1, MODERN_REQUEST.format(key=12)),
        completed(1, "{"),
        completed(1, FETCH).replace("06-15", "06-99"),
        line(1, "Rolled new log segment", "INFO"),
        line(2, "[GroupCoordinator 1]: Group g1 with generation 5 is now empty (__consumer_offsets-13)", "INFO"),
        "java.lang.X\n",
        "\tat a\n",
        "\n",
        '{"log":"' + line(1, "x").strip() + '\\n","stream":"stdout","time":"2024-06-15T12:00:01.5Z"}\n',
    ]
)


@given(st.lists(LINES | st.lists(LINES, min_size=1, max_size=1).map(lambda one: one[0] * 5)), st.integers(1, 2000))
def test_what_is_left_out_is_the_same_as_if_all_lines_had_been_made(lines: list[str], size: int) -> None:
    text = "".join(lines)
    for cut in (len(text), len(text) * 2 // 3):
        same_is_chosen(text[:cut].encode(), size)


@pytest.mark.parametrize("name", [*ALL, *MODERN])
def test_what_is_left_out_of_a_real_log_is_the_same(name: str, capture_dir: Callable[[str], Path]) -> None:
    logs = (capture_dir(name) / "broker_logs").rglob("*.log")
    assert sum(same_is_chosen(path.read_bytes()) for path in logs), "nothing was skimmed"


def test_lines_that_were_counted_before_are_not_counted_again() -> None:
    text = "".join(completed(1, FETCH, ms) for ms in range(50)).encode()
    for counted_to in range(51):
        _, kept, left_out, _ = chosen(skimmed(Lines([text], OTHER_REQUEST), "UTC"), counted_to)
        assert left_out + sum(entry.line_number > counted_to for entry in kept) == 50 - counted_to
    assert Run(range(3, 9)).after(5) == Run(range(6, 9))
    assert [Run(range(3, 9)).count_after(number) for number in (0, 2, 3, 8, 9)] == [6, 6, 5, 0, 0]
