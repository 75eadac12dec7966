from __future__ import annotations

from typing import Any

import pytest

from tests.oracle_modern.kept import kept
from transforms.coordinator.assignors.server.assign import ASSIGNORS
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec, MemberSpec

CASES = list(kept("assignors_modern"))


def _spec(case: dict[str, Any]) -> GroupSpec:
    ids = {topic["name"]: topic["id"] for topic in case["topics"]}
    members = [
        MemberSpec(
            member["memberId"],
            [ids[name] for name in member["subscribed"]],
            {ids[name]: partitions for name, partitions in member["current"]},
            member.get("instanceId"),
        )
        for member in case["members"]
    ]
    return GroupSpec(
        members,
        {topic["id"]: topic["partitions"] for topic in case["topics"]},
        case["subscriptionType"] == "HOMOGENEOUS",
        [ids[name] for name in case["homogeneousTopicOrder"]],
    )


def _named(case: dict[str, Any], assigned: Assigned) -> dict[str, dict[str, list[int]]]:
    """Topics by name; who got nothing is left out."""
    names = {topic["id"]: topic["name"] for topic in case["topics"]}
    by_name = {
        member: {names[topic]: sorted(partitions) for topic, partitions in topics.items() if partitions}
        for member, topics in assigned.items()
    }
    return {member: topics for member, topics in by_name.items() if topics}


@pytest.mark.parametrize(("assignor", "count"), [("uniform", 500), ("range", 455), ("simple", 480)])
def test_an_assignor_gives_every_member_what_kafka_gave_it(assignor: str, count: int):
    cases = [case for case in CASES if case["assignor"] == assignor]
    assert len(cases) == count
    for case in cases:
        wanted = {member: topics for member, topics in case["result"].items() if topics}
        given = _named(case, ASSIGNORS[assignor](_spec(case)))
        assert given == wanted, f"chain {case['chain']}, step {case['step']}"


def test_the_same_members_in_another_order_can_be_given_other_partitions():
    """The order in which Kafka's maps are walked through is part of the answer: it is no accident that it is kept."""
    case = next(case for case in CASES if case["assignor"] == "uniform" and len(case["members"]) > 2)
    spec = _spec(case)
    backwards = GroupSpec(spec.members[::-1], spec.partition_counts, spec.is_homogeneous, spec.topic_order)
    assert ASSIGNORS["uniform"](spec) != ASSIGNORS["uniform"](backwards)
