"""Where the columns of `silver.group_requests` stand in the JSON that a broker logs of each API.

The JSON follows the message schema of the request's version (RequestConvertToJson), so a field is absent below the
version that brought it, and absent means null here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_INT_MAX = (1 << 31) - 1


def text(value: Any) -> str | None:
    """Return a text that can be stored: JSON may hold halves of surrogate pairs, UTF-8 may not."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"text expected, not {value!r:.40}")
    return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def integer(value: Any) -> int | None:
    """Return a 32 bit number."""
    if value is None:
        return None
    if type(value) is not int or abs(value) > _INT_MAX:
        raise TypeError(f"32 bit number expected, not {value!r:.40}")
    return value


def binary(value: Any) -> bytes | None:
    """Return the bytes of a base64 text."""
    return None if value is None else base64.b64decode(value, validate=True)


Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A JSON field and the column that it fills."""

    column: str
    name: str
    convert: Convert


@dataclass(frozen=True, slots=True)
class Each:
    """A list of JSON objects and the list of structs that it fills."""

    column: str
    name: str
    fields: tuple[Field, ...]

    def convert(self, items: Any) -> list[Json] | None:
        """Return the structs, null for an absent list."""
        if items is None:
            return None
        return [{field.column: field.convert(item.get(field.name)) for field in self.fields} for item in items]


@dataclass(frozen=True, slots=True)
class Api:
    """One API of the group coordinator.

    Attributes:
        name: as `silver.group_requests.api` holds it.
        request: columns out of the request.
        response: columns out of the answer.
        errors: path of lists below which the answer holds further error codes.
        is_counted: the errors are those of partitions and are counted.
    """

    name: str
    request: tuple[Field | Each, ...]
    response: tuple[Field | Each, ...] = ()
    errors: tuple[str, ...] = ()
    is_counted: bool = False


_GROUP = Field("group_id", "groupId", text)
_MEMBER = Field("member_id", "memberId", text)
_INSTANCE = Field("group_instance_id", "groupInstanceId", text)
_GENERATION = Field("generation", "generationId", integer)
_REBALANCE_TIMEOUT = Field("rebalance_timeout_ms", "rebalanceTimeoutMs", integer)
_ANSWERED_MEMBER = Field("answered_member_id", "memberId", text)

_JOIN = Api(
    "JoinGroup",
    request=(
        _GROUP,
        _MEMBER,
        _INSTANCE,
        Field("session_timeout_ms", "sessionTimeoutMs", integer),
        _REBALANCE_TIMEOUT,
        Field("protocol_type", "protocolType", text),
        Each("protocols", "protocols", (Field("name", "name", text), Field("metadata", "metadata", binary))),
        Field("reason", "reason", text),
    ),
    response=(
        Field("answered_generation", "generationId", integer),
        _ANSWERED_MEMBER,
        Field("answered_protocol", "protocolName", text),
        Field("answered_leader", "leader", text),
        Each(
            "answered_members",
            "members",
            (
                Field("member_id", "memberId", text),
                Field("group_instance_id", "groupInstanceId", text),
                Field("metadata", "metadata", binary),
            ),
        ),
    ),
)

_SYNC = Api(
    "SyncGroup",
    request=(
        _GROUP,
        _MEMBER,
        _INSTANCE,
        _GENERATION,
        Field("protocol_type", "protocolType", text),
        Field("protocol", "protocolName", text),
        Each(
            "assignments",
            "assignments",
            (Field("member_id", "memberId", text), Field("assignment", "assignment", binary)),
        ),
    ),
    response=(
        Field("answered_protocol", "protocolName", text),
        Field("answered_assignment", "assignment", binary),
    ),
)

_COMMIT_IDENTITY = (
    _GROUP,
    _MEMBER,
    _INSTANCE,
    _GENERATION,
    Field("generation", "generationIdOrMemberEpoch", integer),  # its name since 3.6
)


def _modern(name: str) -> Api:
    """Return the heartbeat of a group type whose members have epochs instead of generations."""
    return Api(
        name,
        request=(
            _GROUP,
            _MEMBER,
            Field("group_instance_id", "instanceId", text),
            Field("generation", "memberEpoch", integer),
            _REBALANCE_TIMEOUT,
        ),
        response=(Field("answered_generation", "memberEpoch", integer), _ANSWERED_MEMBER),
    )


APIS: dict[int, Api] = {
    8: Api("OffsetCommit", _COMMIT_IDENTITY, errors=("topics", "partitions"), is_counted=True),
    11: _JOIN,
    12: Api("Heartbeat", (_GROUP, _MEMBER, _INSTANCE, _GENERATION)),
    13: Api("LeaveGroup", (_GROUP, _MEMBER), errors=("members",)),
    14: _SYNC,
    28: Api("TxnOffsetCommit", _COMMIT_IDENTITY, errors=("topics", "partitions"), is_counted=True),
    42: Api("DeleteGroups", (), errors=("results",)),
    47: Api("OffsetDelete", (_GROUP,), errors=("topics", "partitions"), is_counted=True),
    68: _modern("ConsumerGroupHeartbeat"),
    76: _modern("ShareGroupHeartbeat"),
    88: _modern("StreamsGroupHeartbeat"),
}
"""Kafka's key of the API to how its rows are read."""


def error_codes(answer: Json, path: tuple[str, ...]) -> list[int]:
    """Return the error codes of an answer below a path of lists, in the order of the answer."""
    items = [answer]
    for name in path:
        items = [below for item in items for below in item.get(name) or ()]
    return [code for item in items if (code := integer(item.get("errorCode"))) is not None]
