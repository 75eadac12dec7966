from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.oracle_modern import share_history, streams_history
from tests.oracle_modern.histories import comparable, put_down_and_taken_up, walk, where
from tests.oracle_modern.kept import kept

STEPS = list(kept("histories_share_streams"))


@pytest.mark.parametrize(("kind", "module"), [("share", share_history), ("streams", streams_history)])
def test_a_group_is_what_kafka_has_by_its_records_and_each_answer_and_record_is_foreseen(kind: str, module: Any):
    found: Counter[str] = Counter()
    steps = [step for step in STEPS if step["kind"] == kind]
    for history, step in walk(steps, module.History):
        before = put_down_and_taken_up(history.machine)
        outcome = history.foresee(step)
        if outcome is not None:
            assert comparable(outcome.records) == comparable(module.records_of(step)), where(step)
            found["batches"] += 1
        if outcome is not None and outcome.answer is not None:
            assert module.same_answer(outcome.answer, step), where(step)
            found["answers"] += 1
        history.follow(step, before)
        if history.state["type"] == kind:
            assert history.machine.present is not None, where(step)
            assert module.drawn(history.machine.present) == module.printed(history.state), where(step)
            found["states"] += 1
    assert found["answers"] == sum(step["op"]["kind"] == "request" for step in steps)
    assert found["states"] > 3_900
