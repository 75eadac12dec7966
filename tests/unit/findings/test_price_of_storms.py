"""What the advice on a storm would cost: who says that it goes would not do so any more as a static member."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.rows import GenerationMemberRow, GenerationRow, MemberSessionRow
from transforms.findings.evidence import Evidence
from transforms.findings.storms.judge import storm_row
from transforms.findings.storms.limits import StormLimits

PLACE: dict[str, Any] = {"cluster": "demo", "group_id": "shop", "life": 1}
LIMITS = StormLimits(window_ms=600_000, min_rebalances=5)
SESSION_MS = 10_000


def storm(trigger: str) -> Evidence:
    """One client of two goes six times, and comes back after two seconds under another member id."""
    evidence = Evidence(cluster="demo", group_id="shop")
    steady = {**PLACE, "client_id": "steady", "client_host": "/h", "session_timeout_ms": SESSION_MS}
    for turn in range(6):
        came, went = turn * 20_000.0, turn * 20_000.0 + 18_000.0
        member = {**PLACE, "member_id": f"m{turn}", "client_id": "comer", "client_host": "/h"}
        evidence.sessions.append(MemberSessionRow(**member, joined_at=came, ended_at=went, end_cause=trigger))
        for number, at, why in ((2 * turn + 1, came, "member_joined"), (2 * turn + 2, went, trigger)):
            told: dict[str, Any] = {"trigger": why, "evidence": ["broker_log"], "is_inferred": False}
            evidence.generations.append(
                GenerationRow(
                    **PLACE,
                    **told,
                    generation=number,
                    preparing_at=at,
                    stable_at=at + 100,
                    trigger_member_id=f"m{turn}",
                    trigger_client_id="comer",
                    missing_before=0,
                )
            )
            evidence.members.append(GenerationMemberRow(**steady, generation=number, member_id="s"))
            if why == "member_joined":
                evidence.members.append(GenerationMemberRow(**member, generation=number, session_timeout_ms=SESSION_MS))
    return evidence.in_order()


@pytest.mark.parametrize(
    ("trigger", "price"),
    [
        ("member_left", "session.timeout.ms=10000 (as now) lets it come back without a rebalance"),
        ("member_left", "the price: if it stays away, its partitions lie idle 10.0 s longer."),
        ("session_expired", "session.timeout.ms=15000 (now 10000)"),
        ("session_expired", "is noticed 5.0 s later."),
    ],
)
def test_who_said_that_it_went_is_missed_for_a_whole_session(trigger: str, price: str) -> None:
    """And who died is missed for as much longer as the session is."""
    evidence = storm(trigger)
    for row in evidence.sessions:
        row.end_cause = "left" if trigger == "member_left" else trigger
    assert price in storm_row(evidence, LIMITS).advice
