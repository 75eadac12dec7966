from __future__ import annotations

import random

import pytest

from tests.support.captures import ALL
from tests.support.pure_pipeline import SILVER, replay
from tests.truth.checks import CHECKS
from tests.truth.expected import LEAST_COMPARED


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", ALL)
def test_replayed_tables_agree_with_what_the_clients_and_the_broker_said(name, check, truth_of, pure_tables):
    found = CHECKS[check](truth_of(name), pure_tables(name))
    assert not found, f"{len(found)} of {found.compared} comparisons fail:\n" + "\n".join(found[:20])
    assert found.compared >= LEAST_COMPARED.get(check, {}).get(name, 1)


@pytest.mark.parametrize("name", ALL)
def test_the_order_in_which_evidence_arrives_does_not_matter(name, pure_tables):
    tables = pure_tables(name)
    shuffled = {table: random.Random(7).sample(tables[table], len(tables[table])) for table in SILVER}
    for table, rows in replay(shuffled).items():
        assert rows == tables[table], table
