"""Drives the product's streams group through a history in which Kafka's own coordinator went before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tests.oracle_modern.histories import ModernHistory, Step, lists, read_all
from transforms.coordinator.modern.machine import Outcome
from transforms.coordinator.modern.requests import Answer, Caller
from transforms.coordinator.modern.world import ModernSettings, World
from transforms.coordinator.streams.group import Group
from transforms.coordinator.streams.machine import Machine
from transforms.coordinator.streams.records import StreamsRecord, TaskIds, read
from transforms.coordinator.streams.requests import HeartbeatAnswer, HeartbeatRequest
from transforms.coordinator.streams.tasks import tasks_of
from transforms.coordinator.streams.topology import Status

CALLER = Caller(0, "client", "localhost/127.0.0.1")
_SESSION, _REVOCATION = "session-timeout-g-", "rebalance-timeout-g-"


def records_of(step: Step) -> list[StreamsRecord]:
    """Return a step's records as the product reads them."""
    return read_all(step["records"], read)


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
        "standby": lists(standing.assigned.standby),
        "activePendingRevocation": _epochs(standing.revoking.active),
        "standbyPendingRevocation": lists(standing.revoking.standby),
        "targetActive": lists({} if target is None else target.active),
        "targetStandby": lists({} if target is None else target.standby),
    }


def printed(group: Step) -> Step:
    """Return a group of the oracle in the same way."""
    epochs = ("active", "activePendingRevocation")
    numbers = ("standby", "standbyPendingRevocation", "targetActive", "targetStandby")
    members = {
        name: member | {key: _epochs(member[key]) for key in epochs} | {key: lists(member[key]) for key in numbers}
        for name, member in group["members"].items()
    }
    return {**group, "members": members}


def _epochs(tasks: Mapping[str, Mapping[Any, int]]) -> dict[str, dict[int, int]]:
    return {part: {int(number): epoch for number, epoch in of.items()} for part, of in tasks.items() if of}


class History(ModernHistory[Machine]):
    """One history of a streams group.

    Args:
        steps: the steps of the history.
    """

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        super().__init__(Machine(), records_of)
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
        super().follow(step, machine)
        if step["op"]["kind"] == "groupConfig":
            # A group that has settings of its own has Kafka's defaults, and not the broker's, in all the others.
            count = int(step["op"]["num.standby.replicas"])
            self.settings = msgspec.structs.replace(self.settings, standby_count=count, initial_delay_ms=3_000)


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
