"""What compaction and retention leave of a group's records, in whatever state, is taken without a word."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.oracle_modern import consumer_history, share_history, streams_history
from tests.oracle_modern.histories import put_down_and_taken_up, walk
from tests.oracle_modern.kept import kept
from transforms.coordinator.consumer.machine import Machine
from transforms.coordinator.consumer.requests import HeartbeatRequest
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.states import ModernState
from transforms.coordinator.modern.topics import Topic, Topics
from transforms.coordinator.modern.world import ModernSettings, World

MODERN = list(kept("histories_modern"))
OTHERS = list(kept("histories_share_streams"))

CASES: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "consumer": (consumer_history, MODERN),
    "share": (share_history, [step for step in OTHERS if step["kind"] == "share"]),
    "streams": (streams_history, [step for step in OTHERS if step["kind"] == "streams"]),
}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("kept_share", [0.9, 0.5, 0.1])
def test_a_group_with_gaps_in_its_records_still_takes_and_answers_everything(kind: str, kept_share: float):
    """Requests are foreseen with the topics known, so that targets are computed out of what is there."""
    module, steps = CASES[kind]
    random = Random(f"{kind} {kept_share}")
    answers = 0
    for history, step in walk(steps, module.History):
        left = [record for record in step["records"] if random.random() < kept_share]
        before = put_down_and_taken_up(history.machine)
        outcome = history.foresee(step)
        answers += outcome is not None and outcome.answer is not None
        history.follow({**step, "records": left}, before)
        if history.machine.present is not None:
            assert history.machine.present.state.value
    assert answers > 2_000


def test_a_lone_tombstone_makes_no_group():
    for module, type_ids in (
        (consumer_history, (3, 5, 7, 8, 16)),
        (share_history, (10, 14)),
        (streams_history, (19, 22)),
    ):
        machine = module.History().machine
        step = {
            "records": [{"type": each, "key": {"groupId": "g", "memberId": "m"}, "value": None} for each in type_ids]
        }
        machine.take(module.records_of(step))
        assert machine.present is None
        assert machine.delete(World()).answer.error.name == "GROUP_ID_NOT_FOUND"


def test_a_group_whose_assignor_is_not_kafkas_own_is_followed_all_the_same():
    settings = ModernSettings(assignors=("uniform", "range", "mine"))
    world = World(Topics([Topic("foo", "AAAAAAAADwAAAAAAAAAAAQ", 6)]), settings)
    machine = Machine()
    join = HeartbeatRequest("m1", 0, None, None, 1_000, ("foo",), None, "mine", [])
    outcome = machine.handle(join, world)
    assert outcome.answer is not None
    assert (outcome.answer.error, outcome.answer.epoch) == (Error.NONE, 1)
    assert machine.present is not None
    assert machine.present.state is ModernState.STABLE
