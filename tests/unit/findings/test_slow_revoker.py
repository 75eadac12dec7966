"""Members that held rebalances up: what is said of one, by what is known of the group around it."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.rows import GenerationMemberRow, GenerationRow, MemberSessionRow, ReconciliationRow, SlowRevokerRow
from transforms.findings.evidence import Evidence
from transforms.findings.slow_revoker import slow_revoker_row

OWN: dict[str, Any] = {"cluster": "c", "group_id": "g", "life": 1, "group_type": "consumer"}
GIVES = {**OWN, "member_id": "m-s", "client_id": "s", "client_host": "/h", "state": "UNREVOKED_PARTITIONS"}
WAITS = {**OWN, "state": "UNRELEASED_PARTITIONS", "from_epoch": 8, "to_epoch": 8, "waits_for_member_ids": ["m-s"]}
LATE = {"from_epoch": 7, "to_epoch": 8, "from_at": 100_000, "to_at": 140_000, "partitions": ["t-1", "t-2"]}


def generation(number: int, preparing_at: float) -> GenerationRow:
    said = {"trigger": "member_joined", "evidence": [], "missing_before": 0, "is_inferred": False}
    return GenerationRow(**OWN, **said, generation=number, preparing_at=preparing_at)


def held(*waiting: dict[str, Any], sessions: list[MemberSessionRow] | None = None, **how: Any) -> SlowRevokerRow:
    row = ReconciliationRow(seq=3, **{**GIVES, **LATE, **how})
    evidence = Evidence(
        cluster="c",
        group_id="g",
        reconciliations=[row, *(ReconciliationRow(seq=10 + n, **{**WAITS, **each}) for n, each in enumerate(waiting))],
        generations=[generation(n, at) for n, at in ((7, 50_000), (8, 100_010), (9, 120_000))],
        members=[
            GenerationMemberRow(**OWN, generation=n, member_id="m-s", rebalance_timeout_ms=ms)
            for n, ms in ((6, 30_000), (7, 60_000), (8, 90_000))
        ],
        sessions=sessions or [],
    )
    return slow_revoker_row(evidence, (1, 3), 40_000)


def test_what_stood_still_and_for_which_epoch_is_told() -> None:
    row = held()
    assert (row.generation, row.partition_count, row.rebalance_timeout_ms) == (8, 2, 60_000)
    assert (row.started_at, row.ended_at, row.held_up_ms, row.is_open) == (100_000, 140_000, 40_000, False)
    assert row.advice.startswith(
        "s on /h gave 2 partitions up (t-1, t-2) after 40.0 s, while they stood still, and 0 members waited for them."
    )
    assert "max.poll.interval.ms=60000 (as now)" in row.advice, "that 40 s were enough says nothing of other batches"


def test_who_waited_are_those_that_were_to_have_some_of_it_meanwhile() -> None:
    waiting = (
        {"member_id": "m-a", "from_at": 120_000, "to_at": 141_000},
        {"member_id": "m-b", "from_at": 90_000, "to_at": None},
        {"member_id": "m-before", "from_at": 50_000, "to_at": 90_000},
        {"member_id": "m-later", "from_at": 150_000, "to_at": 160_000},
        {"member_id": "m-else", "from_at": 120_000, "to_at": 141_000, "waits_for_member_ids": ["m-x"]},
        {"member_id": "m-too", "from_at": 120_000, "to_at": 141_000, "state": "UNREVOKED_PARTITIONS"},
        {"member_id": "m-life", "from_at": 120_000, "to_at": 141_000, "life": 2},
    )
    assert held(*waiting).waiting_member_ids == ["m-a", "m-b"]


def stay(ended_at: float, cause: str) -> MemberSessionRow:
    return MemberSessionRow(**OWN, member_id="m-s", ended_at=ended_at, end_cause=cause)


@pytest.mark.parametrize(
    ("sessions", "end_cause"),
    [
        ([stay(60_000, "left"), stay(140_050, "rebalance_timeout")], "rebalance_timeout"),
        ([stay(60_000, "left")], "unknown"),
    ],
)
def test_who_went_without_giving_up_is_told_with_how_it_went(sessions: list[MemberSessionRow], end_cause: str) -> None:
    row = held(sessions=sessions, to_epoch=None)
    assert (row.end_cause, row.is_open) == (end_cause, False)
    assert row.advice.startswith("s on /h never gave 2 partitions up (t-1, t-2) in 40.0 s")
    assert ("it was fenced for that" in row.advice) == (end_cause == "rebalance_timeout")
    assert "max.poll.interval.ms=60000 (as now)" in row.advice, "how long it would have taken is not known"


def test_what_is_not_over_where_the_data_end_is_open() -> None:
    row = held(to_at=None, to_epoch=None, sessions=[stay(60_000, "left")])
    assert (row.ended_at, row.is_open, row.end_cause) == (None, True, None)
    assert "has not given 2 partitions up (t-1, t-2) for 40.0 s" in row.advice


def test_of_tasks_no_callback_of_a_consumer_is_spoken() -> None:
    row = held(group_type="streams", state="UNREVOKED_TASKS", partitions=["0-1"])
    assert row.advice.startswith("s on /h gave 1 task up (0-1)")
    assert "onPartitionsRevoked" not in row.advice
