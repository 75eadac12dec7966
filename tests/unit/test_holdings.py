"""Assignments as holdings: all partitions that a member had in a generation at one time are one piece."""

from __future__ import annotations

from typing import Any, get_type_hints

from schemas.rows import AssignmentRow
from schemas.tables.gold import ASSIGNMENTS
from transforms.holdings import IN_COMMON, PARTITIONS, Holding, holdings_of

OF_GROUP: dict[str, Any] = {"cluster": "c", "group_id": "g", "life": 1}


def row(generation: int, member_id: str, topic: str, partition: int, **more: Any) -> AssignmentRow:
    place = {"generation": generation, "member_id": member_id, "topic": topic, "partition": partition}
    return AssignmentRow(**OF_GROUP, **place, **more)


def test_what_members_had_at_one_time_is_gathered() -> None:
    rows = [
        row(1, "a", "orders", 0, valid_from=5.0),
        row(1, "b", "orders", 1, valid_from=5.0),
        row(1, "a", "re-turns", 2, valid_from=5.0),
        row(1, "a", "orders", 3, valid_from=6.0),
        row(2, "a", "orders", 0, valid_from=7.0, settled_at=9.0),
        row(2, "a", "orders", 1, valid_from=7.0, hold="pending"),
    ]
    assert holdings_of(rows) == [
        Holding(life=1, generation=1, member_id="a", valid_from=5.0, partitions=["orders-0", "re-turns-2"]),
        Holding(life=1, generation=1, member_id="b", valid_from=5.0, partitions=["orders-1"]),
        Holding(life=1, generation=1, member_id="a", valid_from=6.0, partitions=["orders-3"]),
        Holding(life=1, generation=2, member_id="a", valid_from=7.0, partitions=["orders-0"]),
        Holding(life=1, generation=2, member_id="a", valid_from=7.0, hold="pending", partitions=["orders-1"]),
    ]


def test_a_holding_says_all_that_its_rows_have_in_common() -> None:
    of_each = {"cluster", "group_id", "topic", "partition", "is_settled", "settled_at"}
    assert set(IN_COMMON) == set(ASSIGNMENTS.columns) - of_each
    kinds = get_type_hints(AssignmentRow)
    assert all(kinds[name] == kind for name, kind in get_type_hints(Holding).items() if name != PARTITIONS)
