"""Drives the product's share group through a history in which Kafka's own coordinator went before it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from transforms.coordinator.modern.machine import Outcome
from transforms.coordinator.modern.partitions import of_numbers
from transforms.coordinator.modern.records import TopicPartitions, partitions_of
from transforms.coordinator.modern.requests import Answer, Caller
from transforms.coordinator.modern.topics import Topic, Topics
from transforms.coordinator.modern.world import World
from transforms.coordinator.share.group import Group
from transforms.coordinator.share.machine import Machine
from transforms.coordinator.share.records import ShareRecord, read
from transforms.coordinator.share.requests import HeartbeatRequest

Step = dict[str, Any]
CALLER = Caller(1, "client", "localhost/127.0.0.1")
_SESSION = "session-timeout-g-"


def records_of(step: Step) -> list[ShareRecord]:
    """Return a step's records as the product reads them."""
    return [
        read(
            each["type"], each["key"].get("memberId", ""), None if each["value"] is None else json.dumps(each["value"])
        )
        for each in step["records"]
    ]


def drawn(group: Group) -> Step:
    """Return a group as the oracle prints it."""
    members = {
        member.member_id: {
            "epoch": member.epoch,
            "previousEpoch": member.standing.previous_epoch,
            "state": "STABLE",
            "assigned": _lists(member.standing.assigned),
            "target": _lists(group.targets.get(member.member_id, {})),
        }
        for member in group.members.values()
    }
    return {
        "type": "share",
        "state": group.state.value,
        "epoch": group.epoch,
        "assignmentEpoch": group.assignment_epoch,
        "metadataHash": group.metadata_hash,
        "members": members,
    }


def printed(group: Step) -> Step:
    """Return a group of the oracle in the same way: topics without partitions left out."""
    members = {
        name: {**member, "assigned": _lists(member["assigned"]), "target": _lists(member["target"])}
        for name, member in group["members"].items()
    }
    return {**group, "members": members}


def _lists(partitions: dict[str, Iterable[int]]) -> dict[str, list[int]]:
    return {topic: sorted(numbers) for topic, numbers in partitions.items() if numbers}


class History:
    """One history: before each step the machine has the group as Kafka's records made it."""

    def __init__(self) -> None:
        self.machine = Machine()
        self.state: Step = {"type": "absent"}
        self.topics = Topics()

    def foresee(self, step: Step) -> Outcome[Answer] | None:
        """Return what the machine makes of a step before it sees what came of it; None where nothing can."""
        op, world = step["op"], World(self.topics, now=step["t"])
        if op["kind"] == "request":
            return self.machine.handle(msgspec.convert(op["request"], HeartbeatRequest), world, CALLER)
        if op["kind"] == "timer":
            return self.machine.run_out(op["key"].removeprefix(_SESSION), world)
        if op["kind"] == "persisterInitialized":
            return self.machine.share_state_made(of_numbers(op["partitions"]), world)
        if op["kind"] == "persisterError":
            return self.machine.share_state_failed(of_numbers(op["partitions"]), world)
        return None

    def observe(self, step: Step) -> Answer | None:
        """Return what the machine makes of a request by the records that it wrote, knowing of no topics."""
        if step["op"]["kind"] != "request":
            return None
        request = msgspec.convert(step["op"]["request"], HeartbeatRequest)
        return self.machine.observe(request, records_of(step), World(now=step["t"]), CALLER)

    def follow(self, step: Step, machine: Machine) -> None:
        """Go to where Kafka was after a step, from where the machine was before it."""
        foreseen, self.machine = self.machine, machine
        self.machine.take(records_of(step), step["t"])
        self.machine.memory = foreseen.memory
        if step["group"] != "same":
            self.state = step["group"]
        if step["op"]["kind"] == "metadata":
            before = self.topics.by_name
            topics = [Topic(name, each["id"], each["partitions"]) for name, each in step["op"]["topics"].items()]
            self.topics = Topics(topics)
            names = set(before) | set(self.topics.by_name)
            self.machine.topics_changed(name for name in names if before.get(name) != self.topics.by_name.get(name))


def same_answer(answer: Answer, step: Step) -> bool:
    """Whether a request was answered as foreseen."""
    if step["error"] != answer.error.name:
        return False
    response = step.get("response")
    if answer.error or response is None:
        return True
    told = response["assignment"]
    parts = None if told is None else partitions_of(msgspec.convert(told["topicPartitions"], list[TopicPartitions]))
    return (response["memberId"], response["memberEpoch"], parts) == (
        answer.member_id,
        answer.epoch,
        None if answer.assignment is None else of_numbers(answer.assignment),
    )


def comparable(records: Iterable[ShareRecord]) -> list[Any]:
    """Return records with their partitions in no order."""
    return [(each.type_id, each.name, _sorted(msgspec.to_builtins(each.value))) for each in records]


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return sorted((_sorted(each) for each in value), key=str)
    return value
