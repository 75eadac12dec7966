"""What a broker answers that does not coordinate the group, or not yet."""

from __future__ import annotations

import pytest

from tests.unit.coordinator.evidence_rows import Row, line, typed_line
from transforms.coordinator.evidence.ownership import Ownership

NOT_COORDINATOR, LOADING, REBALANCING = 16, 14, 27


def lines(dialect: str) -> list[Row]:
    """Scheduled at 1000, loaded at 1100, of which 60 ms in the scheduler; given up at 2000."""
    loaded = {"attributes": {"duration_ms": "100", "scheduler_ms": "60"}}
    rows = [
        line(999, "coordinator_elected"),
        line(1_000, "load_scheduled"),
        line(1_100, "load_finished", **loaded),
        line(2_000, "unload_scheduled"),
    ]
    return [{**row, "dialect": dialect} for row in rows]


def told(rows: list[Row]) -> Ownership:
    """What is known when all these lines have been seen."""
    ownership = Ownership()
    for row in rows:
        ownership.notice(typed_line(row), "java")
    return ownership


@pytest.mark.parametrize(
    ("dialect", "api", "at", "answer"),
    [
        ("scala", "JoinGroup", 900, NOT_COORDINATOR),
        ("scala", "JoinGroup", 1_030, NOT_COORDINATOR),  # scheduled, and not its turn yet
        ("scala", "JoinGroup", 1_080, LOADING),
        ("scala", "Heartbeat", 1_080, 0),
        ("scala", "SyncGroup", 1_080, REBALANCING),
        ("scala", "SyncGroup", 1_030, NOT_COORDINATOR),
        ("java", "JoinGroup", 900, NOT_COORDINATOR),
        ("java", "JoinGroup", 1_030, LOADING),
        ("java", "OffsetCommit", 1_080, LOADING),
        ("java", "Heartbeat", 1_030, 0),
        ("java", "SyncGroup", 1_080, LOADING),
        ("java", "SyncGroup", 1_500, None),
        ("scala", "SyncGroup", 1_500, None),
        ("java", "Heartbeat", 2_500, NOT_COORDINATOR),
        ("scala", "Heartbeat", 2_500, NOT_COORDINATOR),
    ],
)
def test_the_answer_follows_the_state_of_the_partition(dialect, api, at, answer):
    ownership = told(lines(dialect))
    assert ownership.answers("1", api, at, at + 1) == [answer]


def test_a_request_that_waits_until_the_partition_goes_may_be_sent_away():
    ownership = told(lines("java"))
    assert ownership.answers("1", "JoinGroup", 1_900, 2_001) == [None, NOT_COORDINATOR]


def test_within_a_millisecond_of_a_line_both_may_be():
    ownership = told(lines("scala"))
    assert ownership.answers("1", "JoinGroup", 1_060.4, 1_060.9) == [NOT_COORDINATOR, LOADING]


def test_of_a_broker_without_lines_nothing_is_known():
    ownership = told(lines("java"))
    assert ownership.answers("2", "JoinGroup", 1_500, 1_501) == []
    assert ownership.is_settled("2", 1_500, 1_501)


def test_between_two_changes_the_group_is_asked():
    ownership = told(lines("java"))
    assert ownership.is_settled("1", 1_500, 1_501)
    assert not ownership.is_settled("1", 1_500, 2_001)
    assert not ownership.is_settled("1", 1_030, 1_031)


@pytest.mark.parametrize(("dialect", "answer"), [("java", NOT_COORDINATOR), ("scala", None)])
def test_a_partition_that_cannot_be_loaded_is_owned_all_the_same_by_the_old_coordinator(dialect, answer):
    rows = [{**line(1_000, "load_failed"), "dialect": dialect}]
    assert told(rows).answers("1", "JoinGroup", 1_500, 1_501) == [answer]
