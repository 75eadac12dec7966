"""Requests with their answers as drawn histories write them, turned into lines of Kafka's request log.

    JoinGroup                                 no member id yet; JoinGroup v3: of that version
    JoinGroup a-1, offers range roundrobin, session 6000, rebalance 9000
    JoinGroup a-1 "rebalance enforced by user"
    SyncGroup a-1 generation 1                a follower
    SyncGroup a-1 generation 1, assigns a-1: t-0; b-1: t-1        the leader
    Heartbeat a-1 generation 1
    OffsetCommit a-1 generation 1             TxnOffsetCommit the same; OffsetCommit alone: of nobody's generation
    LeaveGroup a-1 "the consumer is being closed", b-1, (i) "member was removed by an admin"
    DeleteGroups
    ConsumerGroupHeartbeat a-1 generation 1   the generation is a member epoch

    -> NONE, -> ILLEGAL_GENERATION            Kafka's name of the error
    -> NONE UNKNOWN_MEMBER_ID                 one for each leaver, or for each partition of a commit
    -> MEMBER_ID_REQUIRED as a-1              the id that the answer gives
    -> generation 1 as b-1, leader a-1        a JoinGroup let in
    -> generation 1, leader a-1, members a-1 b-1, protocol roundrobin
    -> t-0 t-1                                what a SyncGroup is told; "nothing" for no partition
    -> 3002 generation 1, leader a-1          answered at 3002: it waited until then
    -> locked 3002 NONE                       it waited for the group's lock first, and was handled some time until then

What is not written is as a Java consumer has it: `range` offered and elected, session timeout 10 s, rebalance timeout
60 s. How members and partitions are written stands in `tests.support.drawn_members`.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable
from typing import Any

from schemas.kafka_errors import ERROR_CODES
from tests.support.drawn_members import CLIENT_HOST, Who, assignment, assignments, members, who
from transforms.loglines.requests.apis import APIS

Json = dict[str, Any]

VERSIONS = {
    "JoinGroup": 9,
    "SyncGroup": 5,
    "Heartbeat": 4,
    "LeaveGroup": 5,
    "OffsetCommit": 9,
    "TxnOffsetCommit": 5,
    "DeleteGroups": 2,
    "ConsumerGroupHeartbeat": 1,
}
"""Versions that a client of 4.2 sends."""

SESSION_TIMEOUT_MS = 10_000
REBALANCE_TIMEOUT_MS = 60_000
PROTOCOL_TYPE, PROTOCOL = "consumer", "range"

_OF_REQUEST = frozenset({"offers", "session", "rebalance", "protocol", "assigns"})
_OF_ANSWER = frozenset({"leader", "members", "protocol"})
_TELLING = frozenset({"JoinGroup", "SyncGroup"})
"""APIs whose answer tells more than an error."""

_KEYS = {api.name: key for key, api in APIS.items()}
_PHRASES = re.compile(r',\s+(?=(?:[^"]*"[^"]*")*[^"]*$)')
_SUBJECT = re.compile(r'(?P<who>.*?)(?:\s*\bgeneration (?P<generation>-?\d+))?(?:\s*"(?P<reason>[^"]*)")?')
_ANSWER = re.compile(
    r"(?:(?P<locked>locked\s+)?(?P<at>\d+)\s+)?(?P<said>.*?)(?: as (?P<given>\S+))?(?:,\s+(?P<more>.*))?"
)


class Said:
    """A request and its answer, taken apart.

    Attributes:
        api: Kafka's name of the API.
        version: its version.
        subjects: who it is about, each with generation and reason; several in a LeaveGroup alone.
        more: further phrases of the request by their first word; `told` likewise those of the answer.
        answered_at: when it was answered, if not at once.
        is_locked: until then it waited for the group's lock.
        answer: first phrase of the answer.
        given: member id in the answer, if the request has another or none.
    """

    def __init__(self, text: str, at: float) -> None:
        request, arrow, answer = text.partition("->")
        if not arrow:
            raise ValueError(f"a request without an answer: {text}")
        match = re.fullmatch(r"(\w+)(?: v(\d+))?\s*(.*)", request.strip())
        if match is None or match[1] not in VERSIONS:
            raise ValueError(f"no request: {text}")
        self.api = match[1]
        self.version = int(match[2] or VERSIONS[self.api])
        first, *rest = _PHRASES.split(match[3])
        subjects, more = ([first, *rest], []) if self.api == "LeaveGroup" else ([first], rest)
        self.subjects = [_matched(_SUBJECT, subject) for subject in subjects]
        self.more = _by_first_word(more, _OF_REQUEST)
        said = _matched(_ANSWER, answer.strip())
        self.answered_at = None if said["at"] is None else int(said["at"])
        self.is_locked = said["locked"] is not None
        self.until = math.ceil(at) if self.answered_at is None else self.answered_at
        if self.until < at:
            raise ValueError(f"answered before it came: {text}")
        self.answer, self.given = said["said"], said["given"]
        self.told = _by_first_word(_PHRASES.split(said["more"]) if said["more"] else [], _OF_ANSWER)
        if self.api not in _TELLING and not (self.answer and set(self.answer.split()) <= set(ERROR_CODES)):
            raise ValueError(f"no error of Kafka's: {text}")

    @property
    def who(self) -> Who:
        """The member that asks."""
        return who(self.subjects[0]["who"])

    @property
    def generation(self) -> int:
        """Generation as sent."""
        return int(self.subjects[0]["generation"] or -1)

    @property
    def reason(self) -> str | None:
        """Reason as sent."""
        return self.subjects[0]["reason"]

    @property
    def errors(self) -> list[int]:
        """Error codes of the answer; none where it tells something else."""
        return [ERROR_CODES[name] for name in self.answer.split() if name in ERROR_CODES]

    @property
    def error(self) -> int:
        """The error code of the answer."""
        return self.errors[0] if self.errors else 0


def _matched(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    match = pattern.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not understood: {text!r}")
    return match


def _by_first_word(phrases: list[str], known: frozenset[str]) -> dict[str, str]:
    words = {word: rest for word, _, rest in (phrase.strip().partition(" ") for phrase in phrases)}
    if not known.issuperset(words):
        raise ValueError(f"not understood: {sorted(set(words) - known)}")
    return words


def request_line(said: Said, stamp: str, at: float, group_id: str, client_id: str, connection: Json) -> str:
    """Write the line that a broker logs when it has sent the answer.

    Args:
        said: the request and its answer.
        stamp: time of the line as log4j prints it.
        at: when the request was handled; it came at the same moment.
        group_id: the group.
        client_id: who sent it.
        connection: `connection` and `correlationId`.
    """
    request, response = _BODIES[said.api](said, group_id)
    logged = {
        "isForwarded": False,
        "requestHeader": {
            "requestApiKey": _KEYS[said.api],
            "requestApiVersion": said.version,
            "correlationId": connection["correlationId"],
            "clientId": client_id,
            "requestApiKeyName": said.api,
        },
        "request": request,
        "response": response,
        "connection": connection["connection"],
        "totalTimeMs": round(said.until - at, 3),
        "requestQueueTimeMs": 0.0,
        "remoteTimeMs": 0.0 if said.answered_at is None or said.is_locked else round(said.until - at, 3),
    }
    return f"[{stamp}] DEBUG Completed request:{json.dumps(logged)} (kafka.request.logger)"


def connection_of(port: int, is_java: bool) -> str:
    """Name a client's connection as its broker does; Kafka 4 adds the number of the processor."""
    return f"10.0.0.9:9092-{CLIENT_HOST[1:]}:{port}-0" + ("-1" if is_java else "")


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _identity(said: Said, group_id: str) -> Json:
    asking = said.who
    return {"groupId": group_id, "memberId": asking.member_id, "groupInstanceId": asking.group_instance_id}


def _join(said: Said, group_id: str) -> tuple[Json, Json]:
    metadata = _base64(said.who.subscription)
    request = {
        **_identity(said, group_id),
        "sessionTimeoutMs": int(said.more.get("session", SESSION_TIMEOUT_MS)),
        "rebalanceTimeoutMs": int(said.more.get("rebalance", REBALANCE_TIMEOUT_MS)),
        "protocolType": PROTOCOL_TYPE,
        "protocols": [{"name": name, "metadata": metadata} for name in said.more.get("offers", PROTOCOL).split()],
        "reason": said.reason,
    }
    is_let_in = not said.errors
    told = [
        {
            "memberId": each.member_id,
            "groupInstanceId": each.group_instance_id,
            "metadata": _base64(each.subscription),
        }
        for each in members(said.told.get("members", ""))
    ]
    response = {
        "errorCode": said.error,
        "generationId": int(said.answer.removeprefix("generation ")) if is_let_in else -1,
        "protocolName": said.told.get("protocol", PROTOCOL) if is_let_in else None,
        "leader": said.told["leader"] if is_let_in else "",
        "memberId": said.given or request["memberId"],
        "members": told,
    }
    return request, response


def _sync(said: Said, group_id: str) -> tuple[Json, Json]:
    sent = assignments(said.more["assigns"]) if "assigns" in said.more else []
    request = {
        **_identity(said, group_id),
        "generationId": said.generation,
        "protocolType": PROTOCOL_TYPE,
        "protocolName": said.more.get("protocol", PROTOCOL),
        "assignments": [{"memberId": each.member_id, "assignment": _base64(raw)} for each, raw in sent],
    }
    told = b"" if said.errors or said.answer == "nothing" else assignment(said.answer)
    return request, {"errorCode": said.error, "assignment": _base64(told)}


def _heartbeat(said: Said, group_id: str) -> tuple[Json, Json]:
    return {**_identity(said, group_id), "generationId": said.generation}, {"errorCode": said.error}


def _commit(said: Said, group_id: str) -> tuple[Json, Json]:
    request = {**_identity(said, group_id), "generationIdOrMemberEpoch": said.generation}
    partitions = [{"partitionIndex": at, "errorCode": code} for at, code in enumerate(said.errors)]
    return request, {"topics": [{"name": "t", "partitions": partitions}]}


def _leave(said: Said, group_id: str) -> tuple[Json, Json]:
    leavers = [(who(subject["who"]), subject["reason"]) for subject in said.subjects]
    request = [
        {"memberId": each.member_id, "groupInstanceId": each.group_instance_id, "reason": reason}
        for each, reason in leavers
    ]
    answers = [{"errorCode": code} for code in said.errors]
    if len(answers) != len(request):
        raise ValueError(f"{len(request)} leavers, {len(answers)} answers")
    return {"groupId": group_id, "members": request}, {"errorCode": 0, "members": answers}


def _delete(said: Said, group_id: str) -> tuple[Json, Json]:
    return {"groupsNames": [group_id]}, {"results": [{"groupId": group_id, "errorCode": said.error}]}


def _modern_heartbeat(said: Said, group_id: str) -> tuple[Json, Json]:
    request = {"groupId": group_id, "memberId": said.who.member_id, "memberEpoch": said.generation}
    return request, {"errorCode": said.error, "memberId": said.given or said.who.member_id, "memberEpoch": 1}


_BODIES: dict[str, Callable[[Said, str], tuple[Json, Json]]] = {
    "JoinGroup": _join,
    "SyncGroup": _sync,
    "Heartbeat": _heartbeat,
    "LeaveGroup": _leave,
    "OffsetCommit": _commit,
    "TxnOffsetCommit": _commit,
    "DeleteGroups": _delete,
    "ConsumerGroupHeartbeat": _modern_heartbeat,
}
