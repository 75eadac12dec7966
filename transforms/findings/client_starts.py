"""Consumers that began anew, by their own logs: under another member id, and nobody had told them that theirs was over.

A Java consumer that lives on and loses its membership says so before it joins again: in whatever version, it logs at
INFO why it forgets its generation. One whose log goes from one member id to another without a word was started again.
Other libraries do not log all of that unless they are asked to.
"""

from __future__ import annotations

from collections.abc import Iterable

from transforms.findings.client_refusals import ClientLine, ToldRequest

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
    *_COMES,
)
"""Events that say nothing of why a client joins again."""


def fresh_starts(lines: Iterable[ClientLine]) -> list[ToldRequest]:
    """Return the joins by which consumers began anew, of one log file, in its order.

    Args:
        lines: all lines of the file, in any order.

    Returns:
        Joins with the member id that the client got, `error` 'NONE', and the moment when it logged it.
    """
    found: list[ToldRequest] = []
    last: dict[tuple[str, str], str] = {}
    explained: set[tuple[str, str]] = set()
    for line in sorted(lines, key=lambda line: line.line_number):
        if line.client_software != "java" or line.client_id is None or line.group_id is None:
            continue
        client = (line.group_id, line.client_id)
        if line.event not in _GOES_ON or line.error is not None:
            explained.add(client)
        if line.event not in _COMES or line.member_id is None:
            continue
        is_other = line.member_id != last.get(client, line.member_id)
        if is_other and client not in explained and line.logged_at is not None:
            found.append(_join(line, line.group_id, line.logged_at))
        last[client] = line.member_id
        explained.discard(client)
    return found


def _join(line: ClientLine, group_id: str, logged_at: float) -> ToldRequest:
    return ToldRequest(
        group_id=group_id,
        error="NONE",
        answered_at=logged_at,
        api="JoinGroup",
        member_id=line.member_id,
        client_id=line.client_id,
    )
