"""What runs of the replay changed, as those that follow ask for it."""

from __future__ import annotations

from typing import Any

from jobs.timelines.changes import MOST_RUNS, Change, Groups, changed_since, with_change


def change(
    before: int, groups: dict[str, float | None] | None, others: float | None = None, quiet: float | None = None
) -> Change:
    marked = {"gold.generations": str(before), "gold.replay_audit": "any"}
    return Change(before=marked, groups=groups, others=others, quiet=quiet)


def marks(number: int) -> dict[str, str]:
    return {"gold.generations": str(number)}


def test_of_several_runs_the_earliest_change_of_each_group_counts() -> None:
    changes = [change(1, {"old": 1.0}), change(2, {"a": 5.0, "b": 9.0}), change(3, {"a": 3.0, "c": None})]
    assert changed_since(changes, marks(2)) == Groups(named={"a": 3.0, "b": 9.0, "c": None})
    assert changed_since(changes, marks(3)) == Groups(named={"a": 3.0, "c": None})


def test_a_group_that_was_replaced_as_a_whole_stays_so() -> None:
    assert changed_since([change(1, {"a": None}), change(2, {"a": 7.0})], marks(1)) == Groups(named={"a": None})


def test_whoever_lags_too_far_behind_reads_everything() -> None:
    changes: tuple[Change, ...] = ()
    for number in range(MOST_RUNS + 1):
        changes = with_change(changes, change(number, {"a": float(number)}))
    everything: Any = None
    assert changed_since(changes, marks(0)) is everything
    assert changed_since(changes, marks(1)) == Groups(named={"a": 1.0})
    assert changed_since(changes, marks(99)) is everything


def test_a_run_over_everything_in_between_means_everything() -> None:
    assert changed_since([change(1, {"a": 1.0}), change(2, None)], marks(1)) is None


def test_of_groups_too_many_to_name_those_are_named_that_went_further_back() -> None:
    changes = [change(1, {"a": 5.0, "b": 9.0}), change(2, {"a": None, "c": 3.0}, others=7.0), change(3, {"d": 8.0})]
    named = {"a": None, "b": 7.0, "c": 3.0, "d": 7.0}
    assert changed_since(changes, marks(1)) == Groups(named=named, others=7.0)
    assert changed_since(changes, marks(3)) == Groups(named={"d": 8.0})


def test_groups_that_said_only_that_they_live_are_told_of_from_the_first_run_on_that_heard_it() -> None:
    changes = [change(1, {"a": 5.0}, quiet=4.0), change(2, {}, quiet=6.0), change(3, {"b": 8.0}, others=9.0)]
    assert changed_since(changes, marks(1)) == Groups(named={"a": 5.0, "b": 8.0}, others=9.0, quiet=4.0)
    assert changed_since(changes, marks(2)) == Groups(named={"b": 8.0}, others=9.0, quiet=6.0)
    assert changed_since(changes, marks(3)) == Groups(named={"b": 8.0}, others=9.0)
