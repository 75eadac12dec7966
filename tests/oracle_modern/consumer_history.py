"""Drives the product's consumer group through a history in which Kafka's own coordinator went before it.

The histories begin a group, now and then, as a classic one; what the classic coordinator answers is not asked here,
but what it knew of the group when a consumer member joined is needed: `ClassicTracker` follows that.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.oracle_modern.histories import ModernHistory, Step, lists, read_all
from transforms.coordinator.consumer.conversion import ClassicAfter, ClassicBefore, ClassicMemberBefore
from transforms.coordinator.consumer.group import Group
from transforms.coordinator.consumer.machine import Elsewhere, Machine
from transforms.coordinator.consumer.records import ClassicMember, ClassicProtocol, ConsumerRecord, read
from transforms.coordinator.consumer.requests import HeartbeatRequest
from transforms.coordinator.consumer.turn import TimerKind
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.java_hashing import map_order
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.machine import Outcome
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import CLASSIC_GROUP, Record, partitions_of
from transforms.coordinator.modern.requests import (
    Answer,
    Caller,
    ClassicHeartbeatRequest,
    CommitRequest,
    JoinRequest,
    LeaveRequest,
    SyncRequest,
)
from transforms.coordinator.modern.topics import Topics
from transforms.coordinator.modern.world import World
from transforms.wire.consumer_protocol import read_assignment

_REQUESTS: dict[str, type[msgspec.Struct]] = {
    "CONSUMER_GROUP_HEARTBEAT": HeartbeatRequest,
    "JOIN_GROUP": JoinRequest,
    "SYNC_GROUP": SyncRequest,
    "HEARTBEAT": ClassicHeartbeatRequest,
    "LEAVE_GROUP": LeaveRequest,
    "OFFSET_COMMIT": CommitRequest,
}

_MODERN_CALLER = ("client", "localhost/127.0.0.1")
"""The oracle's driver sent all heartbeats of consumer members by this client."""

_CLASSIC_HOST = "localhost/127.0.0.1"


def records_of(step: Step) -> list[ConsumerRecord]:
    """Return a step's records as the product reads them; offset commits are left out."""
    return read_all((each for each in step["records"] if each["type"] >= 3), read)


def all_records_of(step: Step) -> list[ConsumerRecord]:
    """Return the same with those of the classic group before or after, whose values are not read."""
    classic = [Record(CLASSIC_GROUP) for each in step["records"] if each["type"] == CLASSIC_GROUP]
    return [*classic, *records_of(step)]


def drawn(group: Group) -> Step:
    """Return a group as the oracle prints it."""
    return {
        "type": "consumer",
        "state": group.state.value,
        "epoch": group.epoch,
        "assignmentEpoch": group.assignment_epoch,
        "metadataHash": group.metadata_hash,
        "subscriptionType": "HOMOGENEOUS" if group.is_homogeneous else "HETEROGENEOUS",
        "members": {
            member.member_id: {
                "epoch": member.epoch,
                "previousEpoch": member.standing.previous_epoch,
                "state": member.standing.state.name,
                "assigned": lists(member.standing.assigned),
                "pendingRevocation": lists(member.standing.revoking),
                "target": lists(group.targets.get(member.member_id, {})),
            }
            for member in group.members.values()
        },
        "regexes": {name: sorted(regex.topics) for name, regex in group.regexes.items()},
    }


def printed(group: Step) -> Step:
    """Return a group of the oracle in the same way: topics without partitions and what is not compared left out."""
    parts = ("assigned", "pendingRevocation", "target")
    plain = ("epoch", "previousEpoch", "state")
    members = {
        name: {key: member[key] for key in plain} | {key: lists(member[key]) for key in parts}
        for name, member in group["members"].items()
    }
    regexes = {name: sorted(regex) for name, regex in group["regexes"].items()}
    return {**group, "members": members, "regexes": regexes}


@dataclass
class ClassicTracker:
    """What a classic coordinator knows of the members of its group."""

    members: dict[str, ClassicMemberBefore] = field(default_factory=dict)
    largest: int = 0

    def follow(self, step: Step, before: Step, after: Step) -> None:
        """Follow a step that ends in a classic group."""
        is_thrown_back = after["state"] == "PreparingRebalance" and before.get("state") == "CompletingRebalance"
        if is_thrown_back:
            self._assign({})
        for record in step["records"]:
            if record["type"] == CLASSIC_GROUP and record["value"] is not None:
                self._take(record["value"])
        op = step["op"]
        if op["kind"] == "request" and op["api"] == "JOIN_GROUP":
            self._join(op, set(after["members"]) - set(self.members), after)
        self.members = {each: self.members[each] for each in self.members if each in after["members"]}
        self.largest = max(self.largest, len(self.members))

    def _take(self, record: Step) -> None:
        for each in record["members"]:
            self.members.setdefault(each["memberId"], _of_record(each, record["protocol"]))
        self._assign({each["memberId"]: base64.b64decode(each["assignment"]) for each in record["members"]})

    def _join(self, op: Step, new: set[str], after: Step) -> None:
        request = msgspec.convert(op["request"], JoinRequest)
        member_id = request.member_id if request.member_id in after["members"] else next(iter(new), "")
        if not member_id:
            return
        protocols = tuple(ClassicProtocol(each.name, each.metadata) for each in request.protocols)
        known = self.members.get(member_id)
        self.members[member_id] = ClassicMemberBefore(
            member_id,
            request.group_instance_id,
            op["clientId"],
            _CLASSIC_HOST,
            request.rebalance_timeout_ms,
            ClassicMember(request.session_timeout_ms, protocols),
            b"" if known is None else known.assignment,
        )

    def _assign(self, assignments: dict[str, bytes]) -> None:
        for name, member in self.members.items():
            self.members[name] = msgspec.structs.replace(member, assignment=assignments.get(name, b""))

    def group(self, state: Step) -> ClassicBefore:
        """Return the group as it is to be converted."""
        ordered = map_order(self.members, self.largest, "java")
        protocol = state["protocol"]
        members = [self.members[each] for each in ordered]
        return ClassicBefore(state["generation"], "consumer" if members else "", protocol, members)


def _of_record(fields: Step, protocol: str) -> ClassicMemberBefore:
    offered = (ClassicProtocol(protocol, base64.b64decode(fields["subscription"])),)
    return ClassicMemberBefore(
        fields["memberId"],
        fields["groupInstanceId"],
        fields["clientId"],
        fields["clientHost"],
        fields["rebalanceTimeout"],
        ClassicMember(fields["sessionTimeout"], offered),
    )


class History(ModernHistory[Machine]):
    """One history of a consumer group."""

    def __init__(self, _: Iterable[Step] = ()) -> None:
        super().__init__(Machine(), records_of)
        self.classic = ClassicTracker()

    def foresee(self, step: Step) -> Outcome[Answer] | None:
        """Return what the machine makes of a step before it sees what came of it; None where it is not asked."""
        op, world = step["op"], World(self.topics, now=step["t"])
        if op["kind"] == "request":
            return self._ask(world, step)
        if self.machine.present is None:
            return None
        if op["kind"] == "regexTask":
            return self.machine.resolve(world)
        if op["kind"] == "timer" and (timer := _timer(op["key"])) is not None:
            return self.machine.run_out(*timer, world)
        return None

    def observe(self, step: Step) -> Answer | None:
        """Return what the machine makes of a request by the records that it wrote, knowing of no topics."""
        if step["op"]["kind"] != "request":
            return None
        asked = self._asked(step)
        return asked and self.machine.observe(asked[0], records_of(step), World(now=step["t"]), *asked[1:])

    def _ask(self, world: World, step: Step) -> Outcome[Answer] | None:
        asked = self._asked(step)
        return asked and self.machine.handle(asked[0], world, *asked[1:])

    def _asked(self, step: Step) -> tuple[Any, Caller, Elsewhere, str] | None:
        """Return a request, who sent it, what it met, and the id that was made up for it."""
        op = step["op"]
        request = msgspec.convert(op["request"], _REQUESTS[op["api"]])
        is_modern = op["api"] == "CONSUMER_GROUP_HEARTBEAT"
        if self.state["type"] == "classic" and not is_modern:
            return None
        client, host = _MODERN_CALLER if is_modern else (op["clientId"], _CLASSIC_HOST)
        elsewhere = Elsewhere()
        if self.state["type"] == "classic":
            is_empty = not self.classic.members and self.state["state"] == "Empty"
            elsewhere = Elsewhere(GroupType.CLASSIC, is_empty, self.classic.group(self.state))
        given_id = (step.get("response") or {}).get("memberId", "")
        return request, Caller(op["version"], client, host), elsewhere, given_id

    def follow(self, step: Step, machine: Machine) -> None:
        """Go to where Kafka was after a step."""
        before = self.state
        super().follow(step, machine)
        if self.state["type"] == "absent":
            self.machine.present = None
        if self.state["type"] == "classic":
            self.classic.follow(step, before, self.state)
        else:
            self.classic = ClassicTracker()


def _timer(key: str) -> tuple[TimerKind, str] | None:
    for kind in TimerKind:
        prefix = f"{_KEYS[kind]}-g-"
        if key.startswith(prefix):
            return kind, key.removeprefix(prefix)
    return None


_KEYS = {
    TimerKind.SESSION: "session-timeout",
    TimerKind.REBALANCE: "rebalance-timeout",
    TimerKind.JOIN: "join",
    TimerKind.SYNC: "sync",
}


# --- comparing -------------------------------------------------------------------------------------------------


def same_answer(answer: Answer, step: Step) -> bool:
    """Whether a request was answered as foreseen."""
    errors = step["error"].split("/")
    if answer.leaver_errors:
        return errors[1].split(",") == [error.name for error in answer.leaver_errors]
    observed = "UNKNOWN_SERVER_ERROR" if errors[0].startswith("EX ") else errors[0]
    if observed != answer.error.name:
        return False
    response, api = step.get("response"), step["op"]["api"]
    if answer.error is not Error.NONE or response is None:
        return True
    if api == "CONSUMER_GROUP_HEARTBEAT":
        told = response["assignment"]
        observed_parts = (
            None if told is None else partitions_of(msgspec.convert(told["topicPartitions"], list[_Partitions]))
        )
        return (response["memberId"], response["memberEpoch"], observed_parts) == (
            answer.member_id,
            answer.epoch,
            answer.assignment,
        )
    if api == "JOIN_GROUP":
        return (response["memberId"], response["generationId"], response["protocolName"]) == (
            answer.member_id,
            answer.epoch,
            answer.protocol,
        )
    return True


def told_by_name(step: Step) -> dict[str, list[int]] | None:
    """Return what a SyncGroup was told; None of any other request, and of one that was refused."""
    response = step.get("response")
    if step["op"].get("api") != "SYNC_GROUP" or step["error"] != "NONE" or not response:
        return None
    entries = read_assignment(base64.b64decode(response["assignment"])).assigned or []
    return lists({entry["topic"]: entry["partitions"] for entry in entries})


def named(partitions: Partitions, topics: Topics) -> dict[str, list[int]]:
    """Return partitions by the names of their topics, as far as there are such topics still."""
    return lists({topics.by_id[topic].name: numbers for topic, numbers in partitions.items() if topic in topics.by_id})


class _Partitions(msgspec.Struct, rename="camel"):
    topic_id: str
    partitions: list[int]


def foreseen_records(outcome: Outcome[Answer], topics: Topics) -> list[Any]:
    """Return the records of an outcome as values that compare."""
    return [_plain(record, topics) for record in outcome.records]


def observed_records(step: Step, topics: Topics) -> list[Any]:
    """Return the records that a step wrote in the same way."""
    modern = iter(records_of(step))
    return [
        _classic(each) if each["type"] == CLASSIC_GROUP else _plain(next(modern), topics)
        for each in step["records"]
        if each["type"] >= CLASSIC_GROUP
    ]


def _classic(each: Step) -> Any:
    value = each["value"]
    if value is None:
        return CLASSIC_GROUP, "", None
    assigned = {}
    for member in value["members"]:
        entries = read_assignment(base64.b64decode(member["assignment"])).assigned or []
        assigned[member["memberId"]] = lists({entry["topic"]: entry["partitions"] for entry in entries})
    return CLASSIC_GROUP, "", (value["generation"], value["protocol"], assigned)


def _plain(record: ConsumerRecord, topics: Topics) -> Any:
    """A record with its partitions as sets, and with the topics' names where Kafka has them there."""
    value = record.value
    if value is None:
        return record.type_id, record.name, None
    if isinstance(value, ClassicAfter):
        assigned = {member: named(parts, topics) for member, parts in value.assigned.items()}
        return record.type_id, record.name, (value.generation, value.protocol, assigned)
    fields = msgspec.to_builtins(value)
    for key, entry in fields.items():
        if isinstance(entry, list) and all(isinstance(each, dict) and "topicId" in each for each in entry):
            fields[key] = {
                each["topicId"]: sorted(each["partitions"])
                for each in sorted(entry, key=lambda each: each["topicId"])
                if each["partitions"]
            }
    return record.type_id, record.name, fields
