"""However evidence is cut, and wherever the state is put down and taken up again: the rows are those of one pass."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.coordinator.random_history import Evidence, histories
from transforms.coordinator.evidence.connections import Connections
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.sequence import in_order
from transforms.coordinator.fold import advance, begin, dump, load, open_rows
from transforms.coordinator.replay import replay
from transforms.coordinator.rows.tables import Rows
from transforms.coordinator.state import VERSION, UnknownVersionError

Counted = dict[str, Counter[str]]


def items_of(evidence: Evidence) -> list[Item]:
    return in_order(Connections(), *evidence)


def counted(rows: Rows) -> Counted:
    """Rows by table, in no order, each as often as it is there."""
    return {table: Counter(map(repr, getattr(rows, table))) for table in Rows.__struct_fields__}


def folded(items: list[Item], cuts: list[int]) -> tuple[Rows, list[int]]:
    """Rows of a fold that is put down at each cut, and how large its state was there."""
    state, rows, sizes, last = begin("c", "orders", 50), Rows(), [], 0
    for cut in [*sorted(cuts), len(items)]:
        state, settled = advance(state, items[last:cut])
        rows.extend(settled)
        raw = dump(state)
        sizes.append(len(raw))
        state, last = load(raw), cut
    rows.extend(open_rows(state))
    return rows, sizes


@given(histories(), st.lists(st.integers(0, 400), max_size=6))
@settings(max_examples=150, deadline=None)
def test_a_history_may_be_cut_anywhere(evidence: Evidence, cuts: list[int]) -> None:
    whole, _ = folded(items_of(evidence), [])
    items = items_of(evidence)
    parts, _ = folded(items, [cut % (len(items) + 1) for cut in cuts])
    assert counted(parts) == counted(whole)


@given(histories())
@settings(max_examples=60, deadline=None)
def test_open_rows_leave_the_state_as_it_is(evidence: Evidence) -> None:
    state, _ = advance(begin("c", "orders", 50), items_of(evidence))
    before = dump(state)
    first = counted(open_rows(state))
    assert dump(state) == before
    assert counted(open_rows(state)) == first


@given(histories(), st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_order_in_which_rows_arrive_does_not_matter(evidence: Evidence, dice: random.Random) -> None:
    shuffled: Any = tuple(dice.sample(rows, len(rows)) for rows in evidence)
    assert [item.rank for item in items_of(shuffled)] == [item.rank for item in items_of(evidence)]
    assert counted(folded(items_of(shuffled), [])[0]) == counted(folded(items_of(evidence), [])[0])


@given(histories())
@settings(max_examples=60, deadline=None)
def test_every_row_has_its_own_key(evidence: Evidence) -> None:
    rows = replay("c", "orders", *evidence, 50)
    for name, key in (
        ("generations", lambda row: (row.life, row.generation)),
        ("generation_members", lambda row: (row.life, row.generation, row.member_id)),
        ("transitions", lambda row: (row.life, row.seq)),
        ("member_sessions", lambda row: (row.life, row.member_id)),
        ("replay_audit", lambda row: (row.source_file, row.line_number, row.seq)),
    ):
        keys = Counter(map(key, getattr(rows, name)))
        assert [each for each, count in keys.items() if count > 1] == [], name


@pytest.mark.parametrize("raw", [b"", b"\x00", b"\x92\x00\xc0", b"no state at all"])
def test_bytes_of_another_layout_are_known_as_such(raw: bytes) -> None:
    with pytest.raises(UnknownVersionError):
        load(raw)


def test_a_state_of_another_version_is_told_apart() -> None:
    raw = dump(begin("c", "orders"))
    assert raw[:2] == bytes([0x92, VERSION])
    with pytest.raises(UnknownVersionError, match=f"version {VERSION + 1}"):
        load(bytes([0x92, VERSION + 1]) + raw[2:])
