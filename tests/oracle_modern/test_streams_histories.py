from __future__ import annotations

from collections import Counter

import msgspec

from tests.oracle_modern.kept import kept
from tests.oracle_modern.streams_history import History, comparable, drawn, printed, records_of, same_answer
from transforms.coordinator.streams.machine import Machine

STEPS = [step for step in kept("histories_share_streams") if step["kind"] == "streams"]

_WRITE = msgspec.msgpack.Encoder()
_READ = msgspec.msgpack.Decoder(Machine)


def _put_down_and_taken_up(machine: Machine) -> Machine:
    copy: Machine = _READ.decode(_WRITE.encode(machine))
    assert copy == machine
    return copy


def test_a_streams_group_is_what_kafka_has_by_its_records_and_each_answer_and_record_is_foreseen():
    found: Counter[str] = Counter()
    history, number = History(), -1
    for step in STEPS:
        if step["history"] != number:
            number = step["history"]
            history = History(each for each in STEPS if each["history"] == number)
        where = f"history {step['history']}, step {step['step']}"
        before = _put_down_and_taken_up(history.machine)
        outcome = history.foresee(step)
        if outcome is not None:
            assert comparable(outcome.records) == comparable(records_of(step)), where
            found["batches"] += 1
        if outcome is not None and outcome.answer is not None:
            assert same_answer(outcome.answer, step), where
            found["answers"] += 1
        history.follow(step, before)
        if history.state["type"] == "streams":
            assert history.machine.present is not None, where
            assert drawn(history.machine.present) == printed(history.state), where
            found["states"] += 1
    assert found["answers"] == sum(step["op"]["kind"] == "request" for step in STEPS)
    assert found["states"] > 3_900


def test_answers_of_a_streams_group_follow_from_the_records_where_nothing_is_known_of_the_topics():
    asked, missed = 0, []
    history, number = History(), -1
    for step in STEPS:
        if step["history"] != number:
            number = step["history"]
            history = History(each for each in STEPS if each["history"] == number)
        before = _put_down_and_taken_up(history.machine)
        answer = history.observe(step)
        if answer is not None:
            asked += 1
            if not same_answer(answer, step, with_statuses=False):
                missed.append((step["history"], step["step"]))
        history.follow(step, before)
    assert asked > 3_600
    assert missed == []
