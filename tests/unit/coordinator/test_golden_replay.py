"""The replay by example: histories in, gold tables out, without Spark; and what the examples do not show."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.words import END_CAUSES, EVIDENCE, GENERATION_OUTCOMES, GROUP_STATES, TRIGGERS
from tests.unit.coordinator.golden import KNOWN_WRONG, Case, cases, judged
from transforms.coordinator.classic.machine.transitions import TRANSITIONS


@pytest.mark.parametrize("case", judged())
def test_a_drawn_history_is_replayed_as_drawn(case: Case) -> None:
    case.compare(case.replayed())


@pytest.mark.parametrize("case", judged())
def test_a_drawn_history_is_replayed_the_same_from_its_end(case: Case) -> None:
    case.compare(case.replayed(is_reversed=True))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases()])
def test_every_case_says_what_comes_and_why(case: Case) -> None:
    """A table is drawn with its rows, or with "no rows"; an empty drawing would prove nothing."""
    assert case.history.records or case.history.events or case.history.requests
    assert case.expected.tables
    assert case.expected.settings == {}
    assert 0 < len(case.why.splitlines()) <= 10
    for table, rows in case.expected.tables.items():
        assert bool(rows) == bool(case.expected.columns[table]), f"{table}: neither rows nor 'no rows'"


def test_what_is_known_to_be_wrong_is_a_case() -> None:
    assert set(KNOWN_WRONG) <= {case.name for case in cases()}


WORDS: dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    "trigger": (TRIGGERS, (("generations", "trigger"),)),
    "outcome": (GENERATION_OUTCOMES, (("generations", "outcome"),)),
    "end cause": (END_CAUSES, (("member_sessions", "end_cause"),)),
    "evidence": (EVIDENCE, (("generations", "evidence"),)),
    "state": (
        GROUP_STATES,
        (("transitions", "from_state"), ("transitions", "to_state"), ("replay_audit", "state_before")),
    ),
}
"""Words of the tables, and the columns in which cases show them."""

NOT_SHOWN: dict[tuple[str, ...], str] = {
    ("trigger", "rebalance_timeout"): "it ends a join phase; in a classic group it never begins one",
    ("end cause", "fenced"): "a classic member whose instance another takes over ends as 'replaced'",
    ("evidence", "client_log"): "what clients log makes no row of these tables",
    ("Empty", "group_removed", "Dead"): "an empty group can be deleted, and its expiry looks the same",
    (
        "Stable",
        "loaded_over_capacity",
        "PreparingRebalance",
    ): "its one witness, a line, shows it as a rebalance observed",
    **dict.fromkeys(
        (
            ("trigger", "converted"),
            ("trigger", "member_removed"),
            ("trigger", "regex_changed"),
            ("trigger", "topology_changed"),
            ("trigger", "partitions_initialised"),
            ("trigger", "instance_replaced"),
            ("end cause", "removed"),
            ("state", "NotReady"),
            ("state", "Assigning"),
            ("state", "Reconciling"),
        ),
        "of groups that go by epochs: the truth tests show them",
    ),
}
"""What no case shows, and why."""


def shown(table: str, *columns: str) -> list[tuple[Any, ...]]:
    """What the cases draw in some columns of a table, taken together."""
    rows = [row for case in cases() for row in case.expected.tables.get(table, ())]
    return [tuple(row[name] for name in columns) for row in rows if all(name in row for name in columns)]


def drawn_words(table: str, column: str) -> set[str]:
    """The words that the cases draw in one column, which holds one of them or a list."""
    values = [value for (value,) in shown(table, column) if value is not None]
    return {word for value in values for word in (value if isinstance(value, list) else [value])}


def test_every_word_is_shown_by_some_case() -> None:
    missing = {
        (kind, word)
        for kind, (words, places) in WORDS.items()
        for word in set(words) - set().union(*(drawn_words(*place) for place in places))
    }
    assert missing == {key for key in NOT_SHOWN if len(key) == 2}


def test_every_move_of_the_state_machine_is_shown_by_some_case() -> None:
    moves = {
        (state.value, event.value, cell.next_state.value)
        for (state, event), cell in TRANSITIONS.items()
        if cell.next_state is not None
    }
    missing = moves - set(shown("transitions", "from_state", "event", "to_state"))
    assert missing == {key for key in NOT_SHOWN if len(key) == 3}
