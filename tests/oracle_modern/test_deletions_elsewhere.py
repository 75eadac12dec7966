"""Deletions of groups and of offsets, cell by cell: whoever's the group id is answers, and nobody else does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracle_modern import test_share_cells as share_cells
from tests.oracle_modern import test_streams_cells as streams_cells
from tests.oracle_modern.cells import Cell, cells
from tests.oracle_modern.consumer_situations import TOPICS, machine
from transforms.coordinator.consumer.machine import Machine as ConsumerMachine
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.requests import Answer
from transforms.coordinator.modern.world import World
from transforms.coordinator.share.machine import Machine as ShareMachine
from transforms.coordinator.streams.machine import Machine as StreamsMachine

WORLD = World(TOPICS)
NEW = {GroupType.CONSUMER: ConsumerMachine, GroupType.SHARE: ShareMachine, GroupType.STREAMS: StreamsMachine}
ALL = [
    cell
    for table in ("state_x_request_modern", "state_x_request_share_streams")
    for cell in cells(table)
    if cell.request.startswith(("DeleteGroups", "OffsetDelete"))
]


def _type(cell: Cell) -> GroupType:
    types = {"CONSUMER": GroupType.CONSUMER, "SHARE": GroupType.SHARE, "STREAMS": GroupType.STREAMS}
    if cell.situation == "ABSENT":
        return GroupType.ABSENT
    is_classic = cell.situation.startswith("CLASSIC")
    other = GroupType.CLASSIC if is_classic else types.get(cell.situation)
    return other or types.get(cell.section) or GroupType.CONSUMER


def _owner(cell: Cell) -> Any:
    """The machine whose the id is; in the tables of the others a group of another type has members that read foo."""
    group_type = _type(cell)
    if group_type is GroupType.SHARE:
        name = cell.situation if cell.situation in share_cells.SHARE_SITUATIONS else "STABLE2"
        return ShareMachine(share_cells._group(name))
    if group_type is GroupType.STREAMS:
        name = cell.situation if cell.situation in streams_cells.STREAMS_SITUATIONS else "STABLE2"
        return StreamsMachine(streams_cells._group(name))
    return machine("STABLE" if cell.situation == "CONSUMER" else cell.situation)


def _answer(cell: Cell, group: Any, there: GroupType) -> Answer | None:
    if cell.request.startswith("DeleteGroups"):
        answer: Answer | None = group.delete(WORLD, there).answer
        return answer
    deleted: Answer | None = group.delete_offsets("foo", there)
    return deleted


def test_the_cells_are_those_of_all_three_tables():
    assert len(ALL) == 2 * (14 + 10 + 11)
    assert {_type(cell) for cell in ALL} == set(GroupType)


@pytest.mark.parametrize("cell", ALL, ids=lambda cell: f"{cell.section} {cell}")
def test_whoever_has_the_group_answers_and_nobody_else_does(cell: Cell):
    there = _type(cell)
    for group_type, new in NEW.items():
        if group_type is not there:
            answer = _answer(cell, new(), there)
            assert (answer is None) == (there is not GroupType.ABSENT)
            assert answer is None or answer.error.name == cell.error.removeprefix("NONE/")
    if there in NEW:
        answer = _answer(cell, _owner(cell), GroupType.ABSENT)
        assert answer is not None
        assert answer.error.name == cell.error.removeprefix("NONE/")
