"""The offsets of a commit are kept where it was refused: what somebody else does again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from transforms.loglines.requests.request_log import api_of_request, begin_of_request, read_request_line


def line(error: int, key: int = 8, **topic: Any) -> str:
    """A commit of two partitions as a broker 4.2 logs it, answered with an error."""
    name = topic or {"name": "t"}
    body = {
        "requestHeader": {"requestApiKey": key, "requestApiVersion": 9, "correlationId": 1, "clientId": "c"},
        "request": {
            "groupId": "g",
            "generationIdOrMemberEpoch": 3,
            "memberId": "m",
            "topics": [
                {**name, "partitions": [{"partitionIndex": p, "committedOffset": 10 * p} for p in (1, 2)]},
            ],
        },
        "response": {"topics": [{**name, "partitions": [{"partitionIndex": p, "errorCode": error} for p in (1, 2)]}]},
        "connection": "127.0.0.1:9092-127.0.0.1:5000-1",
        "totalTimeMs": 1.0,
        "requestQueueTimeMs": 0.1,
        "remoteTimeMs": 0.2,
    }
    return "[2026-11-21 14:48:25,101] DEBUG Completed request:" + json.dumps(body, separators=(",", ":"))


def sent(text: str) -> Any:
    begin = begin_of_request(text)
    key = api_of_request(text, begin)
    assert key is not None
    return read_request_line(text, begin, key, 0)[0].sent_offsets


@pytest.mark.parametrize("key", [8, 28])
def test_a_refused_commit_keeps_its_offsets(key: int) -> None:
    assert sent(line(25, key)) == [
        {"topic": "t", "partition": 1, "offset": 10},
        {"topic": "t", "partition": 2, "offset": 20},
    ]


def test_a_commit_that_was_taken_does_not() -> None:
    assert sent(line(0)) is None


def test_topics_that_have_an_id_only_are_left_out() -> None:
    assert sent(line(25, topicId="AAAAAAAAAAAAAAAAAAAAAQ")) == []


def test_offsets_that_are_none_make_no_line_unreadable() -> None:
    assert sent(line(25).replace('"committedOffset":20', '"committedOffset":1e300')) is None
    assert sent(line(25).replace('"committedOffset":20', f'"committedOffset":{1 << 70}')) is None
