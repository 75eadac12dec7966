from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.oracle_modern import consumer_history, share_history, streams_history
from tests.oracle_modern.histories import Step, put_down_and_taken_up, walk
from tests.oracle_modern.kept import kept

OTHERS = list(kept("histories_share_streams"))
SHARE = [step for step in OTHERS if step["kind"] == "share"]
STREAMS = [step for step in OTHERS if step["kind"] == "streams"]
same_tasks = partial(streams_history.same_answer, with_statuses=False)


@pytest.mark.parametrize(
    ("steps", "new", "same_answer", "least"),
    [
        pytest.param(
            list(kept("histories_modern")),
            consumer_history.History,
            consumer_history.same_answer,
            13_000,
            id="consumer",
        ),
        pytest.param(SHARE, share_history.History, share_history.same_answer, 3_600, id="share"),
        pytest.param(STREAMS, streams_history.History, same_tasks, 3_600, id="streams"),
    ],
)
def test_answers_follow_from_the_records_where_nothing_is_known_of_the_topics(
    steps: list[Step], new: Callable[[list[Step]], Any], same_answer: Callable[[Any, Step], bool], least: int
):
    asked, missed = 0, []
    for history, step in walk(steps, new):
        before = put_down_and_taken_up(history.machine)
        answer = history.observe(step)
        if answer is not None:
            asked += 1
            if not same_answer(answer, step):
                missed.append((step["history"], step["step"]))
        history.follow(step, before)
    assert asked > least
    assert missed == []
