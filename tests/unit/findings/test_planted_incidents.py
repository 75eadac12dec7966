"""Incidents that are played by their causes are called what they are, as far as the evidence says; calm groups are not.

The figures for many more are in docs/findings-accuracy.md (`python -m tests.benchmarks.bench_findings`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.support.incidents.play import DEPTHS, play, tables_of
from tests.support.incidents.plots import KINDS
from tests.support.incidents.score import Case, case

SEED, OF_EACH_KIND, CALM = 11, 3, 24

SEEN_IN_RECORDS = ("rolling_restart", "scaling", "subscription_conflict", "metadata_refresh")
"""What the members of each generation show; how a member went, they do not."""

OF_ONE_CLIENT = ("flapping_member", "crash_loop", "slow_poll_loop", "lost_session", "subscription_conflict")


@pytest.fixture(scope="module")
def played() -> Callable[[str, int], Case]:
    return cache(lambda kind, number: case(kind, number, SEED))


@pytest.fixture(scope="module")
def incidents(played):
    return lambda kind: [each for each in (played(kind, number) for number in range(OF_EACH_KIND)) if each.is_large]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", ["all", "lines and clients"])
def test_every_incident_is_called_what_it_is(kind, depth, incidents):
    assert incidents(kind)
    for each in incidents(kind):
        assert kind in each.found[depth].names, each


@pytest.mark.parametrize("kind", SEEN_IN_RECORDS)
def test_records_alone_tell_who_came_and_went_and_what_changed(kind, incidents):
    for each in incidents(kind):
        assert kind in each.found["records"].names, each


@pytest.mark.parametrize("kind", ["flapping_member", "crash_loop", "slow_poll_loop", "lost_session"])
def test_records_alone_name_the_client_that_comes_and_goes_and_do_not_guess_why(kind, incidents):
    for each in incidents(kind):
        found = [(pattern, client) for pattern, _, client in each.found["records"].storms]
        assert found and all(pattern == "unknown" and client in each.culprits for pattern, client in found), each


@pytest.mark.parametrize("kind", ["crash_loop", "lost_session"])
def test_lines_of_brokers_alone_call_deaths_and_pauses_by_their_name_or_leave_open_which_it_was(kind, incidents):
    for each in incidents(kind):
        patterns = {pattern for pattern, _, _ in each.found["lines"].storms}
        assert len(patterns & {kind, "crash_or_pause"}) == len(patterns) == 1, each


@pytest.mark.parametrize("kind", OF_ONE_CLIENT)
@pytest.mark.parametrize("depth", ["all", "lines and clients", "lines"])
def test_the_storm_names_whoever_is_behind_it(kind, depth, incidents):
    for each in incidents(kind):
        assert {client for _, _, client in each.found[depth].storms} <= each.culprits, each


@pytest.mark.parametrize("depth", DEPTHS)
def test_calm_groups_are_left_alone_and_a_deploy_is_no_alarm(depth, played):
    for number in range(CALM):
        assert not played("calm", number).false_alarms(depth), played("calm", number)


def test_some_calm_groups_are_deployed_and_told_of_as_that(played):
    told = [each for each in (played("calm", number) for number in range(CALM)) if each.found["all"].storms]
    assert told and all("deploy" in each.acts for each in told)


@pytest.mark.parametrize("kind", [*KINDS, "calm"])
def test_what_the_played_brokers_wrote_agrees_with_the_replay(kind):
    audit = tables_of(play(kind, 0, SEED), "all")["replay_audit"]
    assert audit and [row for row in audit if row["agrees"] is False] == []


def test_the_same_seed_plays_the_same_group():
    first, again = (play("crash_loop", 1, SEED).world.paper for _ in range(2))
    assert first.records and (first.records, first.events, first.requests) == (
        again.records,
        again.events,
        again.requests,
    )
    other = play("crash_loop", 1, SEED + 1).world.paper
    assert other.events != first.events
