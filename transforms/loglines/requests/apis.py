"""Where the columns of `silver.group_requests` stand in the JSON that a broker logs of each API.

The JSON follows the message schema of the request's version (RequestConvertToJson), so a field is absent below the
version that brought it, and absent means null here. All that reads requests derives from these tables.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from transforms.foreign_text import storable

Json = dict[str, Any]

_INT_MAX = (1 << 31) - 1
_LONGEST_MS = 1e12

Int32 = Annotated[int, Meta(ge=-_INT_MAX, le=_INT_MAX)]
Milliseconds = Annotated[float, Meta(gt=-_LONGEST_MS, lt=_LONGEST_MS)]


def text(value: Any) -> str | None:
    """Return a text as it can be stored."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"text expected, not {value!r:.40}")
    return storable(value)


def integer(value: Any) -> int | None:
    """Return a 32 bit number."""
    if value is None:
        return None
    if type(value) is not int or abs(value) > _INT_MAX:
        raise TypeError(f"32 bit number expected, not {value!r:.40}")
    return value


def texts(value: Any) -> list[str | None] | None:
    """Return a list of texts, none of which is null."""
    return None if value is None else [text(_there(each)) for each in value]


def integers(value: Any) -> list[int | None] | None:
    """Return a list of 32 bit numbers, none of which is null."""
    return None if value is None else [integer(_there(each)) for each in value]


def _there(value: Any) -> Any:
    if value is None:
        raise TypeError("null in a list")
    return value


def milliseconds(value: Any) -> float:
    """Return a duration."""
    duration = float(value)
    if not -_LONGEST_MS < duration < _LONGEST_MS:  # NaN is not, either
        raise ValueError(f"{value} is no duration")
    return duration


def binary(value: Any) -> bytes | None:
    """Return the bytes of a base64 text."""
    return None if value is None else base64.b64decode(value, validate=True)


def json_object(value: Any) -> Json | None:
    """Return a JSON object."""
    if value is not None and not isinstance(value, dict):
        raise TypeError(f"object expected, not {value!r:.40}")
    return value


def json_text(value: Json) -> str | None:
    """Return a JSON object as it is stored; None for one that is nested too deep to be anything."""
    try:
        return json.dumps(value, separators=(",", ":"))
    except RecursionError:
        return None


@dataclass(frozen=True, slots=True)
class Value:
    """A kind of value.

    Attributes:
        type: its Python type.
        convert: gives it from what stands in the JSON; a ValueError or TypeError means that it is no such value.
        stored: gives what stands in the column from it; None = it is that itself.
    """

    type: Any
    convert: Callable[[Any], Any]
    stored: Callable[[Any], Any] | None = None


TEXT = Value(str, text)
INTEGER = Value(Int32, integer)
BINARY = Value(bytes, binary)
TEXTS = Value(list[str], texts)
INTEGERS = Value(list[Int32], integers)
OBJECT = Value(dict[str, Any], json_object, json_text)


@dataclass(frozen=True, slots=True)
class Field:
    """A JSON field and the column that it fills."""

    column: str
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Each:
    """A list of JSON objects and the column of structs that it fills.

    Attributes:
        inside: the JSON object that the list stands in; "" = beside the other fields.
    """

    column: str
    name: str
    fields: tuple[Field, ...]
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Api:
    """One API of the group coordinator.

    Attributes:
        name: as `silver.group_requests.api` holds it.
        request: columns out of the request, beside its group.
        response: columns out of the answer.
        errors: path of lists at whose end the answer holds further error codes.
        is_counted: the errors are those of partitions and are counted.
        is_of_many: the groups stand beside these errors, and not in the request.
    """

    name: str
    request: tuple[Field | Each, ...]
    response: tuple[Field | Each, ...] = ()
    errors: tuple[str, ...] = ()
    is_counted: bool = False
    is_of_many: bool = False

    @property
    def columns(self) -> frozenset[str]:
        """Columns that its fields fill, those of lists too: what the first one of a list says may stand in a column."""
        inner = (field.column for each in self.request for field in getattr(each, "fields", ()))
        return frozenset((*(each.column for each in (*self.request, *self.response)), *inner))


GROUP = Field("group_id", "groupId", TEXT)
"""Every request but one of many groups has it."""

ERROR = Field("error_code", "errorCode", INTEGER)
"""An answer has it, and each thing at the end of `Api.errors`."""

_MEMBER = Field("member_id", "memberId", TEXT)
_INSTANCE = Field("group_instance_id", "groupInstanceId", TEXT)
_METADATA = Field("metadata", "metadata", BINARY)
_GENERATION = Field("generation", "generationId", INTEGER)
_REBALANCE_TIMEOUT = Field("rebalance_timeout_ms", "rebalanceTimeoutMs", INTEGER)
_ANSWERED_MEMBER = Field("answered_member_id", "memberId", TEXT)

_JOIN = Api(
    "JoinGroup",
    request=(
        _MEMBER,
        _INSTANCE,
        Field("session_timeout_ms", "sessionTimeoutMs", INTEGER),
        _REBALANCE_TIMEOUT,
        Field("protocol_type", "protocolType", TEXT),
        Each("protocols", "protocols", (Field("name", "name", TEXT), _METADATA)),
        Field("reason", "reason", TEXT),
    ),
    response=(
        Field("answered_generation", "generationId", INTEGER),
        _ANSWERED_MEMBER,
        Field("answered_protocol", "protocolName", TEXT),
        Field("answered_leader", "leader", TEXT),
        Each(
            "answered_members",
            "members",
            (_MEMBER, _INSTANCE, _METADATA),
        ),
    ),
)

_SYNC = Api(
    "SyncGroup",
    request=(
        _MEMBER,
        _INSTANCE,
        _GENERATION,
        Field("protocol_type", "protocolType", TEXT),
        Field("protocol", "protocolName", TEXT),
        Each(
            "assignments",
            "assignments",
            (_MEMBER, Field("assignment", "assignment", BINARY)),
        ),
    ),
    response=(
        Field("answered_protocol", "protocolName", TEXT),
        Field("answered_assignment", "assignment", BINARY),
    ),
)

_LEAVING = (_MEMBER, _INSTANCE, Field("reason", "reason", TEXT))

_COMMIT_IDENTITY = (
    _MEMBER,
    _INSTANCE,
    _GENERATION,
    Field("generation", "generationIdOrMemberEpoch", INTEGER),  # its name since 3.6
)


_INSTANCE_ID = Field("group_instance_id", "instanceId", TEXT)
_EPOCH = Field("generation", "memberEpoch", INTEGER)
_RACK = Field("rack_id", "rackId", TEXT)
_TOPICS = Field("subscribed_topics", "subscribedTopicNames", TEXTS)
_PARTITIONS = (Field("topic_id", "topicId", TEXT), Field("partitions", "partitions", INTEGERS))

_TOLD = (
    Field("answered_generation", "memberEpoch", INTEGER),
    _ANSWERED_MEMBER,
    Field("heartbeat_interval_ms", "heartbeatIntervalMs", INTEGER),
)
_TOLD_PARTITIONS = (*_TOLD, Each("told", "topicPartitions", _PARTITIONS, inside="assignment"))

_CONSUMER_HEARTBEAT = Api(
    "ConsumerGroupHeartbeat",
    request=(
        _MEMBER,
        _INSTANCE_ID,
        _EPOCH,
        _RACK,
        _REBALANCE_TIMEOUT,
        _TOPICS,
        Field("subscribed_regex", "subscribedTopicRegex", TEXT),
        Field("server_assignor", "serverAssignor", TEXT),
        Each("owned", "topicPartitions", _PARTITIONS),
    ),
    response=_TOLD_PARTITIONS,
)

_SHARE_HEARTBEAT = Api(
    "ShareGroupHeartbeat",
    request=(_MEMBER, _INSTANCE_ID, _EPOCH, _RACK, _REBALANCE_TIMEOUT, _TOPICS),
    response=_TOLD_PARTITIONS,
)

_TASKS = (Field("subtopology_id", "subtopologyId", TEXT), Field("partitions", "partitions", INTEGERS))

_STREAMS_HEARTBEAT = Api(
    "StreamsGroupHeartbeat",
    request=(
        _MEMBER,
        _INSTANCE_ID,
        _EPOCH,
        _RACK,
        _REBALANCE_TIMEOUT,
        Field("topology", "topology", OBJECT),
        Each("owned_active", "activeTasks", _TASKS),
        Each("owned_standby", "standbyTasks", _TASKS),
        Each("owned_warmup", "warmupTasks", _TASKS),
    ),
    response=(
        *_TOLD,
        Each("told_active", "activeTasks", _TASKS),
        Each("told_standby", "standbyTasks", _TASKS),
        Each("told_warmup", "warmupTasks", _TASKS),
    ),
)


APIS: dict[int, Api] = {
    8: Api("OffsetCommit", _COMMIT_IDENTITY, errors=("topics", "partitions"), is_counted=True),
    11: _JOIN,
    12: Api("Heartbeat", (_MEMBER, _INSTANCE, _GENERATION)),
    13: Api("LeaveGroup", (_MEMBER, Each("leaving_members", "members", _LEAVING)), errors=("members",)),
    14: _SYNC,
    28: Api("TxnOffsetCommit", _COMMIT_IDENTITY, errors=("topics", "partitions"), is_counted=True),
    42: Api("DeleteGroups", (), errors=("results",), is_of_many=True),
    47: Api("OffsetDelete", (), errors=("topics", "partitions"), is_counted=True),
    68: _CONSUMER_HEARTBEAT,
    76: _SHARE_HEARTBEAT,
    88: _STREAMS_HEARTBEAT,
}
"""Kafka's key of the API to how its rows are read."""

OF_SOME_APIS = frozenset().union(*(api.columns for api in APIS.values()))
"""Columns that are null in the rows of all other APIs."""
