"""Logs of real consumers, each of the group `my, group [x]` with the instance id `i1`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from transforms.loglines.entries.entries import entries
from transforms.loglines.parse import parse_entry

DATA = Path(__file__).resolve().parents[3] / "data" / "loglines"
CLASSIC, NEW = "client_3.9.1.log", "client_4.2.0_new_protocol.log"
ALL, FIRST_TWO = ["orders-0", "orders-1", "orders-2"], ["orders-0", "orders-1"]


def rows_of(name: str) -> list[Any]:
    with (DATA / name).open(encoding="utf-8", newline="\n") as lines:
        return [fact for entry in entries(lines) for fact in parse_entry(entry.text, entry.logged_at)]


@pytest.mark.parametrize("name", [CLASSIC, NEW])
def test_every_row_says_whose_it_is(name: str) -> None:
    rows = rows_of(name)
    assert rows
    assert {(row.group_id, row.group_instance_id) for row in rows} == {("my, group [x]", "i1")}
    assert len({row.client_id for row in rows}) == len({row.member_id for row in rows} - {None}) == 1
    assert "unrecognised" not in {row.event for row in rows}


def test_a_classic_consumer_goes_from_generation_to_generation() -> None:
    rows = rows_of(CLASSIC)
    told = [row for row in rows if row.event in ("joined", "synced")]
    assert [(row.event, row.generation) for row in told] == [
        (event, generation) for generation in (2, 3, 4) for event in ("joined", "synced")
    ]
    assert [row.partitions for row in rows if row.event == "assigned"] == [FIRST_TWO, ALL, FIRST_TWO]
    assert [row.partitions for row in rows if row.event == "revoked"] == [FIRST_TWO, ALL, FIRST_TWO]
    states = [row.client_state for row in rows if row.client_state is not None]
    assert states[:3] == ["PREPARING_REBALANCE", "COMPLETING_REBALANCE", "STABLE"]
    assert states[-1] == "UNJOINED"


def test_a_consumer_of_the_new_protocol_goes_from_epoch_to_epoch() -> None:
    changes = [row for row in rows_of(NEW) if row.event == "state_changed"]
    assert [(row.client_state, row.generation) for row in changes] == [
        ("JOINING", 0),
        *((state, epoch) for epoch in (2, 3) for state in ("RECONCILING", "ACKNOWLEDGING", "STABLE")),
    ]
    assert [row.partitions for row in rows_of(NEW) if row.event == "reconciling"] == [[], ALL]


def states_of(name: str, client: str) -> list[tuple[str, int]]:
    changes = [row for row in rows_of(f"clients/{name}") if row.event == "state_changed" and row.client_id == client]
    return [(row.client_state, row.generation) for row in changes]


def test_a_consumer_of_the_new_protocol_that_is_refused_says_by_which_way_it_went() -> None:
    around = ["RECONCILING", "ACKNOWLEDGING", "STABLE"]
    of_a = [state for state, _ in states_of("java_4.2.0_epochs_refused.log", "a")]
    assert of_a.count("FENCED") == 2
    first = of_a.index("FENCED")
    assert of_a[first - 1 : first + 5] == ["STABLE", "FENCED", "JOINING", *around]
    assert ("FATAL", 9) in states_of("java_4.2.0_epochs_refused.log", "b")
    assert ("FATAL", 0) in states_of("java_4.2.0_epochs_silent.log", "b2")
    of_s = states_of("java_4.2.0_epochs_refused.log", "s")
    stale = of_s.index(("STALE", -1))
    assert of_s[stale - 2 : stale + 2] == [("PREPARE_LEAVING", 11), ("LEAVING", -1), ("STALE", -1), ("JOINING", 0)]
    assert of_s[-3:] == [("PREPARE_LEAVING", 13), ("LEAVING", -1), ("UNSUBSCRIBED", -1)]


@pytest.mark.parametrize("name", ["java_4.2.0_epochs_refused.log", "java_4.2.0_epochs_silent.log"])
def test_no_line_of_the_new_protocol_goes_unrecognised(name: str) -> None:
    rows = rows_of(f"clients/{name}")
    assert {row.group_id for row in rows} == {"orders-app"}
    assert "unrecognised" not in {row.event for row in rows}
