"""Who is behind a committed offset that goes back, skips far ahead, or goes away."""

from __future__ import annotations

from typing import Any

from schemas.rows import AssignmentRow, GenerationRow, OffsetRewindRow
from transforms.findings.evidence import Evidence, Request
from transforms.findings.offsets.rewinds import Step, rewind_row

PLACE: dict[str, Any] = {"cluster": "demo", "group_id": "shop", "life": 1}
ORDER: dict[str, Any] = {"trigger": "unknown", "evidence": [], "is_inferred": False, "missing_before": 0}
DAY_MS = 86_400_000


def step(**known: Any) -> Step:
    """At 100 s a commit that goes from 500 back to 400, 10 s after the one before."""
    given = {"at": 100_000.0, "from_at": 90_000.0, "from_offset": 500, "to_offset": 400, "kind": "rewind"}
    place = {"topic_partition_of_record": 7, "record_offset": 42, "topic": "t", "partition": 0}
    return Step(**place, **{"has_generations": True, **given, **known})


def generation(number: int, at: float, **known: Any) -> GenerationRow:
    return GenerationRow(**PLACE, **ORDER, generation=number, preparing_at=at, **known)


def owned(member: str, since: float, until: float | None = None) -> AssignmentRow:
    return AssignmentRow(
        **PLACE,
        generation=3,
        member_id=member,
        client_id=f"c-{member}",
        topic="t",
        partition=0,
        valid_from=since,
        valid_to=until,
    )


def commit(at: float = 100_010, member: str | None = "m1", generation: int = 3, **known: Any) -> Request:
    api = known.pop("api", "OffsetCommit")
    client = known.pop("client_id", f"c-{member}")
    return Request(
        answered_at=at,
        handled_at=at - 20,
        api=api,
        error="NONE",
        member_id=member,
        client_id=client,
        generation=generation,
    )


def judged(what: Step, **known: Any) -> OffsetRewindRow:
    return rewind_row(Evidence(cluster="demo", group_id="shop", **known), what, 7 * DAY_MS)


def told(row: OffsetRewindRow) -> tuple[Any, ...]:
    return row.origin, row.member_id, row.client_id, row.generation


def test_the_request_that_was_handled_then_says_who() -> None:
    row = judged(step(), requests=[commit(), commit(104_000, "m2")], assignments=[owned("m9", 0)])
    assert told(row) == ("member", "m1", "c-m1", 3)
    assert (row.from_offset, row.to_offset, row.kind) == (500, 400, "rewind")


def test_of_several_requests_it_is_the_owners() -> None:
    row = judged(step(), requests=[commit(member="m1"), commit(member="m2")], assignments=[owned("m2", 0)])
    assert told(row) == ("member", "m2", "c-m2", 3)


def test_without_a_request_log_it_is_the_owner() -> None:
    row = judged(step(), assignments=[owned("m1", 0, 95_000), owned("m2", 95_000)])
    assert told(row) == ("member", "m2", "c-m2", 3)


def test_generation_minus_one_in_a_group_that_has_members_at_times_is_a_reset() -> None:
    row = judged(step(), requests=[commit(member="", generation=-1, client_id="reset-tool")])
    assert told(row) == ("admin", None, "reset-tool", -1)


def test_generation_minus_one_in_a_group_that_never_has_any_is_its_readers_own_business() -> None:
    row = judged(step(has_generations=False), requests=[commit(member="", generation=-1, client_id="reader")])
    assert told(row) == ("unknown", None, "reader", -1)
    assert row.is_at_rebalance is None


def test_a_commit_while_the_group_was_empty_is_a_reset_also_without_a_request_log() -> None:
    empty = generation(4, 50_000, outcome="empty", emptied_at=50_000)
    assert judged(step(), generations=[generation(3, 0, outcome="stable"), empty]).origin == "admin"
    empty.ended_at = 99_000
    assert judged(step(), generations=[generation(3, 0, outcome="stable"), empty]).origin == "unknown"


def test_what_follows_an_aborted_transaction_is_its_doing_and_the_owner_does_it_again() -> None:
    row = judged(step(is_aborted=True), assignments=[owned("m1", 0)])
    assert told(row) == ("transaction_aborted", "m1", "c-m1", 3)


def test_offsets_that_nobody_committed_for_the_retention_expire() -> None:
    gone = step(to_offset=None, kind="deleted", at=100_000.0 + 7 * DAY_MS, from_at=100_000.0)
    assert judged(gone).origin == "expired"
    assert judged(step(to_offset=None, kind="deleted")).origin == "unknown"


def test_offsets_that_somebody_deletes_are_deleted_by_an_admin() -> None:
    request = commit(99_000, None, 0, api="OffsetDelete", client_id="admin")
    row = judged(step(to_offset=None, kind="deleted"), requests=[request])
    assert (row.origin, row.client_id) == ("admin", "admin")


def test_a_step_is_at_a_rebalance_if_one_began_since_the_commit_before() -> None:
    for begun, is_at in ((89_000.0, False), (90_000.0, False), (90_001.0, True), (100_000.0, True), (100_001.0, False)):
        assert judged(step(), generations=[generation(4, begun)]).is_at_rebalance is is_at
