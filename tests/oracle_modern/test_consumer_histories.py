from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from tests.oracle_modern.consumer_history import (
    History,
    Step,
    drawn,
    foreseen_records,
    observed_records,
    printed,
    same_answer,
)
from tests.oracle_modern.kept import kept
from transforms.coordinator.consumer.machine import Machine

KINDS = ("plain", "static", "regex", "hetero", "migrate", "migrate2")
STEPS = list(kept("histories_modern"))

_WRITE = msgspec.msgpack.Encoder()
_READ = msgspec.msgpack.Decoder(Machine)


def _put_down_and_taken_up(machine: Machine) -> Machine:
    copy: Machine = _READ.decode(_WRITE.encode(machine))
    assert copy == machine
    return copy


def _walk(kind: str) -> Counter[str]:
    """Go through all histories of a kind; return what was asked and what was not foreseen."""
    found: Counter[str] = Counter()
    history, number = History(), -1
    for step in STEPS:
        if step["kind"] != kind:
            continue
        if step["history"] != number:
            history, number = History(), step["history"]
        _take(history, step, found)
    return found


def _take(history: History, step: Step, found: Counter[str]) -> None:
    where = f"history {step['history']}, step {step['step']}"
    before = _put_down_and_taken_up(history.machine)
    outcome = history.foresee(step)
    if outcome is not None and outcome.answer is not None:
        found["answers"] += 1
        found["other answers"] += not same_answer(outcome.answer, step)
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
        assert history.machine.present is not None, where
        assert drawn(history.machine.present) == printed(history.state), where
        found["states"] += 1
    else:
        assert history.machine.present is None, where


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_is_what_kafka_has_by_its_records_and_each_answer_and_record_is_foreseen(kind: str):
    """After each step the group is put down as bytes, so that it is shown to be a plain value as well."""
    found = _walk(kind)
    assert found["states"] > 1_000
    assert found["answers"] > 1_000
    assert found["other answers"] == 0
    assert found["other batches"] == 0
    assert found["batches in another order"] <= found["batches"] / 200


def test_answers_follow_from_the_records_where_nothing_is_known_of_the_topics():
    asked, missed = 0, []
    history, number = History(), -1
    for step in STEPS:
        if step["history"] != number:
            history, number = History(), step["history"]
        before = _put_down_and_taken_up(history.machine)
        answer = history.observe(step)
        if answer is not None:
            asked += 1
            if not same_answer(answer, step):
                missed.append((step["history"], step["step"]))
        history.follow(step, before)
    assert asked > 13_000
    assert missed == []
