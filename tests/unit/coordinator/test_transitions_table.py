"""The state machine's table against what Kafka says of its states."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.words import CLASSIC_STATES
from transforms.coordinator.classic.machine.diagram import mermaid
from transforms.coordinator.classic.machine.events import Event
from transforms.coordinator.classic.machine.transitions import COMPLETION, ENTER, TRANSITIONS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.states import GroupState

VALID_PREVIOUS_STATES = {
    GroupState.EMPTY: {GroupState.PREPARING},
    GroupState.PREPARING: {GroupState.STABLE, GroupState.COMPLETING, GroupState.EMPTY},
    GroupState.COMPLETING: {GroupState.PREPARING},
    GroupState.STABLE: {GroupState.COMPLETING},
    GroupState.DEAD: {GroupState.STABLE, GroupState.PREPARING, GroupState.COMPLETING, GroupState.EMPTY},
}
"""ClassicGroupState of Kafka 4.2 (Dead may also follow Dead there, when a dead group is unloaded)."""


def test_the_tables_changes_of_state_are_exactly_kafkas():
    changes: dict[GroupState, set[GroupState]] = {state: set() for state in GroupState}
    for (state, _), cell in TRANSITIONS.items():
        if cell.next_state is not None:
            changes[cell.next_state].add(state)
    assert changes == VALID_PREVIOUS_STATES


def test_every_event_has_a_cell_and_every_state_an_entry():
    assert {event for _, event in TRANSITIONS} == set(Event) - {Event.GROUP_LOADED}
    assert set(ENTER) == set(GroupState)
    assert {state.value for state in GroupState} == set(CLASSIC_STATES)


def test_a_dead_group_has_no_cells():
    assert not [event for state, event in TRANSITIONS if state is GroupState.DEAD]


@pytest.mark.parametrize("dialect", COMPLETION)
def test_events_that_bring_nobody_in_or_out_do_not_end_a_join_phase(dialect):
    for event in (Event.HEARTBEAT, Event.COMMIT, Event.TXN_COMMIT):
        assert not COMPLETION[dialect][event].looks


@pytest.mark.parametrize(
    ("event", "answers"),
    [
        (Event.HEARTBEAT, {GroupState.PREPARING: 27, GroupState.COMPLETING: 0, GroupState.STABLE: 0}),
        (Event.COMMIT, {GroupState.EMPTY: 0, GroupState.PREPARING: 0, GroupState.COMPLETING: 27, GroupState.STABLE: 0}),
        (
            Event.TXN_COMMIT,
            dict.fromkeys((GroupState.EMPTY, GroupState.PREPARING, GroupState.COMPLETING, GroupState.STABLE), 0),
        ),
    ],
)
def test_answers_by_state_are_those_of_the_protocol(event, answers):
    found = {state: cell.answer for (state, each), cell in TRANSITIONS.items() if each is event}
    assert found == {state: Error(code) for state, code in answers.items()}


def test_the_diagram_shows_each_change_of_state_once():
    arrows = [line for line in mermaid().splitlines() if "-->" in line and "[*]" not in line]
    pairs = {(state, cell.next_state) for (state, _), cell in TRANSITIONS.items() if cell.next_state is not None}
    assert len(arrows) == len(pairs)


def test_the_glossary_shows_the_diagram_of_the_table_as_it_is():
    glossary = Path(__file__).parents[3] / "GLOSSARY.md"
    assert mermaid() in glossary.read_text(encoding="utf-8")
