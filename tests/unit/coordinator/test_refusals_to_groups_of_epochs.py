"""A consumer group while its coordinator moves, or cannot write: what the brokers answer then, by what their lines say.

The lines and their order are those of brokers of 4.1 and 4.2 that were shut down, killed and started again.
"""

from __future__ import annotations

import pytest

from tests.unit.coordinator.converted_rows import NEW, NOTHING, broker, standing
from tests.unit.coordinator.evidence_rows import GROUP, Row, line, modern_records, request
from transforms.coordinator.replay import replay_group
from transforms.coordinator.timeline.audit import (
    WHY_BROKER,
    WHY_EITHER,
    WHY_NOT_COORDINATOR,
    WHY_TRANSACTION,
    WHY_UNREPLICATED,
)

NONE, LOADING, NOT_AVAILABLE, NOT_COORDINATOR = 0, 14, 15, 16
INVALID_REQUEST = 42
TIMEOUT_MS = 5_000

_JOINED = modern_records(
    (
        1_000,
        [
            (5, "m", NEW),
            (3, "", {"epoch": 1}),
            (7, "m", NOTHING),
            (6, "", {"assignmentEpoch": 1}),
            (8, "m", standing(1, 1)),
        ],
    )
)
_LOADED, _GIVES_UP, _HAS_GIVEN_UP, _LOADS_AGAIN, _HAS_LOADED_AGAIN = 500, 3_000, 3_040, 9_000, 9_400
_LINES = [
    line(at, event, group_id=None, topic_partition_of_group=7)
    for at, event in (
        (_LOADED, "load_finished"),
        (_GIVES_UP, "unload_scheduled"),
        (_HAS_GIVEN_UP, "unload_finished"),
        (_LOADS_AGAIN, "load_scheduled"),
        (_HAS_LOADED_AGAIN, "load_finished"),
    )
]


def _beat(at: float, error: int, parked_ms: float = 0.0, **settings: str) -> Row:
    """The row of the audit of a member's heartbeat, which the broker answered so; nothing is new to it."""
    answered = {} if error else {"answered_generation": 1}
    asked = request(at, "ConsumerGroupHeartbeat", "m", error, generation=1, parked_ms=parked_ms, **answered)
    lines = [*broker("4.2.0", **settings), *_LINES]
    (row,) = replay_group("c", GROUP, [], lines, [asked], 50, modern_records=_JOINED)["replay_audit"]
    return row


@pytest.mark.parametrize(
    ("at", "error"),
    [
        (2_000, NONE),
        (3_020, NOT_COORDINATOR),
        (6_000, NOT_COORDINATOR),
        (9_200, LOADING),
        (9_600, NONE),
        (9_200, INVALID_REQUEST),  # which it is before the group's partition is looked for
    ],
)
def test_what_a_broker_answers_is_foreseen_by_its_lines(at: int, error: int):
    row = _beat(at, error)
    assert not row["is_answer_used"]
    assert error == INVALID_REQUEST or (row["agrees"], row["predicted_error"]) == (True, error)


@pytest.mark.parametrize(
    ("at", "told", "foreseen"),
    [(2_000, NOT_COORDINATOR, None), (2_000, LOADING, None), (9_200, NONE, LOADING), (9_200, NOT_COORDINATOR, LOADING)],
)
def test_an_answer_that_was_not_given_is_doubted(at: int, told: int, foreseen: int | None):
    row = _beat(at, told)
    assert (row["agrees"] is True, row["predicted_error"]) == (False, foreseen)


def test_a_broker_that_leads_no_more_cannot_write_before_it_says_that_it_gives_the_group_up():
    row = _beat(_GIVES_UP - 150, NOT_COORDINATOR)
    assert (row["agrees"], row["is_answer_used"], row["why"]) == (True, True, WHY_EITHER)


def test_a_heartbeat_that_waits_for_replicas_as_long_as_it_may_is_refused():
    row = _beat(1_500, NOT_AVAILABLE, TIMEOUT_MS - 0.5)
    assert (row["agrees"], row["is_answer_used"], row["why"]) == (True, True, WHY_UNREPLICATED)


@pytest.mark.parametrize(("waited_ms", "settings"), [(0.0, {}), (TIMEOUT_MS, {"offsets.commit.timeout.ms": "20000"})])
def test_one_that_does_not_is_not_foreseen_to_be(waited_ms: float, settings: dict[str, str]):
    row = _beat(1_500, NOT_AVAILABLE, waited_ms, **settings)
    assert (row["agrees"], row["why"]) == (None, WHY_NOT_COORDINATOR)


NOT_NAMED, SESSION_REFUSED, UNKNOWN = 23, 26, 25
BOUNDS = {"group.min.session.timeout.ms": "2000", "group.max.session.timeout.ms": "60000"}


def _asks(api: str, error: int, at: float = 2_000, **asked: object) -> Row:
    """The row of the audit of a stranger's request of the classic protocol."""
    lines = [*broker("4.2.0", **BOUNDS), *_LINES]
    asked = {"api_version": 5, **asked}
    rows = [request(at, api, "stranger", error, **asked)]
    (row,) = replay_group("c", GROUP, [], lines, rows, 50, modern_records=_JOINED)["replay_audit"]
    return row


@pytest.mark.parametrize(("protocol_type", "protocol"), [(None, "range"), ("consumer", None), (None, None)])
@pytest.mark.parametrize("at", [2_000, 6_000])
def test_a_sync_that_does_not_name_its_protocol_is_refused_whoever_coordinates(
    at: float, protocol_type: str | None, protocol: str | None
):
    row = _asks("SyncGroup", NOT_NAMED, at, generation=1, protocol_type=protocol_type, protocol=protocol)
    assert (row["agrees"], row["predicted_error"]) == (True, NOT_NAMED)


def test_earlier_versions_of_it_need_not_and_others_name_it():
    for said in ({"api_version": 4}, {"protocol_type": "consumer", "protocol": "range"}):
        row = _asks("SyncGroup", UNKNOWN, generation=1, **said)
        assert (row["agrees"], row["predicted_error"]) == (True, UNKNOWN)


@pytest.mark.parametrize(("session_ms", "error"), [(1_999, SESSION_REFUSED), (60_001, SESSION_REFUSED)])
def test_a_join_with_a_session_out_of_bounds_is_refused(session_ms: int, error: int):
    said = {"session_timeout_ms": session_ms, "protocol_type": "consumer", "rebalance_timeout_ms": 9_000}
    row = _asks("JoinGroup", error, **said)
    assert (row["agrees"], row["predicted_error"]) == (True, SESSION_REFUSED)
    lie = _asks("JoinGroup", UNKNOWN, **said)
    assert (lie["agrees"], lie["predicted_error"]) == (False, SESSION_REFUSED)


@pytest.mark.parametrize(
    ("error", "why"), [(53, WHY_BROKER), *((code, WHY_TRANSACTION) for code in (47, 48, 49, 90, 120))]
)
def test_what_a_commit_is_refused_for_its_transaction_is_not_the_groups_to_tell(error: int, why: str):
    row = _asks("TxnOffsetCommit", error, generation=1, partition_errors={error: 2})
    assert (row["observed_error"], row["predicted_error"], row["why"]) == (error, None, why)
