"""What is of one moment, or took as long, is told in one way, however the rows lie."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import msgspec

from schemas.rows import AssignmentRow, CoordinatorRow, GenerationMemberRow, GenerationRow, ReconciliationRow
from transforms.findings.evidence import Commit, Evidence, Heard, Printed
from transforms.findings.storms.revoking import Wait, longest_waits
from transforms.holdings import Holding

PLACE: dict[str, Any] = {"cluster": "c", "group_id": "g", "life": 1, "group_type": "consumer"}
TOLD: dict[str, Any] = {"trigger": "member_joined", "evidence": [], "is_inferred": False, "missing_before": 0}


def wait_of(*rows: ReconciliationRow) -> Wait | None:
    generation = GenerationRow(**PLACE, **TOLD, generation=2, preparing_at=0.0, stable_at=9_000.0)
    evidence = Evidence(cluster="c", group_id="g", generations=[generation], reconciliations=[*rows])
    (found,) = longest_waits(evidence.in_order())
    return found


def held(member_id: str, seq: int, from_at: float, to_at: float | None, to_epoch: int | None) -> ReconciliationRow:
    return ReconciliationRow(
        **PLACE,
        member_id=member_id,
        client_id=f"{member_id}-{seq}",
        seq=seq,
        state="UNREVOKED_PARTITIONS",
        from_at=from_at,
        to_at=to_at,
        to_epoch=to_epoch,
        partitions=["t-1"],
    )


def test_of_waits_that_took_as_long_the_one_that_began_first_is_told() -> None:
    rows = (held("m-c", 1, 0, 4_000, 2), held("m-a", 2, 1_000, 5_000, 2), held("m-b", 3, 0, 4_000, 2))
    assert {each.member_id for way in permutations(rows) if (each := wait_of(*way))} == {"m-b"}


def test_whether_a_member_gave_up_in_the_end_is_what_its_last_stretch_tells() -> None:
    rows = (held("m-a", 2, 4_000, 8_000, None), held("m-a", 1, 0, 3_000, 2))
    found = [each for way in permutations(rows) if (each := wait_of(*way))]
    assert {(each.is_given_up, each.client.client_id, each.ms) for each in found} == {(False, "m-a-2", 7_000)}
    rows = (held("m-a", 2, 4_000, 8_000, 2), held("m-a", 1, 0, 3_000, None))
    assert {each.is_given_up for way in permutations(rows) if (each := wait_of(*way))} == {True}


def test_all_that_is_known_is_put_in_order() -> None:
    place = {"cluster": "c", "group_id": "g", "life": 1}
    rows: dict[str, list[Any]] = {
        "members": [GenerationMemberRow(**place, generation=n, member_id=m) for n, m in ((1, "b"), (1, "a"), (0, "c"))],
        "assignments": [
            AssignmentRow(**place, generation=1, member_id=m, topic="t", partition=p)
            for m, p in (("b", 1), ("a", 1), ("c", 0))
        ],
        "holdings": [
            Holding(life=1, generation=n, member_id=m, hold=h, partitions=["t-0"])
            for n, m, h in ((1, "b", "owned"), (1, "a", "pending"), (1, "a", "owned"))
        ],
        "reconciliations": [held("m-b", 2, 5, 6, 2), held("m-a", 3, 5, 6, 2), held("m-c", 1, 4, 9, 2)],
        "commits": [
            Commit(topic="t", partition=p, recorded_at=5.0, committed_offset=o) for p, o in ((1, 2), (1, 1), (0, 3))
        ],
        "heard": [Heard(member_id=m, answered_at=5.0) for m in ("b", "a", "c")],
        "printed": [Printed(logged_at=5.0, is_own=False, session_timeout_ms=ms) for ms in (9, 7, 8)],
        "coordinators": [
            CoordinatorRow(cluster="c", group_id="g", computed_partition=0, broker=b, epoch=e, from_at=5.0)
            for b, e in (("1", 2), ("2", 1), ("1", 1))
        ],
    }
    ways = zip(*(permutations(of_kind) for of_kind in rows.values()), strict=True)
    found = {
        msgspec.json.encode(
            Evidence(cluster="c", group_id="g", **{kind: [*of] for kind, of in zip(rows, way, strict=True)}).in_order()
        )
        for way in ways
    }
    assert len(found) == 1
