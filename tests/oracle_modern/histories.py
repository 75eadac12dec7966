"""What is the same in going through the histories of any modern protocol, where Kafka's own coordinator went before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, TypeVar

import msgspec

from transforms.coordinator.modern.machine import ModernMachine
from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.topics import Topic, Topics

Step = dict[str, Any]
ModernRecord = Record[msgspec.Struct]
Machine = TypeVar("Machine", bound=ModernMachine[Any, Any])


class ModernHistory(Generic[Machine]):
    """One history: the group as Kafka's records make it, and what the machine foresees of each step.

    Before each step the machine has the group as Kafka's records made it, so that one step that is not foreseen
    does not hide the next.

    Args:
        machine: a new machine.
        records_of: reads a step's records.
    """

    def __init__(self, machine: Machine, records_of: Callable[[Step], list[ModernRecord]]) -> None:
        self.machine = machine
        self.state: Step = {"type": "absent"}
        self.topics = Topics()
        self._records_of = records_of

    def follow(self, step: Step, machine: Machine) -> None:
        """Go to where Kafka was after a step.

        Args:
            step: the step.
            machine: the machine as it was before the step was foreseen.
        """
        foreseen, self.machine = self.machine, machine
        self.machine.take(self._records_of(step), step["t"])
        self.machine.memory = foreseen.memory
        if step["group"] != "same":
            self.state = step["group"]
        if step["op"]["kind"] == "metadata":
            self._see_topics(step["op"])

    def _see_topics(self, op: Step) -> None:
        before = self.topics.by_name
        topics = [Topic(name, each["id"], each["partitions"]) for name, each in op["topics"].items()]
        is_created = any(topic.topic_id not in self.topics.by_id for topic in topics)
        version = op.get("imageVersion", 0)
        self.topics = Topics(topics, version, version if is_created else self.topics.created_version)
        names = set(before) | set(self.topics.by_name)
        self.machine.topics_changed(name for name in names if before.get(name) != self.topics.by_name.get(name))


History = TypeVar("History", bound=ModernHistory[Any])


def walk(steps: Iterable[Step], new: Callable[[list[Step]], History]) -> Iterator[tuple[History, Step]]:
    """Yield the steps of all histories, each with its history, which the caller lets follow it.

    Args:
        steps: the steps.
        new: begins a history, given its steps.
    """
    for _, group in groupby(steps, itemgetter("history")):
        of_one = list(group)
        history = new(of_one)
        for step in of_one:
            yield history, step


def put_down_and_taken_up(machine: Machine) -> Machine:
    """Return a machine as it is after it was written as bytes and read again, which shows that it is a plain value."""
    copy: Machine = msgspec.msgpack.decode(msgspec.msgpack.encode(machine), type=type(machine))
    assert copy == machine
    return copy


def where(step: Step) -> str:
    """Return which step it is, for a message."""
    return f"history {step['history']}, step {step['step']}"


def read_all(records: Iterable[Step], read: Callable[[int, str, str | None], ModernRecord]) -> list[ModernRecord]:
    """Return records of the oracle as the product reads them."""
    return [
        read(each["type"], _name(each["key"]), None if each["value"] is None else json.dumps(each["value"]))
        for each in records
    ]


def _name(key: dict[str, str]) -> str:
    return key.get("memberId") or key.get("regularExpression") or ""


def lists(numbers: dict[str, Any]) -> dict[str, list[int]]:
    """Return numbers by topic or subtopology in order, and without those that have none."""
    return {name: sorted(each) for name, each in numbers.items() if each}


def comparable(records: Iterable[ModernRecord]) -> list[Any]:
    """Return records with their partitions or tasks in no order."""
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
