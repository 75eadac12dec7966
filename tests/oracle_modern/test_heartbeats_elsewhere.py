"""Heartbeats of one type of group at ids that are another's: each goes to the coordinator of its own type."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from tests.oracle_modern.cells import Cell, cells, token
from tests.oracle_modern.consumer_situations import CLIENT, HOST, REBALANCE_MS, TOPICS, classic_group, decoded, machine
from tests.oracle_modern.consumer_situations import token as printed
from transforms.coordinator.consumer import machine as consumer
from transforms.coordinator.consumer.requests import HeartbeatRequest as ConsumerHeartbeat
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.requests import Caller
from transforms.coordinator.modern.world import ModernSettings, World
from transforms.coordinator.share.machine import Machine as ShareMachine
from transforms.coordinator.share.requests import HeartbeatRequest as ShareHeartbeat
from transforms.coordinator.streams.machine import Elsewhere as StreamsElsewhere
from transforms.coordinator.streams.machine import Machine as StreamsMachine
from transforms.coordinator.streams.records import Subtopology, Topology
from transforms.coordinator.streams.requests import HeartbeatRequest as StreamsHeartbeat

CALLER = Caller(1, CLIENT, HOST)
WORLD = World(TOPICS, ModernSettings(initial_delay_ms=3_000), 1_000.0)
TOPOLOGY = Topology(0, (Subtopology("0", ("foo",)),))

OF_CONSUMERS = list(cells("state_x_request_modern"))
OF_OTHERS = list(cells("state_x_request_share_streams"))

TYPES = {
    "ABSENT": GroupType.ABSENT,
    "CLASSIC": GroupType.CLASSIC,
    "CLASSIC_STABLE": GroupType.CLASSIC,
    "CLASSIC_EMPTY": GroupType.CLASSIC,
    "SHARE": GroupType.SHARE,
    "STREAMS": GroupType.STREAMS,
    "CONSUMER": GroupType.CONSUMER,
}


def _type(cell: Cell) -> GroupType:
    """What the group id is: what a situation of no name above is, the section of the table tells."""
    sections = {"SHARE": GroupType.SHARE, "STREAMS": GroupType.STREAMS}
    return TYPES.get(cell.situation) or sections.get(cell.section, GroupType.CONSUMER)


def _asked(table: list[Cell], request: str) -> list[Cell]:
    found = [cell for cell in table if cell.request == request]
    assert found
    return found


_NUMBER = re.compile(r"\d+(=X)?")


def _numbers(records: list[str] | tuple[str, ...]) -> list[str]:
    """Return records by the numbers of their types alone."""
    return [found[0] for each in records if (found := _NUMBER.match(each))]


@pytest.mark.parametrize("cell", _asked(OF_CONSUMERS, "ShareGroupHeartbeat epoch 0 new member"), ids=str)
def test_a_share_group_is_made_where_there_is_none_and_joined_where_there_is_one(cell: Cell):
    group, joins = ShareMachine(), ShareHeartbeat("n1", 0, None, ("foo",))
    is_own = _type(cell) is GroupType.SHARE
    if is_own:
        group.handle(ShareHeartbeat("m1", 0, None, ("foo",)), WORLD, CALLER)
    outcome = group.handle(joins, WORLD, CALLER, GroupType.ABSENT if is_own else _type(cell))
    assert outcome.answer is not None
    assert outcome.answer.error.name == cell.error
    if not outcome.answer.error:
        assert cell.told.startswith(f"epoch={outcome.answer.epoch},")
    assert _numbers([token(record) for record in outcome.records]) == _numbers(cell.records)


@pytest.mark.parametrize("cell", _asked(OF_CONSUMERS, "StreamsGroupHeartbeat epoch 0 new member"), ids=str)
def test_a_streams_group_takes_the_place_of_an_empty_classic_one_and_of_no_other(cell: Cell):
    def joins(member_id: str) -> StreamsHeartbeat:
        said = StreamsHeartbeat(member_id, 0, rebalance_timeout_ms=30_000, topology=TOPOLOGY, client_tags=())
        return replace(said, active_tasks=[], standby_tasks=[], warmup_tasks=[], process_id=f"p-{member_id}")

    group = StreamsMachine()
    is_own = _type(cell) is GroupType.STREAMS
    if is_own:
        group.handle(joins("m1"), WORLD, CALLER)
    is_empty = cell.situation == "CLASSIC_EMPTY"
    elsewhere = StreamsElsewhere() if is_own else StreamsElsewhere(_type(cell), is_empty)
    outcome = group.handle(joins("n1"), WORLD, CALLER, elsewhere)
    assert outcome.answer is not None
    assert outcome.answer.error.name == cell.error
    if not outcome.answer.error:
        assert cell.told.startswith(f"epoch={outcome.answer.epoch},")
    assert _numbers([token(record) for record in outcome.records]) == _numbers(cell.records)


@pytest.mark.parametrize("cell", _asked(OF_OTHERS, "CGHeartbeat epoch 0"), ids=lambda cell: f"{cell.section} {cell}")
def test_a_consumer_group_takes_the_place_of_a_classic_one_and_of_no_share_or_streams_group(cell: Cell):
    group_type = _type(cell)
    group = machine("STABLE" if group_type is GroupType.CONSUMER else "ABSENT")
    elsewhere = consumer.Elsewhere(group_type, group_type is GroupType.CLASSIC)
    if cell.situation == "CLASSIC":
        elsewhere = classic_group({"c1": (0, 1, 2, 3, 4, 5)})
    said = {"rebalanceTimeoutMs": REBALANCE_MS, "subscribedTopicNames": ["foo"], "topicPartitions": []}
    asked = decoded(ConsumerHeartbeat, memberId="x", memberEpoch=0, **said)
    is_own = group_type is GroupType.CONSUMER
    outcome = group.handle(asked, WORLD, CALLER, consumer.Elsewhere() if is_own else elsewhere)
    assert outcome.answer is not None
    assert outcome.answer.error.name == cell.error
    if not outcome.answer.error:
        assert cell.told.startswith(f"epoch={outcome.answer.epoch},")
    assert _numbers([printed(record) for record in outcome.records]) == _numbers(cell.records)
