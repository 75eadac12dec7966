"""What clients logged of requests that their coordinator refused, as the requests that bursts are made of.

A client tells of one refusal in several lines: its library in one or in one for each partition, then the application
that was thrown the exception. What belongs to one refusal is counted once, so that a burst made of client logs has
about as many errors as the request log would have had. Commits that a client refuses itself, without asking its
coordinator, are marked: no request log has them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from schemas.client_errors import refused_by_client
from schemas.words import FENCING_ERRORS

TELLING = ("heartbeat_failed", "sync_failed", "commit_failed", "fenced")
"""Events that tell of a refused request, where they have a fencing error."""

_SAME_REFUSAL_MS = 50
"""Lines of one client about one refusal follow each other within this time."""

_TOLD_LATER_MS = 5000
"""What is thrown at the application's next poll may be logged so much later; such lines name no request."""

_LATEST = 8
"""So many refusals of one error are looked through for the one that a line is of."""

_NAMES_MEMBER = ("joined", "synced", "state_changed")
_FORGETS_MEMBER = ("generation_reset", "left")

_TELLS_EPOCH = ("FENCED", "FATAL")
"""States that a consumer of the new protocol goes into when it is refused: the line about it has the epoch it sent."""

_UUID = 36
"""Length of what the coordinator puts behind the client's id, and a dash, to make a member id of it."""

Consumer = tuple[str, str]
"""The group and the name of a consumer."""


class ClientLine(Struct, kw_only=True):
    """Row of `silver.client_events`, as far as it matters here; moments are epoch ms."""

    line_number: int
    event: str
    logged_at: float | None = None
    client_id: str | None = None
    group_id: str | None = None
    generation: int | None = None
    member_id: str | None = None
    partitions: list[str] | None = None
    api: str | None = None
    error: str | None = None
    client_state: str | None = None
    group_instance_id: str | None = None
    client_software: str | None = None
    reason: str | None = None


class ToldRequest(Struct, kw_only=True):
    """A request and its answer by the client's own word; null where its log does not tell.

    `is_own`: the client refused it itself, and sent nothing. `group_instance_id` is told of who was never let in:
    others are known as members, with theirs.
    """

    group_id: str
    error: str
    answered_at: float
    api: str
    generation: int | None = None
    member_id: str | None = None
    client_id: str | None = None
    reason: str | None = None
    group_instance_id: str | None = None
    is_own: bool = False


def consumer_of(line: ClientLine) -> Consumer | None:
    """Return the consumer that a line is of; one that names no client is of whom its member id begins with."""
    if line.group_id is None:
        return None
    if line.client_id is not None:
        return line.group_id, line.client_id
    member_id = line.member_id or ""
    return (line.group_id, member_id[: -_UUID - 1]) if len(member_id) > _UUID + 1 else None


def refusals(lines: Iterable[ClientLine]) -> list[ToldRequest]:
    """Return the refusals that one log file tells of, in its order.

    A line that names no group is of the only group that its file names, and likewise for the client; with several it
    is left out, or has no client. Where a library names its client in each line, the member and the generation are
    those that the client last joined with; where it does not, the member is that of the file's only consumer. Who
    refuses a commit itself is the member that it was last. What librdkafka logs of commits makes its application's word
    superfluous.

    Args:
        lines: all lines of the file, in any order.
    """
    known = sorted(lines, key=lambda line: line.line_number)
    group = _only(line.group_id for line in known)
    client = _only(line.client_id for line in known)
    is_detailed = any(_is_commit_of_librdkafka(line) for line in known)
    members = _Members(known)
    last: dict[tuple[str, str, bool], list[_Told]] = {}
    of_client: dict[str | None, _Told] = {}
    for line in known:
        members.note(line)
        if line.event == "state_changed" and line.client_state is not None:
            _complete_epoch(of_client.pop(line.client_id, None), line)
        group_id, is_own = line.group_id or group, _is_own(line)
        error = refused_by_client(line.reason or "") if is_own else line.error
        if not _is_telling(line) or error not in FENCING_ERRORS or group_id is None or line.logged_at is None:
            continue
        if is_detailed and line.client_software == "librdkafka" and line.client_id is None:
            continue
        told = last.setdefault((group_id, error, is_own), [])
        same = next((each for each in reversed(told[-_LATEST:]) if _is_same(each, line)), None)
        if same is not None:
            same.lines.append(line)
            _complete(same.refusal, line, client)
            continue
        member, former = members.now(line), members.last(line, group_id)
        refusal = ToldRequest(
            group_id=group_id,
            error=error,
            answered_at=line.logged_at,
            api=line.api or "unknown",
            generation=former.generation if is_own else _sent(line, member),
            member_id=line.member_id or member.member_id or former.member_id,
            client_id=line.client_id or client,
            group_instance_id=line.group_instance_id if error == "UNRELEASED_INSTANCE_ID" else None,
            is_own=is_own,
        )
        told.append(_Told(refusal, [line]))
        of_client[line.client_id] = told[-1]
    found = [each.refusal for told in last.values() for each in told]
    return sorted(found, key=lambda refusal: refusal.answered_at)


class _Members:
    """Which member each consumer of a file is, and which it was last.

    Args:
        lines: all lines of the file.
    """

    _NOBODY = ClientLine(line_number=0, event="")

    def __init__(self, lines: list[ClientLine]) -> None:
        names: dict[str, set[str]] = defaultdict(set)
        for line in filter(_names_member, lines):
            if (consumer := consumer_of(line)) is not None:
                names[consumer[0]].add(consumer[1])
        self._only = {group_id: of_group.pop() for group_id, of_group in names.items() if len(of_group) == 1}
        self._now: dict[str, ClientLine] = {}
        self._last: dict[Consumer, ClientLine] = {}

    def note(self, line: ClientLine) -> None:
        """Take note of a line, in the order of the file."""
        if _names_member(line) and (consumer := consumer_of(line)) is not None:
            self._last[consumer] = line
        if line.client_id is None:
            return
        if _names_member(line):
            self._now[line.client_id] = line
        elif line.event in _FORGETS_MEMBER and line.error is None:
            self._now.pop(line.client_id, None)

    def now(self, line: ClientLine) -> ClientLine:
        """Return the line in which the client of a line joined last: an empty one where that is not known."""
        return self._NOBODY if line.client_id is None else self._now.get(line.client_id, self._NOBODY)

    def last(self, line: ClientLine, group_id: str) -> ClientLine:
        """Return likewise who it was last, where its own name does not tell who it is.

        It names nobody, or a producer, and the file has one consumer of the group; or it has left, and says so.
        """
        named = line.client_id if line.api != "TxnOffsetCommit" else None
        if named is not None and not _is_own(line):
            return self._NOBODY
        name = self._only.get(group_id) if named is None else named
        return self._NOBODY if name is None else self._last.get((group_id, name), self._NOBODY)


def _names_member(line: ClientLine) -> bool:
    return line.event in _NAMES_MEMBER and bool(line.member_id)


def _is_own(line: ClientLine) -> bool:
    """Tell whether a client refused a commit itself."""
    return line.event == "commit_failed" and line.error is None and refused_by_client(line.reason or "") is not None


def _is_telling(line: ClientLine) -> bool:
    """Tell whether a line is of a request; members of newer protocols leave by a heartbeat, which may be refused."""
    return line.event in TELLING or (line.event == "leave_failed" and (line.api or "").endswith("GroupHeartbeat"))


def _sent(line: ClientLine, member: ClientLine) -> int | None:
    """Return the generation that a refused request had; an epoch may have gone on since its member last named it."""
    if line.generation is not None or member.event == "state_changed":
        return line.generation
    return member.generation


def _complete_epoch(told: _Told | None, line: ClientLine) -> None:
    """Fill in the epoch of a refused heartbeat from the next state of its client."""
    if told is None or line.client_state not in _TELLS_EPOCH or told.refusal.api == "OffsetCommit":
        return
    if told.refusal.generation is None and told.refusal.member_id in (None, line.member_id):
        told.refusal.member_id, told.refusal.generation = line.member_id, line.generation


class _Told(NamedTuple):
    """A refusal and the lines that tell of it."""

    refusal: ToldRequest
    lines: list[ClientLine]


def _is_same(told: _Told, line: ClientLine) -> bool:
    """Tell whether a line is of a refusal that others told of before."""
    before = told.lines[-1]
    if line.client_id is not None and before.client_id is not None and line.client_id != before.client_id:
        return False
    gap_ms = (line.logged_at or 0) - (before.logged_at or 0)
    if line.api is None:
        return 0 <= gap_ms <= _TOLD_LATER_MS
    if any(each.api not in (None, line.api) for each in told.lines):
        return False
    if _is_echo(told, line) and 0 <= gap_ms <= _TOLD_LATER_MS:
        return True
    if line.partitions is not None and any(each.partitions == line.partitions for each in told.lines):
        return False  # a partition is told of once for each request
    return not _is_one_request(line) and 0 <= gap_ms <= _SAME_REFUSAL_MS


def _is_echo(told: _Told, line: ClientLine) -> bool:
    """Tell whether an application is told at its next poll what its library logged when it happened.

    Consumers of the new protocol log a stale commit with its member as the answer comes, and hand on its error later.
    """
    is_handed_on = line.error == "STALE_MEMBER_EPOCH" and line.member_id is None
    return is_handed_on and all(each.member_id is not None for each in told.lines)


def _is_one_request(line: ClientLine) -> bool:
    """Tell whether a library prints such a line once for each request."""
    is_fenced = line.event == "fenced" and (line.api or "").endswith("GroupHeartbeat")
    return is_fenced or line.event in ("heartbeat_failed", "sync_failed") or _is_commit_of_librdkafka(line)


def _is_commit_of_librdkafka(line: ClientLine) -> bool:
    """Tell whether librdkafka itself logs that a commit was refused: at once, or when the application polls next."""
    return line.event == "commit_failed" and line.client_software == "librdkafka" and line.client_id is not None


def _complete(refusal: ToldRequest, line: ClientLine, client: str | None) -> None:
    """Fill in what a further line about a refusal tells beside."""
    if refusal.api == "unknown" and line.api is not None:
        refusal.api = line.api
    if refusal.generation is None:
        refusal.generation = line.generation
    refusal.member_id = refusal.member_id or line.member_id
    refusal.client_id = refusal.client_id or line.client_id or client


def _only(names: Iterable[str | None]) -> str | None:
    """Return the only name among some; None where there is none or several."""
    found = {name for name in names if name}
    return found.pop() if len(found) == 1 else None
