"""Who keeps a group's offsets: members, consumers that are none, both, or nobody that Kafka knows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schemas.rows import AssignmentRow, GenerationRow
from schemas.words import OFFSET_KEEPERS
from tests.unit.findings import pure
from tests.unit.findings.golden import complete
from transforms.findings.evidence import Commit, Request
from transforms.findings.offsets.keeping import OffsetUse, keeping_of, keeping_told, use_of

GROUP: dict[str, Any] = {"cluster": "demo", "group_id": "shop", "life": 1}


def owned(partition: int, since: float, until: float | None = None) -> AssignmentRow:
    times = {"valid_from": since, "valid_to": until}
    return AssignmentRow(**GROUP, generation=1, member_id="m-1", client_id="m", topic="t", partition=partition, **times)


def generation(number: int, **times: float) -> GenerationRow:
    order: dict[str, Any] = {"trigger": "unknown", "evidence": ["offsets"], "is_inferred": False, "missing_before": 0}
    return GenerationRow(**GROUP, **order, generation=number, **times)


def stored(partition: int, *moments: float) -> list[Commit]:
    return [Commit(topic="t", partition=partition, recorded_at=at, committed_offset=round(at)) for at in moments]


def sent(at: float, member: str = "", error: str = "NONE", client: str = "lister-1") -> Request:
    number = 1 if member else -1
    place: dict[str, Any] = {"member_id": member, "generation": number, "client_id": client}
    return Request(answered_at=at, api="OffsetCommit", error=error, **place)


MEMBERS = [owned(0, 10_000), owned(1, 10_000)]
BY_MEMBERS = [*stored(0, 15_000, 20_000, 25_000), *stored(1, 15_000)]


def test_a_group_whose_members_commit_keeps_its_own_offsets() -> None:
    requests = [sent(at, member="m-1") for at in (15_000, 20_000, 25_000)]
    for log in (requests, []):
        assert keeping_of(use_of(MEMBERS, [], BY_MEMBERS, log)) == "members"


def test_a_consumer_with_assign_beside_members_is_told_by_its_refused_commits() -> None:
    log = [sent(15_000, member="m-1"), sent(16_000, error="UNKNOWN_MEMBER_ID")]
    use = use_of(MEMBERS, [], BY_MEMBERS, log)
    assert keeping_of(use) == "both"
    assert "lister-1" in keeping_told(use) and "1 request of theirs was refused" in keeping_told(use)


def test_a_member_that_has_left_and_forgot_who_it_was_is_no_consumer_with_assign() -> None:
    log = [sent(15_000, member="m-1", client="m"), sent(16_000, error="UNKNOWN_MEMBER_ID", client="m")]
    assert keeping_of(use_of(MEMBERS, [], BY_MEMBERS, log)) == "members"


def test_a_consumer_with_assign_beside_members_is_told_by_commits_that_go_on_while_the_group_is_empty() -> None:
    log = [sent(15_000, member="m-1"), *(sent(at) for at in (60_000, 65_000, 70_000))]
    assert keeping_of(use_of(MEMBERS, [], BY_MEMBERS, log)) == "both"
    empty = [generation(2, emptied_at=30_000, ended_at=90_000)]
    commits = [*BY_MEMBERS, *stored(0, 60_000, 65_000, 70_000)]
    ended = [owned(0, 10_000, 30_000), owned(1, 10_000, 30_000)]
    assert keeping_of(use_of(ended, empty, commits, [])) == "both"


def test_a_reset_of_offsets_makes_no_consumer_with_assign() -> None:
    log = [sent(15_000, member="m-1"), sent(60_000, client="adminclient-1")]
    assert keeping_of(use_of(MEMBERS, [], BY_MEMBERS, log)) == "members"
    empty = [generation(2, emptied_at=30_000, ended_at=90_000)]
    commits = [*BY_MEMBERS, *stored(0, 60_000), *stored(1, 60_000)]
    assert keeping_of(use_of([owned(0, 10_000, 30_000)], empty, commits, [])) == "members"


def test_commits_from_before_assignments_are_known_and_the_last_ones_before_the_group_is_empty_are_members() -> None:
    empty = [generation(2, emptied_at=30_000, ended_at=90_000)]
    commits = [*stored(0, 31_000, 32_000, 33_000), *stored(7, 1_000, 2_000, 3_000)]
    assert keeping_of(use_of(MEMBERS, empty, commits, [])) == "members"


def test_a_partition_that_nobody_was_assigned_and_somebody_commits_shows_a_consumer_with_assign() -> None:
    assert keeping_of(use_of(MEMBERS, [], [*BY_MEMBERS, *stored(7, 11_000, 12_000, 13_000)], [])) == "both"


def test_a_member_that_never_had_a_partition_and_commits_as_nobody_is_no_consumer_with_assign() -> None:
    log = [sent(15_000, member="m-1"), sent(16_000, client="late", error="UNKNOWN_MEMBER_ID")]
    assert keeping_of(use_of(MEMBERS, [], BY_MEMBERS, log)) == "both"
    assert keeping_of(use_of(MEMBERS, [], BY_MEMBERS, log, ["late"])) == "members"


def test_tasks_of_a_streams_group_are_of_subtopologies_and_tell_nothing_of_the_topics_that_it_commits() -> None:
    tasks = [msgspec.structs.replace(row, topic="0", role="active", group_type="streams") for row in MEMBERS]
    assert keeping_of(use_of(tasks, [], [*BY_MEMBERS, *stored(7, 11_000, 12_000, 13_000)], [])) == "members"
    empty = [generation(2, emptied_at=30_000, ended_at=90_000)]
    assert keeping_of(use_of(tasks, empty, stored(0, 60_000, 65_000, 70_000), [])) == "both"


def test_a_group_that_never_commits_keeps_its_offsets_elsewhere() -> None:
    use = use_of(MEMBERS, [], [], [])
    assert keeping_of(use) == "elsewhere"
    assert "elsewhere" in keeping_told(use) and "error" not in keeping_told(use)


def test_a_group_without_members_is_read_by_consumers_of_their_own_accord() -> None:
    assert keeping_of(use_of([], [], stored(0, 1_000), [])) == "consumers"
    assert keeping_of(use_of([], [], [], [])) == "nobody"


@pytest.mark.parametrize("has_assignments", [True, False])
@pytest.mark.parametrize("has_commits", [True, False])
@pytest.mark.parametrize("refused", [0, 5])
def test_whatever_is_known_has_a_word_and_a_sentence(has_assignments: bool, has_commits: bool, refused: int) -> None:
    use = OffsetUse(has_assignments=has_assignments, has_commits=has_commits, free_refused=refused)
    assert keeping_of(use) in OFFSET_KEEPERS
    assert keeping_told(use).endswith(".")


@pytest.mark.parametrize(("was_member", "cause"), [(False, "not_a_member"), (True, "slow_poller")])
def test_a_burst_of_refused_commits_of_no_member_is_told_as_that_and_not_as_a_fault(
    was_member: bool, cause: str
) -> None:
    blank = dict.fromkeys(("group_instance_id", "client_host", "sent_offsets", "partition_errors"))
    row = {**blank, "cluster": "demo", "group_id": "shop", "api": "OffsetCommit", "member_id": "", "generation": -1}
    requests = [
        {**row, "answered_at": at * 5_000.0, "error": "UNKNOWN_MEMBER_ID", "client_id": "lister-1"} for at in range(6)
    ]
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in pure.TABLES_OF_BURSTS.values()}
    left = {"joined_at": 1_000.0, "ended_at": 2_000.0, "end_cause": "poll_timeout", "client_id": "lister-1"}
    session = {**GROUP, "member_id": "lister-1-77", "client_host": None, **left}
    tables["member_sessions"] = [complete("member_sessions", session)] if was_member else []
    (found,) = pure.bursts({**tables, "group_requests": requests[1:]}, 30_000, 5)
    assert found["suspected_cause"] == cause
    assert "lister-1" in found["advice"] and ("assign()" in found["advice"]) is not was_member
