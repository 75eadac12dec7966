"""Lines of `kafka.request.logger` (JSON from 2.8 on, KIP-673, text before) to facts of `silver.group_requests`.

A request is logged when its answer has been sent. What can be read from that about the time when it came and the
time when it was handled: the line's time, less the total time, plus the time it waited in the request queue.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from schemas.kafka_errors import error_name
from transforms.errors import BadRequestLine, LineError, RequestWithoutAnswer, RequestWithoutBody
from transforms.loglines.facts import GroupRequest, LeavingMember
from transforms.loglines.requests.apis import APIS, Api, Convert, Each, Field, Json, error_codes, integer, text
from transforms.loglines.requests.request_text import KEYS, is_text_request, read_text_request

_MARKER = "Completed request:"
"""How the message of every request begins."""

_MARKER_WITHIN = 80
"""The marker ends this near to the beginning of an entry: behind a time stamp and a level."""

_HEADER_LENGTH = 200
"""The API ends this near to the marker, before anything that a client can choose."""

_KEY = '"requestApiKey":'
_API_IN_TEXT = re.compile(rf"\(apiKey=(?:{'|'.join(KEYS)}),")  # before 2.8
_KEYS = frozenset(map(str, APIS))
_DECODER = json.JSONDecoder()
_CONNECTION = re.compile(r".+:\d+-(.+):\d+-\d+(?:-\d+)?")
_LONGEST_MS = 1e12


_Reader = tuple[str, str, Convert]


def _readers(fields: tuple[Field | Each, ...]) -> tuple[_Reader, ...]:
    return tuple((field.name, field.column, field.convert) for field in fields)


_READERS = {api.name: (_readers(api.request), _readers(api.response)) for api in APIS.values()}
_name_of_error = lru_cache(error_name)


def begin_of_request(entry: str) -> int:
    """Return where the message begins in an entry of the request log, -1 in any other; cheap."""
    return entry.find(_MARKER, 0, _MARKER_WITHIN)


def is_group_request(line: str, begin: int) -> bool:
    """Tell whether the message that begins at `begin` is a request to a group coordinator; cheap."""
    at = line.find(_KEY, begin, begin + _HEADER_LENGTH)
    if at >= 0:
        at += len(_KEY)
        return line[at : line.find(",", at)].strip() in _KEYS
    return _API_IN_TEXT.search(line, begin, begin + _HEADER_LENGTH) is not None


def read_request_line(line: str, begin: int, logged_at: int) -> list[GroupRequest]:
    """Read a line of the request log.

    Args:
        line: the entry; its message begins at `begin`.
        begin: position of the message.
        logged_at: time of the entry in epoch milliseconds.

    Returns:
        The request, or one for each group of a DeleteGroups.

    Raises:
        LineError: the line is broken, or holds no request or no answer.
    """
    begin += len(_MARKER)
    try:
        if is_text_request(line, begin):
            return _requests(read_text_request(line, begin), logged_at)
        logged, _ = _DECODER.raw_decode(line, begin)
        return _requests(logged, logged_at)
    except LineError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise BadRequestLine(f"{type(problem).__name__}: {problem}"[:500]) from problem


def _requests(logged: Json, logged_at: int) -> list[GroupRequest]:
    header, request, answer = logged["requestHeader"], logged["request"], logged["response"]
    if request == "":
        raise RequestWithoutBody("the log was not on yet when the request came")
    if answer == "" or answer is None:
        raise RequestWithoutAnswer("the broker closed the connection instead of answering")
    api = APIS[header["requestApiKey"]]
    fact = _envelope(api.name, header, logged, logged_at)
    of_request, of_answer = _READERS[api.name]
    _read_fields(fact, of_request, request)
    _read_fields(fact, of_answer, answer)
    if api.name == "DeleteGroups":
        return _one_for_each_group(fact, answer)
    if request.get("groupId") is None:
        raise KeyError("groupId")
    if api.name == "LeaveGroup":
        _read_leaving(fact, request, answer)
    _read_errors(fact, api, answer)
    return [fact]


def _envelope(api: str, header: Json, logged: Json, logged_at: int) -> GroupRequest:
    """Return a request of which nothing but who sent it, and when, has been read."""
    software = logged.get("clientInformation")
    connection = text(logged["connection"])
    received_at = logged_at - _milliseconds(logged["totalTimeMs"])
    return GroupRequest(
        answered_at=logged_at,
        api=api,
        group_id="",
        error_code=0,
        error=_name_of_error(0),
        received_at=received_at,
        handled_at=received_at + _milliseconds(logged["requestQueueTimeMs"]),
        parked_ms=_milliseconds(logged["remoteTimeMs"]),
        api_version=integer(header["requestApiVersion"]),
        correlation_id=integer(header["correlationId"]),
        client_id=text(header.get("clientId")),
        client_software=text(f"{software['softwareName']}/{software['softwareVersion']}") if software else None,
        connection=connection,
        client_host=None if connection is None else client_host(connection),
    )


def _milliseconds(value: Any) -> float:
    duration = float(value)
    if not -_LONGEST_MS < duration < _LONGEST_MS:  # NaN is not, either
        raise ValueError(f"{value} is no duration")
    return duration


@lru_cache(maxsize=4096)
def client_host(connection: str) -> str | None:
    """Return the client's address as the coordinator prints it: "/10.0.0.7" of "10.0.0.1:9092-10.0.0.7:50312-4"."""
    match = _CONNECTION.fullmatch(connection)
    return None if match is None else "/" + match.group(1)


def _read_fields(fact: GroupRequest, readers: tuple[_Reader, ...], source: Json) -> None:
    for name, column, convert in readers:
        value = source.get(name)
        if value is not None:
            setattr(fact, column, convert(value))


def _read_leaving(fact: GroupRequest, request: Json, answer: Json) -> None:
    """Read who leaves: one member up to version 2, a list with an answer for each from 3 on."""
    asked = request.get("members", [request])
    answered = answer.get("members") or []
    leaving = [
        LeavingMember(
            member_id=text(member.get("memberId")),
            group_instance_id=text(member.get("groupInstanceId")),
            reason=text(member.get("reason")),
            error_code=integer((answered[number] if number < len(answered) else answer)["errorCode"]),
        )
        for number, member in enumerate(asked)
    ]
    fact.leaving_members = leaving
    if leaving:
        first = leaving[0]
        fact.member_id, fact.group_instance_id, fact.reason = (
            first["member_id"],
            first["group_instance_id"],
            first["reason"],
        )


def _read_errors(fact: GroupRequest, api: Api, answer: Json) -> None:
    codes = [code for code in (integer(answer.get("errorCode")),) if code is not None]
    if api.errors:
        below = error_codes(answer, api.errors)
        codes += below
        if api.is_counted:
            fact.partition_errors = dict(Counter(below))
    fact.error_code = code = next((code for code in codes if code), 0)
    fact.error = _name_of_error(code)
    if code:
        fact.answered_generation = None


def _one_for_each_group(fact: GroupRequest, answer: Json) -> list[GroupRequest]:
    facts = []
    for seq, result in enumerate(answer["results"]):
        code, group_id = integer(result["errorCode"]), text(result["groupId"])
        if code is None or group_id is None:
            raise KeyError("errorCode or groupId")
        facts.append(replace(fact, seq=seq, group_id=group_id, error_code=code, error=_name_of_error(code)))
    return facts
