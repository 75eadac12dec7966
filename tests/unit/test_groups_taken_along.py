"""Which groups of those that were left unfinished a run replays, beside those that are due."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from transforms.gold.timelines.starting_points import LEAST_TAKEN_ALONG, taken

Group = dict[str, Any]
MOST_LISTED = 50


def group(number: int, is_due: bool, since: float | None = None) -> Group:
    return {"group_id": f"group-{number:04d}", "is_due": is_due, "since": since}


GROUPS = st.builds(
    lambda due, others: [group(number, number < due, since) for number, since in enumerate([None] * due + others)],
    st.integers(0, 2 * MOST_LISTED),
    st.lists(st.none() | st.floats(0, 1e12), max_size=200),
)


@given(GROUPS)
def test_whoever_is_due_is_replayed_and_of_others_who_is_furthest_behind(groups: list[Group]) -> None:
    replayed = taken(groups, MOST_LISTED)
    due = [each for each in groups if each["is_due"]]
    along = [each for each in replayed if not each["is_due"]]
    left = [each for each in groups if each not in replayed]
    assert [each for each in replayed if each["is_due"]] == due
    assert len(along) + len(left) == len(groups) - len(due)
    assert len(replayed) <= MOST_LISTED or not left
    if left:
        assert len(along) == min(max(len(due), LEAST_TAKEN_ALONG), MOST_LISTED - len(due))
    if left and along:
        assert max(each["since"] or 0.0 for each in along) <= min(each["since"] or 0.0 for each in left)


def test_a_run_of_many_groups_leaves_none_behind() -> None:
    for due, left in ((MOST_LISTED, 200), (MOST_LISTED - 10, 190), (MOST_LISTED + 1, 0)):
        groups = [group(number, number < due, float(number)) for number in range(due + 200)]
        assert len(groups) - len(taken(groups, MOST_LISTED)) == left


def test_where_few_were_left_behind_each_run_catches_up_with_all() -> None:
    """Without news of any group, too."""
    groups = [group(number, False, float(number)) for number in range(LEAST_TAKEN_ALONG)]
    assert taken(groups, MOST_LISTED) == groups
