"""A logged request, in whatever way it was read, to facts of `silver.group_requests`.

A request is logged when its answer has been sent. What can be read from that about the time when it came and the
time when it was handled: the line's time, less the total time, plus the time it waited in the request queue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any

from msgspec.structs import astuple, replace

from schemas.kafka_errors import error_name
from transforms.errors import BadRequestLine
from transforms.loglines.facts import GroupRequest, LeavingMember
from transforms.loglines.requests.apis import APIS, Api, Each, Field
from transforms.loglines.requests.shapes import Logged

_CONNECTION = re.compile(r".+:\d+-(.+):\d+-\d+(?:-\d+)?")

_Columns = tuple[tuple[str, Callable[[Any], Any]], ...]
"""Columns, each with what gives its value out of a request or an answer."""

_name_of_error = lru_cache(error_name)


def _each(field: Each) -> Callable[[Any], Any]:
    names = tuple(inner.column for inner in field.fields)
    items = attrgetter(field.name)

    def structs(source: Any) -> list[dict[str, Any]] | None:
        found = items(source)
        return None if found is None else [dict(zip(names, astuple(item), strict=True)) for item in found]

    if not field.inside:
        return structs
    around = attrgetter(field.inside)

    def structs_inside(source: Any) -> list[dict[str, Any]] | None:
        outer = around(source)
        return None if outer is None else structs(outer)

    return structs_inside


def _one(field: Field) -> Callable[[Any], Any]:
    value_of, stored = attrgetter(field.name), field.value.stored
    if stored is None:
        return value_of

    def stored_value(source: Any) -> Any:
        value = value_of(source)
        return None if value is None else stored(value)

    return stored_value


def _columns(fields: Iterable[Field | Each]) -> _Columns:
    return tuple((each.column, _each(each) if isinstance(each, Each) else _one(each)) for each in fields)


_OF_REQUEST: dict[int, _Columns] = {key: _columns(api.request) for key, api in APIS.items()}
_OF_ANSWER: dict[int, _Columns] = {key: _columns(api.response) for key, api in APIS.items()}


def requests_of(logged: Logged[Any, Any], logged_at: int) -> list[GroupRequest]:
    """Return the request, or one for each group of a DeleteGroups.

    Args:
        logged: what a line holds.
        logged_at: time of the line in epoch milliseconds.

    Raises:
        BadRequestLine: a group or an error code is missing.
    """
    key = logged.request_header.request_api_key
    api, request, answer = APIS[key], logged.request, logged.response
    fact = _without_columns(api, logged, logged_at)
    for column, value_of in _OF_REQUEST[key]:
        value = value_of(request)
        if value is not None:
            setattr(fact, column, value)
    for column, value_of in _OF_ANSWER[key]:
        value = value_of(answer)
        if value is not None:
            setattr(fact, column, value)
    if api.is_of_many:
        return [_of_group(fact, seq, each) for seq, each in enumerate(_at_the_end(answer, api.errors))]
    if fact.group_id is None:
        raise BadRequestLine("no groupId in the request")
    if api.name == "LeaveGroup":
        _take_leaving(fact, answer)
    _take_errors(fact, api, answer)
    return [fact]


def _without_columns(api: Api, logged: Logged[Any, Any], logged_at: int) -> GroupRequest:
    """Return a request with nothing but who sent it, for which group and when, as if answered without an error."""
    header, software, connection = logged.request_header, logged.client_information, logged.connection
    received_at = logged_at - logged.total_time_ms
    return GroupRequest(
        answered_at=logged_at,
        api=api.name,
        group_id=logged.request.groupId,
        error_code=0,
        error=_name_of_error(0),
        received_at=received_at,
        handled_at=received_at + logged.request_queue_time_ms,
        api_version=header.request_api_version,
        client_id=header.client_id,
        client_host=None if connection is None else client_host(connection),
        client_software=None if software is None else f"{software.software_name}/{software.software_version}",
        connection=connection,
        correlation_id=header.correlation_id,
        parked_ms=logged.remote_time_ms,
    )


@lru_cache(maxsize=4096)
def client_host(connection: str) -> str | None:
    """Return the client's address as the coordinator prints it: "/10.0.0.7" of "10.0.0.1:9092-10.0.0.7:50312-4"."""
    match = _CONNECTION.fullmatch(connection)
    return None if match is None else "/" + match.group(1)


def _at_the_end(answer: Any, path: tuple[str, ...]) -> list[Any]:
    """Return what stands at the end of a path of lists, in the order of the answer."""
    items = [answer]
    for name in path:
        items = [below for item in items for below in getattr(item, name) or ()]
    return items


def _take_errors(fact: GroupRequest, api: Api, answer: Any) -> None:
    error = answer.errorCode or 0
    if api.errors:
        codes = [each.errorCode for each in _at_the_end(answer, api.errors) if each.errorCode is not None]
        error = error or next(filter(None, codes), 0)
        if api.is_counted:
            counts: dict[int, int] = {}
            for code in codes:
                counts[code] = counts.get(code, 0) + 1
            fact.partition_errors = counts
    if error:
        fact.error_code, fact.error = error, _name_of_error(error)
        fact.answered_generation = None


def _take_leaving(fact: GroupRequest, answer: Any) -> None:
    """Read who leaves: one member up to version 2, a list with an answer for each from 3 on."""
    answered = answer.members or ()
    asked = fact.leaving_members
    if asked is None:
        asked = [LeavingMember(member_id=fact.member_id, group_instance_id=None, reason=None, error_code=None)]
    for number, member in enumerate(asked):
        error = (answered[number] if number < len(answered) else answer).errorCode
        if error is None:
            raise BadRequestLine("no errorCode for a member that leaves")
        member["error_code"] = error
    fact.leaving_members = asked
    if asked:
        first = asked[0]
        fact.member_id, fact.group_instance_id, fact.reason = (
            first["member_id"],
            first["group_instance_id"],
            first["reason"],
        )


def _of_group(fact: GroupRequest, seq: int, result: Any) -> GroupRequest:
    """Return the part of a request that is of one of its groups."""
    if result.errorCode is None or result.groupId is None:
        raise BadRequestLine("no errorCode or no groupId for a group that is deleted")
    error = _name_of_error(result.errorCode)
    return replace(fact, seq=seq, group_id=result.groupId, error_code=result.errorCode, error=error)
