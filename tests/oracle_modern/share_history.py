"""Drives the product's share group through a history in which Kafka's own coordinator went before it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tests.oracle_modern.histories import ModernHistory, Step, lists, read_all
from transforms.coordinator.modern.machine import Outcome
from transforms.coordinator.modern.partitions import of_numbers
from transforms.coordinator.modern.records import TopicPartitions, partitions_of
from transforms.coordinator.modern.requests import Answer, Caller
from transforms.coordinator.modern.world import World
from transforms.coordinator.share.group import Group
from transforms.coordinator.share.machine import Machine
from transforms.coordinator.share.records import ShareRecord, read
from transforms.coordinator.share.requests import HeartbeatRequest

CALLER = Caller(1, "client", "localhost/127.0.0.1")
_SESSION = "session-timeout-g-"


def records_of(step: Step) -> list[ShareRecord]:
    """Return a step's records as the product reads them."""
    return read_all(step["records"], read)


def drawn(group: Group) -> Step:
    """Return a group as the oracle prints it."""
    members = {
        member.member_id: {
            "epoch": member.epoch,
            "previousEpoch": member.standing.previous_epoch,
            "state": "STABLE",
            "assigned": lists(member.standing.assigned),
            "target": lists(group.targets.get(member.member_id, {})),
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
        name: {**member, "assigned": lists(member["assigned"]), "target": lists(member["target"])}
        for name, member in group["members"].items()
    }
    return {**group, "members": members}


class History(ModernHistory[Machine]):
    """One history of a share group."""

    def __init__(self, _: Iterable[Step] = ()) -> None:
        super().__init__(Machine(), records_of)

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
