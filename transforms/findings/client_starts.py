"""Consumers that came back under another member id, by their own logs: told that theirs was over, or started again.

A consumer that lives on and loses its membership is told so, and logs it, before it joins again. One whose log goes
from one member id to another without a word was started again. Libraries that do not name the client in each line have
it in the member ids that they log: the coordinator makes them of the client's id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from transforms.findings.client_refusals import ClientLine, Consumer, ToldRequest, consumer_of

TOLD, STARTED = "told that its membership was over", "started again"
"""What joins are told with, as their reason."""

_NOT_KNOWN = "UNKNOWN_MEMBER_ID"
_COMES = ("joined", "synced")
_GOES_ON = (
    "coordinator_discovered",
    "joining",
    "rejoin_requested",
    "member_id_required",
    "assignment_finished",
    "assignment_received",
    "assignment_updated",
    "assignment_skipped",
    "assigned",
    "revoked",
    *_COMES,
)
"""Events that say nothing of why a client joins again."""

_LIBRARIES = ("java", "librdkafka", "kafka-python", "aiokafka", "franz-go")
"""Libraries that log the member ids of joins, and if so whatever ends a membership."""


def returns(lines: Iterable[ClientLine]) -> list[ToldRequest]:
    """Return the joins by which consumers came back under another member id, of one log file, in its order.

    Args:
        lines: all lines of the file, in any order.

    Returns:
        Joins with the member id that the client got, the moment when it logged it, `error` 'NONE', and as `reason`
        whether it had been `TOLD`, or was `STARTED` again; none where its log says something else.
    """
    in_order = sorted((line for line in lines if line.client_software in _LIBRARIES), key=lambda line: line.line_number)
    shared = _shared(in_order)
    last: dict[Consumer, str] = {}
    since: dict[Consumer, set[str]] = defaultdict(set)
    found: list[ToldRequest] = []
    for line in in_order:
        if line.event not in _GOES_ON or line.error is not None:
            for key in last:
                if line.client_id in (None, key[1]) and line.group_id in (None, key[0]):
                    since[key].add(TOLD if line.error == _NOT_KNOWN else line.event)
        known = consumer_of(line)
        if known is None or line.event not in _COMES or line.member_id is None or line.logged_at is None:
            continue
        if line.member_id != last.get(known, line.member_id):
            reason = _reason(since[known], known in shared)
            found += [] if reason is None else [_join(line, known, line.logged_at, reason)]
        last[known] = line.member_id
        since[known].clear()
    return found


def _reason(events: set[str], is_shared: bool) -> str | None:
    """What a client came back for, given what it logged since it had last joined."""
    if TOLD in events:
        return TOLD
    return None if events or is_shared else STARTED


def _shared(lines: list[ClientLine]) -> set[Consumer]:
    """Return the names under which several consumers of a process go: by turns they have one id and another."""
    ids: dict[Consumer, list[str]] = defaultdict(list)
    for line in lines:
        key = consumer_of(line)
        if key is None or line.event not in _COMES or line.member_id is None:
            continue
        if line.member_id not in ids[key][-1:]:
            ids[key].append(line.member_id)
    return {key for key, of_key in ids.items() if len(set(of_key)) < len(of_key)}


def _join(line: ClientLine, known: Consumer, logged_at: float, reason: str) -> ToldRequest:
    return ToldRequest(
        group_id=known[0],
        error="NONE",
        answered_at=logged_at,
        api="JoinGroup",
        member_id=line.member_id,
        client_id=known[1],
        reason=reason,
    )
