"""Which error of Kafka a client's line tells of, and of which API."""

from __future__ import annotations

import re

from schemas.client_errors import error_in
from schemas.client_events import API_OF_EVENT
from transforms.loglines.facts import ClientEvent

_API = re.compile(
    r"(?P<TxnOffsetCommit>TxnOffsetCommit|Transaction offset Commit|TXN_OFFSET_COMMIT|commit offsets to transaction)"
    r"|(?P<ConsumerGroupHeartbeat>(?:Consumer|\b)GroupHeartbeat)"
    r"|(?P<ShareGroupHeartbeat>ShareGroupHeartbeat)"
    r"|(?P<StreamsGroupHeartbeat>StreamsGroupHeartbeat)"
    r"|(?P<OffsetCommit>OffsetCommit|OFFSET_COMMIT)"
    r"|(?P<SyncGroup>SyncGroup|SYNC_GROUP)"
    r"|(?P<JoinGroup>JoinGroup|JOIN_GROUP|join group with)"
    r"|(?P<Heartbeat>[Hh]eartbeat|HEARTBEAT|Fatal consumer error)"
)
_NAMED_BY_ITSELF = frozenset({"fenced", "generation_reset", "heartbeat_failed", "commit_failed", "unrecognised"})
"""Events whose line may name another API than theirs, or the only one."""

_BY_HEARTBEAT = frozenset({"joining", "leaving", "leave_failed"})
"""Events that members of the newer protocols have by a heartbeat."""


def name_refusal(event: ClientEvent, text: str) -> None:
    """Fill in `api` and `error` of an event from the line that told it."""
    if event.error is None:
        event.error = error_in(text)
    event.api = API_OF_EVENT.get(event.event)
    if event.event in _BY_HEARTBEAT and "GroupHeartbeat" in text:
        event.api = _named(text)
    if event.event in _NAMED_BY_ITSELF:
        named = _named(text)
        if named is not None and (event.event != "commit_failed" or named == "TxnOffsetCommit"):
            event.api = named


def _named(text: str) -> str | None:
    found = _API.search(text)
    return None if found is None else found.lastgroup
