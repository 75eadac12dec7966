"""Kafka's own histories through the whole replay: from records alone its tables say at each moment what Kafka had.

And with what was asked, as lines of a request log, the audit says what Kafka answered.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter

import pytest

from tests.oracle_modern.histories import Step, where
from tests.oracle_modern.kept import kept
from tests.oracle_modern.replayed import Replayed, owned, steps_of, target
from tests.oracle_modern.request_log import exchanges, rows_of
from tests.unit.coordinator.converted_rows import broker
from tests.unit.coordinator.evidence_rows import Row

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


# --- what was answered ---------------------------------------------------------------------------------------------

_BEGINS_AT = 1_700_000_000_000
_LEAST_MS = 3
"""So far apart requests are put that were sent in one millisecond: in which order they came, only their times tell."""


def _dated(steps: list[Step]) -> list[Step]:
    found, last = [], -_LEAST_MS
    for step in steps:
        last = max(step["t"], last + _LEAST_MS)
        found.append({**step, "t": _BEGINS_AT + last})
    return found


def _audited(steps: list[Step], lie: int | None = None) -> list[Row]:
    """The audit of groups of epochs; where one number is given, the answer of that place was another one."""
    dated = _dated(steps)
    asked = exchanges(dated)
    if lie is not None:
        asked[lie].error, asked[lie].response = "NOT_ENOUGH_REPLICAS", None
    printed = [{**row, "logged_at": _BEGINS_AT - 1_000} for row in broker("4.2.0")]
    rows = Replayed(dated, rows_of(asked), printed).tables["replay_audit"]
    return sorted((row for row in rows if row["group_type"] in EPOCHS), key=itemgetter("handled_at"))


@pytest.mark.parametrize(
    ("name", "least"),
    [("histories_modern", {"consumer": 13_000}), ("histories_share_streams", {"share": 3_687, "streams": 3_659})],
)
def test_what_groups_of_epochs_answer_is_foreseen(name: str, least: dict[str, int]):
    """Error, epoch and assignment, without the topics and what else the coordinator knows that no evidence has."""
    found: Counter[tuple[str, bool | None]] = Counter()
    told = 0
    for steps in _histories(name, is_apart=False):
        for row in _audited(steps):
            found[row["group_type"], row["agrees"]] += 1
            told += row["is_assignment_agreed"] is True
            assert not row["is_answer_used"], row
    assert {group_type for group_type, _ in found} == set(least)
    for group_type, count in least.items():
        assert found[group_type, True] >= count
    assert found.total() == sum(count for (_, agrees), count in found.items() if agrees)
    assert told > 0.1 * found.total()


def test_an_answer_that_was_another_one_is_found():
    steps = _histories("histories_modern", is_apart=False)[0]
    for lie in range(0, 60, 7):
        differ = [row for row in _audited(steps, lie) if not row["agrees"]]
        assert [row["observed_error"] for row in differ] == [19], lie
