"""Brokers with ZooKeeper, whose coordinators had other rules: their answers are predicted all the same."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.captures import OLD
from tests.truth.checks_clients import assignments_told, requests_counted
from tests.truth.checks_contract import values_are_allowed

LEAST_REQUESTS = 2_400
AGREE, NOT_PREDICTED = 0.999, 0.005
"""At the least, and at the most."""


@pytest.mark.parametrize("name", OLD)
def test_answers_are_predicted(name, pure_tables):
    verdicts = Counter(row["agrees"] for row in pure_tables(name)["replay_audit"])
    count = verdicts.total()
    assert count >= LEAST_REQUESTS
    assert verdicts[True] >= AGREE * count, verdicts
    assert verdicts[None] <= NOT_PREDICTED * count, verdicts


@pytest.mark.parametrize("name", OLD)
def test_every_line_is_understood(name, pure_tables):
    tables = pure_tables(name)
    assert tables["rejected"] == []
    assert [row["attributes"] for row in tables["coordinator_events"] if row["event"] == "unrecognised"] == []


@pytest.mark.parametrize("check", [requests_counted, assignments_told, values_are_allowed])
@pytest.mark.parametrize("name", OLD)
def test_tables_agree_with_what_the_clients_said(name, check, truth_of, pure_tables):
    found = check(truth_of(name), pure_tables(name))
    assert found.compared
    assert not found, "\n".join(found[:20])
