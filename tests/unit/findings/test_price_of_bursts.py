"""What a burst cost: who was shut out by what, for how long they went on, and what was done twice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schemas.rows import GenerationRow, IllegalGenerationBurstRow, MemberSessionRow
from transforms.findings.bursts.advice import advice_for
from transforms.findings.bursts.judge import burst_row
from transforms.findings.bursts.limits import BurstLimits
from transforms.findings.bursts.senders import senders_of
from transforms.findings.evidence import Commit, Evidence, Request, SentOffset

PLACE: dict[str, Any] = {"cluster": "demo", "group_id": "shop", "life": 1}
ORDER: dict[str, Any] = {"trigger": "unknown", "evidence": [], "is_inferred": False, "missing_before": 0}


def generation(number: int, at: float, **known: Any) -> GenerationRow:
    return GenerationRow(**PLACE, **ORDER, generation=number, preparing_at=at, stable_at=at + 500, **known)


def refused(
    at: float, generation: int | None = 4, partitions: int = 1, *sent: tuple[int, int], **known: Any
) -> Request:
    return Request(
        answered_at=at,
        api=known.pop("api", "OffsetCommit"),
        error="UNKNOWN_MEMBER_ID",
        member_id="z0",
        client_id="z",
        generation=generation,
        partition_errors={25: partitions},
        sent_offsets=[SentOffset(topic="t", partition=partition, offset=offset) for partition, offset in sent],
    )


def stored(partition: int, at: float, offset: int) -> Commit:
    return Commit(topic="t", partition=partition, recorded_at=at, committed_offset=offset)


@pytest.fixture
def evidence() -> Evidence:
    """A member that expires at 20 s, in generation 4; the group goes on to 7 while it commits."""
    return Evidence(
        cluster="demo",
        group_id="shop",
        generations=[
            generation(4, 0),
            generation(5, 20_000, departed_member_ids=["z0"]),
            generation(6, 24_500),
            generation(7, 26_500),
        ],
        sessions=[
            MemberSessionRow(
                **PLACE, member_id="z0", client_id="z", joined_at=0, ended_at=20_000, end_cause="session_expired"
            )
        ],
        refused=[
            refused(24_000, 4, 2, (0, 150), (1, 90)),
            refused(25_500, 4, 1, (0, 170)),
            refused(26_000, 4, 1, (2, 5)),
            refused(27_500, 4, 1, api="Heartbeat"),
        ],
        commits=[
            stored(0, 9_000, 100),
            stored(0, 19_000, 120),
            stored(0, 22_000, 160),  # the next owner's, when it had begun
            stored(1, 19_000, 95),
        ],
    )


def judged(evidence: Evidence) -> IllegalGenerationBurstRow:
    return burst_row(evidence, BurstLimits(5_000, 1))


def test_the_change_that_shut_a_member_out_is_the_one_that_went_on_without_it(evidence: Evidence) -> None:
    row = judged(evidence)
    assert (row.fenced_by_life, row.fenced_by_generation) == (1, 5)
    assert row.current_generation == 5
    assert row.behind_count == 3, "the last request came when the group was at generation 7"
    assert row.zombie_ms == 7_500


def test_lost_commits_are_those_of_partitions(evidence: Evidence) -> None:
    assert judged(evidence).lost_commit_count == 4


def test_what_lies_between_the_refused_offset_and_where_the_next_owner_began_is_read_again(evidence: Evidence) -> None:
    """Partition 0: tried 170, the next owner began at 120. 1: tried less than was stored. 2: nothing was stored."""
    assert judged(evidence).reread_count == 50


def test_without_the_offsets_nobody_knows_what_is_read_again(evidence: Evidence) -> None:
    bare = msgspec.structs.replace(
        evidence, refused=[msgspec.structs.replace(r, sent_offsets=None) for r in evidence.refused]
    )
    assert judged(bare).reread_count is None
    assert "how much was done twice is not in the data" in judged(bare).advice


def test_a_burst_is_open_as_long_as_one_more_error_would_belong_to_it(evidence: Evidence) -> None:
    for seen_until, is_open in ((32_500, True), (32_501, False), (None, False)):
        row = judged(msgspec.structs.replace(evidence, seen_until=seen_until))
        assert (row.is_open, row.open_until) == (is_open, 32_500)


def by_client(at: float, api: str, **known: Any) -> Request:
    """As a client's log tells of a refusal: without its host."""
    told: dict[str, Any] = {"error": "UNKNOWN_MEMBER_ID", "client_id": "z", **known}
    return Request(answered_at=at, api=api, **told)


def test_a_log_that_was_written_late_tells_a_zombie_by_its_heartbeats(evidence: Evidence) -> None:
    """Only one is under way at a time: who sent three had been told twice, whenever its log was written."""
    evidence.sessions[0].client_host = "/h"
    for api, cause in (("Heartbeat", "zombie"), ("OffsetCommit", "lost_session")):
        late = msgspec.structs.replace(evidence, refused=[by_client(30_000.0, api) for _ in range(3)])
        assert judged(late).suspected_cause == cause


def test_a_member_whose_library_names_no_client_is_the_client_of_its_stay(evidence: Evidence) -> None:
    unnamed = [by_client(30_000.0 + at, "OffsetCommit", client_id=None, member_id="z0") for at in (0, 2000, 4000)]
    row = judged(msgspec.structs.replace(evidence, refused=unnamed))
    assert (row.client_ids, row.suspected_cause, row.lost_commit_count) == (["z"], "zombie", 3)


def test_a_member_that_is_told_again_and_again_that_its_generation_is_over_is_a_zombie(evidence: Evidence) -> None:
    """A producer's log names no generation; what its consumer's group did then, the broker's does."""
    evidence.sessions[0].ended_at = evidence.sessions[0].end_cause = None
    told = {"client_id": "z-tx", "member_id": "z0", "error": "ILLEGAL_GENERATION"}
    zombie = [by_client(40_000.0 + at, "TxnOffsetCommit", **told) for at in range(0, 5000, 1000)]
    row = judged(msgspec.structs.replace(evidence, refused=zombie))
    assert (row.client_ids, row.suspected_cause) == (["z-tx"], "zombie")
    assert judged(msgspec.structs.replace(evidence, refused=zombie[:1])).suspected_cause == "unknown"


@pytest.mark.parametrize(
    ("seen_in", "decides"), [(["offsets"], "coordinator log at INFO"), (["offsets", "broker_log"], "the log of z over")]
)
def test_what_would_decide_is_evidence_that_there_is_not(evidence: Evidence, seen_in: list[str], decides: str):
    generations = [msgspec.structs.replace(row, evidence=seen_in) for row in evidence.generations]
    known = msgspec.structs.replace(evidence, generations=generations, sessions=[])
    row = msgspec.structs.replace(judged(known), suspected_cause="unknown")
    assert decides in advice_for(row, known, senders_of(known))
