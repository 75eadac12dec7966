"""`group.max.size` where no broker prints it: joins that are refused and joins that are let in show what it is."""

from __future__ import annotations

import pytest

from tests.unit.coordinator.evidence_rows import (
    Row,
    beat,
    join,
    line,
    member,
    prepare,
    record,
    replayed,
    sync,
    typed_line,
    verdicts,
)
from transforms.coordinator.evidence.brokers import Brokers
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings

NONE, MEMBER_ID_REQUIRED, FULL = 0, 79, 81
NO_LIMIT = CoordinatorSettings().max_size

ALONE = [join(900, told=1, given="a-1", parked_ms=3_000), sync(3_910, "a-1", 1)]
"""A member that came before our eyes."""


def refused(at: float) -> Row:
    return join(at, error_code=FULL, api_version=5)


def told_an_id(at: float) -> Row:
    return join(at, error_code=MEMBER_ID_REQUIRED, given="d-1", api_version=5)


def by_answer(tables: dict[str, list[Row]]) -> list[float]:
    """Moments of the requests that needed their own answer, but for the first of a group that is new."""
    used = (row["handled_at"] for row in tables["replay_audit"] if row["is_answer_used"])
    return sorted(at for at in used if at > 1_000)


def test_a_refusal_shows_the_limit_and_a_join_that_is_let_in_that_it_is_higher():
    tables = replayed([], [], [*ALONE, refused(5_000), refused(5_500), told_an_id(6_000), told_an_id(6_500)])
    assert verdicts(tables)[2:] == [(FULL, FULL), (FULL, FULL), (MEMBER_ID_REQUIRED,) * 2, (MEMBER_ID_REQUIRED,) * 2]
    assert by_answer(tables) == [5_000, 6_000]


def test_a_record_alone_does_not_show_how_many_there_are_by_now():
    requests = [
        refused(5_000),
        refused(5_500),
        join(6_000, "a-1", told=2, parked_ms=400),
        join(6_200, "b-1", told=2, parked_ms=200),
        join(6_400, "c-1", told=2),
    ]
    stored = [record(1_000, 0, 1, member("a-1", [0])), record(5_600, 1, 1, *(member(f"{x}-1", [0]) for x in "abc"))]
    tables = replayed([], stored, requests)
    assert verdicts(tables) == [(FULL, FULL), (FULL, FULL), (NONE, NONE), (NONE, NONE), (NONE, NONE)]
    assert by_answer(tables) == [5_000, 5_500]


def test_a_limit_of_nobody_is_not_learnt():
    requests = [*ALONE, beat(4_900, "a-1", 1), refused(5_100), told_an_id(5_200)]
    tables = replayed([prepare(5_000, 1)], [], requests)
    assert verdicts(tables)[-1] == (MEMBER_ID_REQUIRED, MEMBER_ID_REQUIRED)


def test_what_a_broker_prints_stands_above_what_its_answers_showed():
    brokers = Brokers()
    assert brokers.learn("1", max_size=1).max_size == 1
    brokers.notice_line(typed_line(line(1_000, "broker_settings", group_id=None, attributes={"group.max.size": "3"})))
    assert brokers.of("1").max_size == 3


@pytest.mark.parametrize(("count", "limit"), [(1, 2), (2, 2), (5, 5)])
def test_a_group_that_is_larger_shows_that_the_limit_is(count: int, limit: int):
    brokers = Brokers()
    brokers.learn("1", max_size=2)
    brokers.learn("2", min_session_timeout_ms=10)
    brokers.learn_room(count)
    assert [brokers.of(name).max_size for name in ("1", "2", "3")] == [limit, NO_LIMIT, NO_LIMIT]
