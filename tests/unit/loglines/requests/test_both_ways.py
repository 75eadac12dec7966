"""A line of the request log is read fast where that is sure to be right; what comes of it is what care would give."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.captures import CAPTURES
from transforms.errors import LineError
from transforms.loglines.entries.entries import entries
from transforms.loglines.requests.apis import APIS, OF_SOME_APIS
from transforms.loglines.requests.careful import read_carefully
from transforms.loglines.requests.columns import requests_of
from transforms.loglines.requests.request_log import api_of_request, begin_of_request
from transforms.loglines.requests.shapes import Logged, decode

MARK = "Completed request:"
TAIL = " (kafka.request.logger)"

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 7, 1.0, 1.5, 2**31 - 1, -(2**31) + 1, 2**31, 2**63, 2**64, 10**30, 1e12, 1e300),
    *("", "x", "5", "1.5", "A===", "AA==", "AB==", "AAA=", "é", "😀", "\ud83d", "\udc00x", "\0", "\n", '"', "\\"),
    *([], [None], [5], ["x"], [[]], {}, {"x": 1}, [{}], [{"memberId": "m"}], [{"errorCode": 25}], float("nan")),
    *([{"partitions": []}], [{"partitions": None}], [{"partitions": [{"errorCode": 0}]}], [{"errorCode": "0"}]),
)


def requests_in(folder: Path) -> Iterator[tuple[str, int, int]]:
    """The request lines of a capture: text, begin of the JSON, key of the API."""
    for path in sorted((folder / "broker_logs").rglob("*request*.log")):
        with path.open(encoding="utf-8", newline="\n") as lines:
            for text in (entry.text for entry in entries(lines)):
                begin = begin_of_request(text)
                key = api_of_request(text, begin) if begin >= 0 else None
                if key is not None:
                    yield text, begin + len(MARK), key


@cache
def samples(folder: Path) -> list[tuple[str, int, int]]:
    """One line of each API, answered well and answered otherwise."""
    found: dict[tuple[int, bool], tuple[str, int, int]] = {}
    for text, begin, key in requests_in(folder):
        if len(text) < 5000:
            found.setdefault((key, '"errorCode":0' in text), (text, begin, key))
    return list(found.values())


def told(logged: Logged[Any, Any]) -> Any:
    try:
        return requests_of(logged, 1718452800123)
    except LineError as problem:
        return problem.code, str(problem)


def read_both_ways(text: str, begin: int, key: int) -> None:
    """Whatever the fast way reads, the careful way reads too, and the same comes of it: columns of its API."""
    logged = decode(text, begin, key)
    if logged is not None:
        facts = told(logged)
        assert facts == told(read_carefully(text, begin))
        assert not filled(facts) & (OF_SOME_APIS - APIS[key].columns)


def filled(facts: Any) -> set[str]:
    """Columns that some of the facts fill."""
    rows = facts if isinstance(facts, list) else []
    return {name for row in rows for name in row.__struct_fields__ if getattr(row, name) is not None}


@pytest.mark.parametrize("name", [*CAPTURES, "chaos-2.8.2"])
def test_brokers_lines_are_all_read_the_fast_way_and_as_the_careful_way_reads_them(
    capture_dir: Callable[[str], Path], name: str
) -> None:
    seen = set()
    for text, begin, key in requests_in(capture_dir(name)):
        assert decode(text, begin, key) is not None, text
        read_both_ways(text, begin, key)
        seen.add(key)
    assert seen >= {8, 11, 12, 13, 14}


def test_the_lines_that_are_damaged_below_are_of_every_api(capture_dir: Callable[[str], Path]) -> None:
    seen = {key for _, _, key in samples(capture_dir("kafka-4.2.0"))}
    assert seen == APIS.keys() - {47}  # no client of the capture deletes offsets


@settings(max_examples=800, deadline=None)
@given(data=st.data())
def test_a_line_with_damaged_characters(capture_dir: Callable[[str], Path], data: st.DataObject) -> None:
    text, begin, key = data.draw(st.sampled_from(samples(capture_dir("kafka-4.2.0"))))
    first = data.draw(st.integers(begin, len(text)))
    last = data.draw(st.integers(first, min(first + 12, len(text))))
    put = data.draw(
        st.one_of(
            st.just(""),
            st.sampled_from(
                ['"', "{", "}", "[", "]", ",", ":", "\\", "\\u", "\\ud83d", "\0", "\n", " ", "é", "0", "-"]
            ),
            st.sampled_from(["null", "NaN", "1e400", "1.0", "true", "Infinity", "\ud83d", '"x":1,', '"groupId":"y",']),
            st.just(text[begin : begin + 40]),
        )
    )
    read_both_ways(text[:first] + put + text[last:], begin, key)


@settings(max_examples=800, deadline=None)
@given(data=st.data())
def test_a_line_with_another_value_or_without_one(capture_dir: Callable[[str], Path], data: st.DataObject) -> None:
    text, begin, key = data.draw(st.sampled_from(samples(capture_dir("kafka-4.2.0"))))
    logged = deepcopy(json.loads(text[begin : text.rindex("}") + 1]))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(list(places(logged))))
        spoil(logged, place, data)
    ascii_only = data.draw(st.booleans())
    read_both_ways(text[:begin] + json.dumps(logged, ensure_ascii=ascii_only) + TAIL, begin, key)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all that stands in a JSON value."""
    within = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in within:
        yield (*path, name)
        yield from places(below, (*path, name))


def spoil(logged: Any, place: tuple[Any, ...], data: st.DataObject) -> None:
    for name in place[:-1]:
        logged = logged[name]
    how = data.draw(st.sampled_from(["drop", "replace", "replace", "replace"]))
    if how == "drop":
        del logged[place[-1]]
    else:
        logged[place[-1]] = deepcopy(data.draw(st.sampled_from(ODD)))


@pytest.mark.parametrize("space", [" ", "\n", "\ufeff", "x"])
def test_json_begins_right_behind_the_marker(capture_dir: Callable[[str], Path], space: str) -> None:
    text, begin, key = samples(capture_dir("kafka-4.2.0"))[0]
    assert decode(text[:begin] + space + text[begin:], begin, key) is None


def test_a_line_of_another_api_than_it_says_first_is_left_to_care(capture_dir: Callable[[str], Path]) -> None:
    text, begin, key = next(each for each in samples(capture_dir("kafka-4.2.0")) if each[2] == 12)
    assert decode(text, begin, key) is not None
    assert decode(text.replace('"correlationId"', '"requestApiKey":14,"correlationId"'), begin, key) is None
