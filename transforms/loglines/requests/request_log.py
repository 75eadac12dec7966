"""Lines of `kafka.request.logger` (JSON from 2.8 on, KIP-673, text before) to rows of `silver.group_requests`.

A request is logged when its answer has been sent. What can be read from that about the time when it came and the
time when it was handled: the line's time, less the total time, plus the time it waited in the request queue.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import lru_cache
from typing import Any

from schemas.kafka_errors import error_name
from schemas.tables.silver import GROUP_REQUESTS
from transforms.loglines.requests.apis import APIS, Api, Convert, Each, Field, Json, error_codes, integer, text
from transforms.loglines.requests.request_text import KEYS, is_text_request, read_text_request
from transforms.loglines.templates.matching import PROVENANCE

Row = dict[str, Any]

_MARKER = "Completed request:"
"""How the message of every request begins."""

_MARKER_WITHIN = 80
"""The marker ends this near to the beginning of an entry: behind a time stamp and a level."""

_HEADER_LENGTH = 200
"""The API ends this near to the marker, before anything that a client can choose."""

_KEY = '"requestApiKey":'
_API_IN_TEXT = re.compile(rf"\(apiKey=(?:{'|'.join(KEYS)}),")  # before 2.8
_KEYS = frozenset(map(str, APIS))
_EMPTY: Row = {name: None for name in GROUP_REQUESTS.columns if name not in PROVENANCE}
_DECODER = json.JSONDecoder()
_CONNECTION = re.compile(r".+:\d+-(.+):\d+-\d+(?:-\d+)?")
_LONGEST_MS = 1e12


_Reader = tuple[str, str, Convert]


def _readers(fields: tuple[Field | Each, ...]) -> tuple[_Reader, ...]:
    return tuple((field.name, field.column, field.convert) for field in fields)


_READERS = {api.name: (_readers(api.request), _readers(api.response)) for api in APIS.values()}
_name_of_error = lru_cache(error_name)


class BadRequestLineError(ValueError):
    """A line of the request log that does not hold what it should; `code` is the reason code of the rejection."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


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


def read_request_line(line: str, begin: int, logged_at: int) -> list[Row]:
    """Read a line of the request log.

    Args:
        line: the entry; its message begins at `begin`.
        begin: position of the message.
        logged_at: time of the entry in epoch milliseconds.

    Returns:
        Rows of `silver.group_requests` without their provenance: one, or one for each group of a DeleteGroups.

    Raises:
        BadRequestLineError: the line is broken, or holds no request or no answer.
    """
    begin += len(_MARKER)
    try:
        if is_text_request(line, begin):
            return _rows(read_text_request(line, begin), logged_at)
        logged, _ = _DECODER.raw_decode(line, begin)
        return _rows(logged, logged_at)
    except BadRequestLineError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise BadRequestLineError("bad_request_line", f"{type(problem).__name__}: {problem}"[:500]) from problem


def _rows(logged: Json, logged_at: int) -> list[Row]:
    header, request, answer = logged["requestHeader"], logged["request"], logged["response"]
    if request == "":
        raise BadRequestLineError("request_without_body", "the log was not on yet when the request came")
    if answer == "" or answer is None:
        raise BadRequestLineError("request_without_answer", "the broker closed the connection instead of answering")
    api = APIS[header["requestApiKey"]]
    row = _EMPTY.copy()
    row["seq"] = 0
    row["api"] = api.name
    _read_envelope(row, header, logged, logged_at)
    of_request, of_answer = _READERS[api.name]
    _read_fields(row, of_request, request)
    _read_fields(row, of_answer, answer)
    if api.name == "DeleteGroups":
        return _one_for_each_group(row, answer)
    if api.name == "LeaveGroup":
        _read_leaving(row, request, answer)
    if row["group_id"] is None:
        raise KeyError("groupId")
    _read_errors(row, api, answer)
    return [row]


def _read_envelope(row: Row, header: Json, logged: Json, logged_at: int) -> None:
    row["api_version"] = integer(header["requestApiVersion"])
    row["correlation_id"] = integer(header["correlationId"])
    row["client_id"] = text(header.get("clientId"))
    software = logged.get("clientInformation")
    if software:
        row["client_software"] = text(f"{software['softwareName']}/{software['softwareVersion']}")
    row["connection"] = connection = text(logged["connection"])
    row["client_host"] = None if connection is None else client_host(connection)
    row["answered_at"] = logged_at
    row["received_at"] = logged_at - _milliseconds(logged["totalTimeMs"])
    row["handled_at"] = row["received_at"] + _milliseconds(logged["requestQueueTimeMs"])
    row["parked_ms"] = _milliseconds(logged["remoteTimeMs"])


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


def _read_fields(row: Row, readers: tuple[_Reader, ...], source: Json) -> None:
    for name, column, convert in readers:
        value = source.get(name)
        if value is not None:
            row[column] = convert(value)


_MEMBER_FIELDS = (
    Field("member_id", "memberId", text),
    Field("group_instance_id", "groupInstanceId", text),
    Field("reason", "reason", text),
)


def _read_leaving(row: Row, request: Json, answer: Json) -> None:
    """Read who leaves: one member up to version 2, a list with an answer for each from 3 on."""
    asked = request.get("members", [request])
    answered = answer.get("members") or []
    leaving = []
    for number, member in enumerate(asked):
        said: Row = {field.column: field.convert(member.get(field.name)) for field in _MEMBER_FIELDS}
        said["error_code"] = integer(answered[number]["errorCode"] if number < len(answered) else answer["errorCode"])
        leaving.append(said)
    row["leaving_members"] = leaving
    if leaving:
        for column in ("member_id", "group_instance_id", "reason"):
            row[column] = leaving[0][column]


def _read_errors(row: Row, api: Api, answer: Json) -> None:
    codes = [code for code in (integer(answer.get("errorCode")),) if code is not None]
    if api.errors:
        below = error_codes(answer, api.errors)
        codes += below
        if api.is_counted:
            row["partition_errors"] = dict(Counter(below))
    row["error_code"] = code = next((code for code in codes if code), 0)
    row["error"] = _name_of_error(code)
    if code:
        row["answered_generation"] = None


def _one_for_each_group(row: Row, answer: Json) -> list[Row]:
    rows = []
    for seq, result in enumerate(answer["results"]):
        code = integer(result["errorCode"])
        if code is None:
            raise KeyError("errorCode")
        group_id = text(result["groupId"])
        rows.append({**row, "seq": seq, "group_id": group_id, "error_code": code, "error": _name_of_error(code)})
    return rows
