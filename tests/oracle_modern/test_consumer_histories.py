from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle_modern.consumer_history import (
    History,
    drawn,
    foreseen_records,
    named,
    observed_records,
    printed,
    same_answer,
    told_by_name,
)
from tests.oracle_modern.histories import Step, put_down_and_taken_up, walk, where
from tests.oracle_modern.kept import kept

KINDS = ("plain", "static", "regex", "hetero", "migrate", "migrate2")
STEPS = list(kept("histories_modern"))


def _walk(kind: str) -> Counter[str]:
    """Go through all histories of a kind; return what was asked and what was not foreseen."""
    found: Counter[str] = Counter()
    for history, step in walk((step for step in STEPS if step["kind"] == kind), History):
        _take(history, step, found)
    return found


def _take(history: History, step: Step, found: Counter[str]) -> None:
    before = put_down_and_taken_up(history.machine)
    outcome = history.foresee(step)
    if outcome is not None and outcome.answer is not None:
        found["answers"] += 1
        found["other answers"] += not same_answer(outcome.answer, step)
        told = told_by_name(step)
        if told is not None:
            found["told by name"] += 1
            found["other answers"] += named(outcome.answer.assignment or {}, history.topics) != told
    if outcome is not None and (outcome.answer is not None or step["op"]["kind"] != "request"):
        foreseen, observed = (
            foreseen_records(outcome, history.topics),
            observed_records(step, history.topics),
        )
        found["batches"] += 1
        found["other batches"] += sorted(foreseen, key=str) != sorted(observed, key=str)
        found["batches in another order"] += foreseen != observed
    history.follow(step, before)
    if history.state["type"] == "consumer":
        assert history.machine.present is not None, where(step)
        assert drawn(history.machine.present) == printed(history.state), where(step)
        found["states"] += 1
    else:
        assert history.machine.present is None, where(step)


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_is_what_kafka_has_by_its_records_and_each_answer_and_record_is_foreseen(kind: str):
    """After each step the group is put down as bytes, so that it is shown to be a plain value as well."""
    found = _walk(kind)
    assert found["states"] > 1_000
    assert found["answers"] > 1_000
    assert found["other answers"] == 0
    assert found["told by name"] > 50 or not kind.startswith("migrate")
    assert found["other batches"] == 0
    assert found["batches in another order"] <= found["batches"] / 200
