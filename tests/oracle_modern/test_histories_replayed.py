"""Kafka's own histories through the whole replay, from records alone: its tables say at each moment what Kafka had."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter

import pytest

from tests.oracle_modern.histories import Step, where
from tests.oracle_modern.kept import kept
from tests.oracle_modern.replayed import Replayed, owned, steps_of, target

EPOCHS = ("consumer", "share", "streams")
_APART_MS = 1_000


def _histories(name: str, is_apart: bool) -> list[list[Step]]:
    """The histories; several steps of one are of one millisecond now and then, unless each is put at one of its own."""
    found = [list(steps) for _, steps in groupby(kept(name), itemgetter("kind", "history"))]
    if not is_apart:
        return found
    return [[{**step, "t": place * _APART_MS} for place, step in enumerate(steps)] for steps in found]


def _compare(replayed: Replayed, step: Step, group: Step, found: Counter[str]) -> None:
    """Compare the tables with the group as Kafka had it; a member's epoch or target may not be known."""
    at = step["t"]
    if group["type"] not in EPOCHS:
        assert replayed.state_at(at)[0] not in EPOCHS, where(step)
        return
    assert replayed.state_at(at) == (group["type"], group["state"]), where(step)
    move = replayed.move_at(at)
    assert move is not None
    epoch, planned, members = replayed.standing_at(at, move["life"], group["type"])
    assert (epoch, planned) == (group["epoch"], max(group["assignmentEpoch"], 0)), where(step)
    assert set(members) == set(group["members"]), where(step)
    for name, told in group["members"].items():
        member = members[name]
        assert set(member.owned) == owned(told), (where(step), name)
        assert member.epoch in (told["epoch"], None), (where(step), name)
        assert member.target is None or set(member.target) == target(told), (where(step), name)
        found["members"] += 1
        found["not known"] += member.epoch is None or member.target is None
    found["groups"] += 1


@pytest.mark.parametrize("is_apart", [True, False])
@pytest.mark.parametrize(
    ("name", "steps", "groups"), [("histories_modern", 15_848, 13_700), ("histories_share_streams", 8_001, 7_900)]
)
def test_state_epochs_members_assignments_and_targets_are_kafkas_after_each_step(
    name: str, steps: int, groups: int, is_apart: bool
):
    found: Counter[str] = Counter()
    compared = 0
    for history in _histories(name, is_apart):
        replayed = Replayed(history)
        for step, group in steps_of(history):
            _compare(replayed, step, group, found)
            compared += 1
    assert compared == steps if is_apart else compared > 0.95 * steps
    assert found["groups"] >= groups
    assert found["not known"] <= 0.01 * found["members"]
