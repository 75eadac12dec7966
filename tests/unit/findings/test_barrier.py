"""When a storm's advice names group.protocol=consumer: members that kept all they had stood still for nothing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from schemas.rows import GenerationMemberRow, GenerationRow
from transforms.findings.evidence import Evidence, Request
from transforms.findings.storms.barrier import without_barrier
from transforms.holdings import Holding

GROUP: dict[str, Any] = {"cluster": "demo", "group_id": "shop", "life": 1}
HELD = {"a": ["t-0", "t-1"], "b": ["t-2", "t-3"]}
LEFT_OF_SECOND = {"a": ["t-1"], "b": ["t-3"]}
JAVA = "Adding new member x-1 with group instance id null; client reason: not provided"


def generation(number: int, lasted_ms: float = 2000.0) -> GenerationRow:
    begin = number * 10_000.0
    told: dict[str, Any] = {"trigger": "member_joined", "evidence": ["broker_log"], "is_inferred": False}
    times = {"preparing_at": begin, "stable_at": begin + lasted_ms, "missing_before": 0}
    return GenerationRow(**GROUP, generation=number, protocol="sticky", reason=JAVA, **told, **times)


def storm(count: int = 4) -> Evidence:
    """Rebalances of two members that keep what they have."""
    rows, members, held = [], [], []
    for number in range(1, count + 1):
        rows.append(generation(number))
        for name, partitions in HELD.items():
            members.append(GenerationMemberRow(**GROUP, generation=number, member_id=name, client_id=name))
            held.append(Holding(life=1, generation=number, member_id=name, partitions=partitions))
    return Evidence(cluster="demo", group_id="shop", generations=rows, members=members, holdings=held)


def test_pauses_of_members_that_kept_all_are_told_with_setting_saving_and_price() -> None:
    said = without_barrier(storm())
    assert said is not None
    assert "group.protocol=consumer 6 of the 6 times" in said
    assert "(12.0 s of 12.0 s, all members together)" in said
    assert "; the price: brokers of 4.0 or later" in said and "seen here" not in said


def test_the_software_of_the_clients_is_named_where_it_is_known() -> None:
    known = storm()
    known.requests = [
        Request(answered_at=1.0, api="JoinGroup", error="NONE", client_software=name)
        for name in ("apache-kafka-java/3.9.1", "unknown/unknown")
    ]
    said = without_barrier(known)
    assert said is not None and "seen here: apache-kafka-java/3.9.1)" in said


def test_little_is_not_worth_a_word() -> None:
    assert without_barrier(storm(2)) is None, "two pauses are no habit"
    most = storm(4)
    most.generations[1] = generation(2, lasted_ms=9_000.0)
    assert without_barrier(most) is not None
    of_second = [replace(h, partitions=LEFT_OF_SECOND[h.member_id]) for h in most.holdings if h.generation == 2]
    moved = replace(most, holdings=[h for h in most.holdings if h.generation != 2] + of_second)
    assert without_barrier(moved) is None, "most of the time went into a rebalance in which both gave something up"


@pytest.mark.parametrize(
    "reason",
    [
        None,
        "Adding new member x-1 with group instance id None; client reason: not provided",
        "Adding new member x-1 with group instance id Some(i1); client reason: not provided",
        "removing member x-1 on heartbeat expiration",
    ],
)
def test_where_the_coordinator_may_not_know_the_protocol_nothing_is_said(reason: str | None) -> None:
    known = storm()
    known.generations = [replace(row, reason=reason) for row in known.generations]
    assert without_barrier(known) is None


def test_static_members_and_leaves_show_the_coordinator_as_well() -> None:
    for reason in (
        "Adding new member i-1 with group instance id i1; x",
        "explicit `LeaveGroup` request for (a) members.",
    ):
        known = storm()
        known.generations = [replace(row, reason=reason) for row in known.generations]
        assert without_barrier(known) is not None


@pytest.mark.parametrize("change", [{"assignor": "custom"}, {"protocol": "mine"}, {"protocol": "cooperative-sticky"}])
def test_assignors_of_ones_own_and_cooperative_ones_have_nothing_to_gain(change: dict[str, str]) -> None:
    known = storm()
    known.generations = [replace(row, **change) for row in known.generations]
    assert without_barrier(known) is None


def test_a_group_with_epochs_has_the_protocol_already() -> None:
    known = storm()
    known.generations = [replace(row, group_type="consumer") for row in known.generations]
    assert without_barrier(known) is None


def test_members_that_are_no_consumers_have_no_such_protocol() -> None:
    known = storm()
    known.generations = [replace(row, protocol_type="consumer") for row in known.generations]
    assert without_barrier(known) is not None
    known.generations = [replace(row, protocol_type="connect") for row in known.generations]
    assert without_barrier(known) is None
