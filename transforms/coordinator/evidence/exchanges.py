"""A request together with the broker's answer to it, as the replay handles them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from schemas.rows import GroupRequestRow
from transforms.coordinator.evidence.items import Item, token_of
from transforms.coordinator.evidence.tolerances import STORE_MS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.apis import MODERN_HEARTBEATS
from transforms.coordinator.kafka.requests import Leaver, Request


class Observed(Struct, frozen=True, gc=False, array_like=True):
    """What the log shows of a request and the broker's answer to it.

    Attributes:
        handled_at: estimate of when the coordinator took it up (epoch ms).
        observed_error: error that the group answered; errors of single partitions of a commit aside.
        observed_generation: generation in the answer of a successful JoinGroup; epoch in that of a heartbeat.
        parked_ms: time the answer was held back.
        row: the silver row.
    """

    handled_at: float
    answered_at: float
    observed_error: int
    observed_generation: int | None
    parked_ms: float
    row: GroupRequestRow

    @property
    def connection(self) -> tuple[str, str] | None:
        """Broker and connection; None where the log does not tell."""
        return None if self.row.connection is None else (self.row.broker, self.row.connection)


class Exchange(Observed, frozen=True, gc=False, array_like=True):
    """A request, as the machine of a classic group takes it, and the broker's answer to it."""

    request: Request


def is_unreplicated(exchange: Observed, commit_timeout_ms: int) -> bool:
    """Whether a request waited for the log as long as one may, and was answered so.

    The new coordinator lets each request wait for what was written before it. What it wrote itself stays written.
    Source: CoordinatorRuntime.CoordinatorWriteEvent (REQUEST_TIMED_OUT), GroupCoordinatorConfig.offsetCommitTimeoutMs.
    """
    is_told = exchange.observed_error == Error.COORDINATOR_NOT_AVAILABLE
    return is_told and exchange.parked_ms > commit_timeout_ms - STORE_MS


def observed_of(handled_at: float, row: GroupRequestRow) -> Observed:
    """Return what is observed of a request that was handled at a moment."""
    error = observed_error(row) if row.partition_errors else row.error_code
    return Observed(handled_at, row.answered_at, error, _told(row, error), row.parked_ms or 0.0, row)


def exchange_of(item: Item) -> Exchange:
    """Return the exchange of a request's or an answer's item."""
    row = item.request
    if row is None:
        raise ValueError("a line or record is no exchange")
    exchange = _exchange(item.token, item.handled_at, row)
    if item.second is None or exchange.request.given_member_id is not None or row.member_id:
        return exchange
    given = item.second.answered_member_id or None
    return replace(exchange, request=replace(exchange.request, given_member_id=given))


def second_exchange_of(item: Item) -> Exchange | None:
    """Return the exchange of a request with its second answer, if it was answered twice."""
    row = item.second
    if row is None:
        return None
    token = token_of((row.source_file, row.line_number, row.seq), row)
    return _exchange(token, item.handled_at, row)


def _exchange(token: int, handled_at: float, row: GroupRequestRow) -> Exchange:
    error = observed_error(row) if row.partition_errors else row.error_code
    request = _REQUEST_OF_API.get(row.api, _plain)(token, row)
    return Exchange(handled_at, row.answered_at, error, _told(row, error), row.parked_ms or 0.0, row, request)


def _told(row: GroupRequestRow, error: int) -> int | None:
    return row.answered_generation if row.api in _TELLING_APIS and not error else None


_TELLING_APIS = MODERN_HEARTBEATS | {"JoinGroup"}
"""Requests whose answer tells a generation or epoch."""

# --- requests ------------------------------------------------------------------------------------------------------


def _plain(token: int, row: GroupRequestRow) -> Request:
    """Heartbeats and commits, by far the most: who, and of which generation."""
    return Request(
        token,
        row.api,
        row.api_version or 0,
        row.member_id or "",
        row.group_instance_id,
        -1 if row.generation is None else row.generation,
        unknown_topics_only=row.partition_errors is not None and row.partition_errors.keys() == _UNKNOWN_TOPICS,
    )


def _join(token: int, row: GroupRequestRow) -> Request:
    return Request(
        token,
        row.api,
        row.api_version or 0,
        row.member_id or "",
        row.group_instance_id,
        -1 if row.generation is None else row.generation,
        client_id=row.client_id,
        client_host=row.client_host,
        session_timeout_ms=max(row.session_timeout_ms or 0, 0),
        rebalance_timeout_ms=_rebalance_timeout(row),
        protocol_type=row.protocol_type,
        protocols=tuple([(entry.name, entry.metadata or b"") for entry in row.protocols or ()]),
        reason=row.reason,
        given_member_id=None if row.member_id else row.answered_member_id or None,
    )


def _rebalance_timeout(row: GroupRequestRow) -> int:
    """Rebalance timeout of a joiner; JoinGroup v0 has none and means the session timeout."""
    timeout = row.rebalance_timeout_ms
    if timeout is None or timeout < 0:
        timeout = row.session_timeout_ms
    return max(timeout or 0, 0)


def _sync(token: int, row: GroupRequestRow) -> Request:
    return Request(
        token,
        row.api,
        row.api_version or 0,
        row.member_id or "",
        row.group_instance_id,
        -1 if row.generation is None else row.generation,
        protocol_type=row.protocol_type,
        protocol=row.protocol,
        assignments={entry.member_id: entry.assignment or b"" for entry in row.assignments or ()},
    )


def _leave(token: int, row: GroupRequestRow) -> Request:
    leavers = tuple(
        Leaver(entry.member_id or "", entry.group_instance_id, entry.reason) for entry in row.leaving_members or ()
    )
    return Request(token, row.api, row.api_version or 0, row.member_id or "", leavers=leavers)


_REQUEST_OF_API: dict[str, Callable[[int, GroupRequestRow], Request]] = {
    "JoinGroup": _join,
    "SyncGroup": _sync,
    "LeaveGroup": _leave,
}
"""What a request has beside what all have; heartbeats and commits have nothing."""

# --- answers -------------------------------------------------------------------------------------------------------

_NO_ERROR = {int(Error.NONE)}
_UNKNOWN_TOPICS = {int(Error.UNKNOWN_TOPIC_OR_PARTITION)}
_BY_BROKER = frozenset({Error.UNKNOWN_TOPIC_OR_PARTITION, Error.UNKNOWN_TOPIC_ID, Error.TOPIC_AUTHORIZATION_FAILED})
"""Errors of single partitions in a commit by which the broker refuses them, before the group is asked."""

_AFTERWARDS = frozenset({Error.OFFSET_METADATA_TOO_LARGE, Error.INVALID_COMMIT_OFFSET_SIZE})
"""Errors of partitions that are found after the group has let the commit in."""


def observed_error(row: GroupRequestRow) -> int:
    """Return what the group answered.

    A group refuses all partitions of a commit with one error. Metadata or a commit that is too large is found after
    the group has let the commit in, so it counts as let in; topics the broker refuses never reach the group.
    """
    if not row.partition_errors:
        return row.error_code
    if row.partition_errors.keys() == _NO_ERROR:
        return 0
    codes = set(row.partition_errors)
    of_group = codes - _BY_BROKER - _AFTERWARDS
    if of_group or codes & _AFTERWARDS:
        return min(of_group - {Error.NONE}, default=int(Error.NONE))
    return max(codes)  # of those kinds unknown topics alone are foreseen, where they are the only one
