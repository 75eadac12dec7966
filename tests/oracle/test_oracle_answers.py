from __future__ import annotations

import pytest

from tests.oracle.answers import Answer, Case, Situation, cases
from tests.oracle.driver import Fixture
from tests.oracle.probes import PROBES

ASKABLE = [case for case in cases() if case.answer is not None]
"""In four cells Kafka's own driver had no member to speak for: these say nothing of the coordinator."""


def test_the_oracle_is_read_whole():
    assert len(cases()) == 55 * 5
    assert len(cases()) - len(ASKABLE) == 4
    assert {case.probe for case in cases()} == set(PROBES)
    assert {case.before.state for case in cases()} == {
        "Empty",
        "PreparingRebalance",
        "CompletingRebalance",
        "Stable",
        "Dead",
    }


def test_answers_are_read_as_they_are_printed():
    by_name = {case.name: case for case in cases()}
    told = Answer("NONE", 2, 2, True, True, writes_record=True)
    stable = Situation("Stable", 2, 2)
    assert by_name["Join static LEADER replaced unknown id v9 | STABLE"].answer == told
    assert by_name["Join static LEADER replaced unknown id v9 | STABLE"].after == stable
    assert by_name["Sync follower cur gen | STABLE"].answer == Answer("NONE", has_assignment=True)
    assert by_name["Leave static fenced | STABLE"].answer == Answer("FENCED_INSTANCE_ID")
    assert by_name["HB bogus | STABLE"].answer == Answer("UNKNOWN_MEMBER_ID")
    assert by_name["Join v3 unknown id dynamic | EMPTY"].answer == Answer("PARKED")


@pytest.mark.parametrize("case", ASKABLE, ids=lambda case: case.name)
def test_the_machine_answers_what_kafka_answered(case: Case):
    fixture = Fixture(case.fixture)
    assert fixture.driver.situation == case.before
    answer = fixture.ask(PROBES[case.probe])
    assert answer.error == case.answer.error
    assert fixture.driver.situation == case.after
    assert answer.generation == case.answer.generation
    assert answer.is_leader == case.answer.is_leader
    if case.answer.has_assignment:
        assert answer.has_assignment
