"""A change is read as Kafka's own configuration would be, and refused in one sentence where it makes no sense."""

from __future__ import annotations

import pytest

from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.errors import SettingsError
from transforms.whatif.change import Change, change_of, check_against


@pytest.mark.parametrize(
    ("value", "strategy"),
    [
        ("sticky", "sticky"),
        ("org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "cooperative-sticky"),
        ("RoundRobinAssignor", "roundrobin"),
        ("org.apache.kafka.clients.consumer.RangeAssignor, org.example.Other", "range"),
    ],
)
def test_a_strategy_goes_by_its_protocol_or_its_class_and_the_first_counts(value: str, strategy: str) -> None:
    assert change_of([f"partition.assignment.strategy={value}"]) == Change(strategy=strategy)


def test_several_settings_make_one_change() -> None:
    asked = ["session.timeout.ms=45000", "max.poll.interval.ms=600000", "group.initial.rebalance.delay.ms=0"]
    assert change_of(asked, is_static=True) == Change(
        session_timeout_ms=45_000, max_poll_interval_ms=600_000, initial_delay_ms=0, is_static=True
    )


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ([], "nothing to ask about"),
        (["session.timeout.ms"], "NAME=VALUE"),
        (["heartbeat.interval.ms=1000"], "no change that can be asked about"),
        (["session.timeout.ms=0"], "from 1 to 2147483647"),
        (["session.timeout.ms=-5"], "from 1 to 2147483647"),
        (["session.timeout.ms=１０００"], "from 1 to 2147483647"),
        (["session.timeout.ms=2147483648"], "from 1 to 2147483647"),
        (["session.timeout.ms=6000", "session.timeout.ms=7000"], "set twice"),
        (["group.protocol=share"], "must be consumer"),
        (["group.protocol=consumer", "session.timeout.ms=6000"], "asked about alone"),
        (["partition.assignment.strategy=fair"], "cooperative-sticky, range, roundrobin, sticky"),
    ],
)
def test_a_change_that_makes_no_sense_is_one_sentence(asked: list[str], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence) as caught:
        change_of(asked)
    assert "\n" not in str(caught.value)


def test_a_session_that_the_broker_refuses_is_refused() -> None:
    settings = CoordinatorSettings(min_session_timeout_ms=6_000, max_session_timeout_ms=60_000)
    for session in (5_999, 60_001):
        with pytest.raises(SettingsError, match="would be refused"):
            check_against(Change(session_timeout_ms=session), settings)
    check_against(Change(session_timeout_ms=6_000), settings)
    check_against(Change(is_static=True), settings)
