"""Whether the process behind a member lived on after the coordinator had removed it, or died.

The lines of a coordinator say the same of both: a session ran out, and a new member came. What tells them apart:

* requests: who sends one late lives; who comes back over another connection is another process;
* what a client logged: that it was told that nobody knows it; or that it joined anew without ever having been told;
* memory: who remembers, as it joins, an assignment of its last stay was there to get it; whose assignor would and does
  not is another process;
* the time: who comes back before its last session has run out was not told that it is out, and so began anew;
* the place: who comes back elsewhere, or under another name, is another process.

Where none of these is at hand, the other returns of the same client decide, as far as they agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from schemas.rows import GenerationMemberRow
from transforms.findings.client_starts import STARTED, TOLD
from transforms.findings.clients import Key
from transforms.findings.evidence import Evidence, Request, first_known
from transforms.findings.stay import Stay

_LATE_MS = 100
"""What is on its way when its sender leaves is refused within this time; later ones come from somebody who lives."""

_BEFORE_MS = 1_000
"""Who comes back so much before its last session has run out did not wait to be told; less may be the lines' clocks."""

_NOT_KNOWN = "UNKNOWN_MEMBER_ID"
"""What a member is told that the coordinator has removed."""

_NOT_A_TIMEOUT = ("unsubscribed", "closed")
"""Words in the reason of a leave (KIP-800) by which a client that lives on says that it meant to go."""


def tell_who_lived_on(stays: Iterable[Stay], evidence: Evidence) -> None:
    """Tell processes that lived on from those that died, as far as the evidence goes."""
    by_member: dict[str, list[Request]] = defaultdict(list)
    for request in evidence.requests:
        if request.member_id:
            by_member[request.member_id].append(request)
        if request.answered_member_id and request.answered_member_id != request.member_id:
            by_member[request.answered_member_id].append(request)
    ended, has_request_log = [stay for stay in stays if stay.ended_at is not None], evidence.has_request_log()
    for stay in ended:
        stay.lived_on = _by_requests(stay, by_member, has_request_log)
    silent = [stay for stay in ended if stay.end_cause == "session_expired" and stay.after is not None]
    memory = _Memory(evidence)
    for stay in silent:
        stay.lived_on = first_known(stay.lived_on, memory.tells(stay), _by_return(stay))
    _tell_by_habit(silent)


def _by_requests(stay: Stay, by_member: dict[str, list[Request]], has_request_log: bool) -> bool | None:
    """What requests tell, in the broker's log or in the client's.

    Clients' own logs tell of no connections, and by clocks of their own: there it is enough that a member whose session
    had run out was told that nobody knows it, or that it came under another id and was not.
    """
    after = stay.after
    if stay.group_type != "classic" and after is not None and after.member_id == stay.member_id:
        return True  # a client makes its id when it starts, and keeps it until it is over
    sent = by_member[stay.member_id]
    late = any(r.answered_at > (stay.ended_at or 0.0) + _LATE_MS and r.error != "NONE" for r in sent)
    is_silent = stay.end_cause == "session_expired"
    if (is_silent and any(r.error == _NOT_KNOWN for r in sent)) or (late and has_request_log):
        return True
    if after is None:
        return None
    said = {r.reason for r in by_member[after.member_id] if r.evidence == "client_log"}
    if is_silent and said & {TOLD, STARTED}:
        return TOLD in said
    return _is_same_connection(sent, by_member[after.member_id]) if has_request_log else None


def _is_same_connection(sent: list[Request], sent_after: list[Request]) -> bool | None:
    """Whether a client came back over the connection it had: then it is the same process. A leave may say otherwise."""
    if any(word in (r.reason or "") for r in sent if r.api == "LeaveGroup" for word in _NOT_A_TIMEOUT):
        return None
    before = {request.connection for request in sent} - {None}
    after = {request.connection for request in sent_after} - {None}
    return bool(before & after) if before and after else None


class _Memory:
    """What members remembered as they joined, and up to which generation they had been there.

    Args:
        evidence: of the storm.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._first: dict[str, GenerationMemberRow] = {}
        for row in evidence.members:
            self._first.setdefault(row.member_id, row)
        self._last = {row.member_id: (row.life, row.last_generation) for row in evidence.sessions}

    def tells(self, stay: Stay) -> bool | None:
        """Tell whether who came back had the memory of its last stay; None = it does not say, or not of which one."""
        came = None if stay.after is None else self._first.get(stay.after.member_id)
        life, last = self._last.get(stay.member_id, (0, None))
        if came is None or came.remembered_generation is None or last is None or came.life != life:
            return None
        if came.remembered_generation < 0:
            return False
        return True if came.remembered_generation <= last else None


def _by_return(stay: Stay) -> bool | None:
    """What the return of a member whose session had run out tells."""
    after = stay.after
    if after is None or after.joined_at is None or stay.ended_at is None:
        return None
    if stay.group_type != "classic":
        return False  # it came under another id than the one that it had made itself
    if (after.client.client_id, after.client.client_host) != (stay.client.client_id, stay.client.client_host):
        return False
    return False if after.joined_at < stay.ended_at - _BEFORE_MS else None


def _tell_by_habit(silent: Iterable[Stay]) -> None:
    """Take what is not known of some returns of a client for what all others of it were."""
    of_client: dict[Key, list[Stay]] = defaultdict(list)
    for stay in silent:
        of_client[stay.origin.key].append(stay)
    for stays in of_client.values():
        known = {stay.lived_on for stay in stays} - {None}
        if len(known) == 1:
            for stay in stays:
                stay.lived_on = next(iter(known))
