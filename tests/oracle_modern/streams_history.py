"""Drives the product's streams group through a history in which Kafka's own coordinator went before it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from transforms.coordinator.modern.machine import Outcome
from transforms.coordinator.modern.requests import Answer, Caller
from transforms.coordinator.modern.topics import Topic, Topics
from transforms.coordinator.modern.world import ModernSettings, World
from transforms.coordinator.streams.group import Group
from transforms.coordinator.streams.machine import Machine
from transforms.coordinator.streams.records import StreamsRecord, TaskIds, read
from transforms.coordinator.streams.requests import HeartbeatAnswer, HeartbeatRequest
from transforms.coordinator.streams.tasks import tasks_of
from transforms.coordinator.streams.topology import Status

Step = dict[str, Any]
CALLER = Caller(0, "client", "localhost/127.0.0.1")
_SESSION, _REVOCATION = "session-timeout-g-", "rebalance-timeout-g-"


def records_of(step: Step) -> list[StreamsRecord]:
    """Return a step's records as the product reads them."""
    return [
        read(
            each["type"], each["key"].get("memberId", ""), None if each["value"] is None else json.dumps(each["value"])
        )
        for each in step["records"]
    ]


def drawn(group: Group) -> Step:
    """Return a group as the oracle prints it."""
    return {
        "type": "streams",
        "state": group.state.value,
        "epoch": group.epoch,
        "assignmentEpoch": group.assignment_epoch,
        "metadataHash": group.metadata_hash,
        "validatedTopologyEpoch": group.validated_epoch,
        "members": {name: _drawn_member(group, name) for name in group.members},
    }


def _drawn_member(group: Group, name: str) -> Step:
    standing, target = group.members[name].standing, group.targets.get(name)
    return {
        "epoch": standing.epoch,
        "previousEpoch": standing.previous_epoch,
        "state": standing.state.name,
        "active": _epochs(standing.assigned.active),
        "standby": _lists(standing.assigned.standby),
        "activePendingRevocation": _epochs(standing.revoking.active),
        "standbyPendingRevocation": _lists(standing.revoking.standby),
        "targetActive": _lists({} if target is None else target.active),
        "targetStandby": _lists({} if target is None else target.standby),
    }


def printed(group: Step) -> Step:
    """Return a group of the oracle in the same way."""
    epochs = ("active", "activePendingRevocation")
    lists = ("standby", "standbyPendingRevocation", "targetActive", "targetStandby")
    members = {
        name: member | {key: _epochs(member[key]) for key in epochs} | {key: _lists(member[key]) for key in lists}
        for name, member in group["members"].items()
    }
    return {**group, "members": members}


def _lists(tasks: Mapping[str, Iterable[int]]) -> dict[str, list[int]]:
    return {part: sorted(numbers) for part, numbers in tasks.items() if numbers}


def _epochs(tasks: Mapping[str, Mapping[Any, int]]) -> dict[str, dict[int, int]]:
    return {part: {int(number): epoch for number, epoch in of.items()} for part, of in tasks.items() if of}


class History:
    """One history: before each step the machine has the group as Kafka's records made it.

    Args:
        steps: the steps of the history.
    """

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self.machine = Machine()
        self.state: Step = {"type": "absent"}
        self.topics = Topics()
        # The oracle's driver set no delay in some histories; that it had one shows in the first answer.
        first = next((step for step in steps if step["op"]["kind"] == "request"), None)
        codes = [each["statusCode"] for each in first["response"]["status"]] if first else []
        self.settings = ModernSettings(initial_delay_ms=3_000 if Status.ASSIGNMENT_DELAYED in codes else 0)

    def foresee(self, step: Step) -> Outcome[HeartbeatAnswer | Answer] | None:
        """Return what the machine makes of a step before it sees what came of it; None where nothing can."""
        op, world = step["op"], World(self.topics, self.settings, step["t"])
        if op["kind"] == "request":
            return self.machine.handle(msgspec.convert(op["request"], HeartbeatRequest), world, CALLER)
        if op["kind"] != "timer":
            return None
        if op["key"].startswith(_SESSION):
            return self.machine.run_out(op["key"].removeprefix(_SESSION), world)
        if op["key"].startswith(_REVOCATION):
            return self.machine.run_out(op["key"].removeprefix(_REVOCATION), world, is_revocation=True)
        return self.machine.end_delay(world)

    def observe(self, step: Step) -> HeartbeatAnswer | Answer | None:
        """Return what the machine makes of a request by the records that it wrote, knowing of no topics."""
        if step["op"]["kind"] != "request":
            return None
        request = msgspec.convert(step["op"]["request"], HeartbeatRequest)
        return self.machine.observe(request, records_of(step), World(now=step["t"]), CALLER)

    def follow(self, step: Step, machine: Machine) -> None:
        """Go to where Kafka was after a step, from where the machine was before it."""
        foreseen, self.machine = self.machine, machine
        self.machine.take(records_of(step))
        self.machine.memory = foreseen.memory
        op = step["op"]
        if step["group"] != "same":
            self.state = step["group"]
        if op["kind"] == "groupConfig":
            # A group that has settings of its own has Kafka's defaults, and not the broker's, in all the others.
            count = int(op["num.standby.replicas"])
            self.settings = msgspec.structs.replace(self.settings, standby_count=count, initial_delay_ms=3_000)
        if op["kind"] == "metadata":
            before = self.topics.by_name
            topics = [Topic(name, each["id"], each["partitions"]) for name, each in op["topics"].items()]
            self.topics = Topics(topics)
            names = set(before) | set(self.topics.by_name)
            self.machine.topics_changed(name for name in names if before.get(name) != self.topics.by_name.get(name))


def same_answer(answer: HeartbeatAnswer | Answer, step: Step, with_statuses: bool = True) -> bool:
    """Whether a heartbeat was answered as foreseen."""
    assert isinstance(answer, HeartbeatAnswer)
    if step["error"] != answer.error.name:
        return False
    response = step.get("response")
    if answer.error or response is None:
        return True
    listed = [response[name] for name in ("activeTasks", "standbyTasks", "warmupTasks")]
    told = None if None in listed else tasks_of(*(msgspec.convert(each, list[TaskIds]) for each in listed))
    observed = (response["memberId"], response["memberEpoch"], told)
    if observed != (answer.member_id, answer.epoch, answer.tasks):
        return False
    return not with_statuses or _says_the_same(answer, response)


def _says_the_same(answer: HeartbeatAnswer, response: Step) -> bool:
    codes = [each["statusCode"] for each in response["status"] or []]
    return codes == list(answer.statuses) and response["endpointInformationEpoch"] == answer.endpoint_epoch


def comparable(records: Iterable[StreamsRecord]) -> list[Any]:
    """Return records with their tasks in no order."""
    return [(each.type_id, each.name, _sorted(msgspec.to_builtins(each.value))) for each in records]


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        if "assignmentEpochs" in value:
            value = {**value, "partitions": dict(zip(value["partitions"], value["assignmentEpochs"], strict=True))}
            del value["assignmentEpochs"]
        return {key: _sorted(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return sorted((_sorted(each) for each in value), key=str)
    return value
