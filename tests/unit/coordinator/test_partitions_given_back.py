"""Kafka 3.7: what a member was to give up, and is to keep after all, within one epoch of its own."""

from __future__ import annotations

from schemas.catalog import BY_NAME
from tests.unit.coordinator.consumer_records import UNREVOKED, Moment, Written, stands, targets
from tests.unit.coordinator.evidence_rows import GROUP, Row, modern_records
from transforms.coordinator.replay import replay_group


def _is(member: str) -> Written:
    return 5, member, {"clientId": f"{member}-client", "subscribedTopicNames": ["t"]}


BEGUN: Moment = (1_000, [_is("a"), (3, "", {"epoch": 1}), *targets(1, a=(0, 1)), stands("a", 1, 0, 1)])
JOINED: Moment = (2_000, [_is("b"), (3, "", {"epoch": 2}), *targets(2, a=(0,), b=(1,)), stands("b", 2)])
IS_TOLD: Moment = (2_500, [stands("a", 1, 0, state=UNREVOKED, revoking=(1,))])
LEFT: Moment = (3_000, [(8, "b", None), (7, "b", None), (5, "b", None), (3, "", {"epoch": 3}), *targets(3, a=(0, 1))])
KEEPS: Moment = (3_500, [stands("a", 1, 0, 1)])
GOES_ON: Moment = (4_000, [stands("a", 3, 0, 1)])


def _assignments(*moments: Moment) -> list[Row]:
    return replay_group("c", GROUP, [], [], [], 50, modern_records=modern_records(*moments))["assignments"]


def test_a_partition_that_a_member_keeps_after_all_is_told_of_once_in_an_epoch():
    rows = _assignments(BEGUN, JOINED, IS_TOLD, LEFT, KEEPS, GOES_ON)
    keys = [tuple(row[name] for name in BY_NAME["assignments"].key) for row in rows]
    assert len(set(keys)) == len(keys)
    of_one = [row for row in rows if row["partition"] == 1]
    assert [(row["generation"], row["hold"], row["valid_from"], row["valid_to"]) for row in of_one] == [
        (1, "owned", 1_000, 2_500),
        (1, "revoking", 2_500, 4_000),
        (3, "owned", 4_000, None),
    ]
