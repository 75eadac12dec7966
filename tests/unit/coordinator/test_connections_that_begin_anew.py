"""Another connection can have the name of one before: a broker was started again, a client's port is the one it had."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.rows import GroupMetadataRow, GroupRequestRow, ModernGroupRecordRow
from tests.unit.coordinator.evidence_rows import request
from tests.unit.coordinator.random_history import Evidence, histories, history
from tests.unit.coordinator.test_batch import Lake, batches, counted, known_at
from transforms.coordinator.evidence.connections import Connections
from transforms.coordinator.evidence.sequence import in_order
from transforms.coordinator.evidence.tolerances import REORDER_MS
from transforms.coordinator.rows import counts

BEGINS_AT = 1_000_000.0
"""When each random history begins."""
GAPS_MS = (2 * REORDER_MS, 5 * REORDER_MS, 60 * REORDER_MS)
"""Longer than estimates of when requests were handled can be out of order."""


@pytest.fixture(autouse=True, scope="module")
def short_hours() -> Iterator[None]:
    """Hours so short that one history has some of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "HOUR_MS", 5_000)
        yield


def played_again(evidence: Evidence, other: Evidence, later_ms: float) -> Evidence:
    """Evidence, and that of another history's members on connections of the same names, with the same numbers."""
    (records, events, requests), later = evidence, [[_moved(row, later_ms) for row in kind] for kind in other]
    return records + later[0], events + later[1], requests + later[2]


def _moved(row: Any, by: float) -> Any:
    moved: Any = msgspec.json.decode(msgspec.json.encode(row).replace(b"-000", b"-900"), type=type(row))
    if isinstance(row, GroupMetadataRow | ModernGroupRecordRow):
        moved.record_offset += 1_000_000
    else:
        moved.source_file = f"again/{row.source_file}"
    for name in ("recorded_at", "logged_at", "handled_at", "answered_at"):
        if getattr(row, name, None) is not None:
            setattr(moved, name, getattr(row, name) + by)
    return moved


def ends_at(evidence: Evidence) -> float:
    return max((known_at(row) for kind in evidence for row in kind), default=BEGINS_AT)


def most_of_a_key(lake: Lake) -> int:
    """Most rows that a key of `gold.audit_counts` has."""
    keys = Counter((row.api, row.hour_at) for rows in lake.all_rows() for row in rows.audit_counts)
    return max(keys.values(), default=0)


def places_of(rows: list[Any]) -> Counter[tuple[str, int, int]]:
    return Counter((row.source_file, row.line_number, row.seq) for row in rows)


def heartbeat(number: int, at: float, line: int) -> GroupRequestRow:
    """A request of the one connection."""
    row = request(at, "Heartbeat", connection="10.0.0.1:9092-10.0.0.7:5000-1", correlation_id=number, line_number=line)
    return msgspec.convert({name: row[name] for name in GroupRequestRow.__struct_fields__}, GroupRequestRow)


# The later connection's first two requests look to be the other way round, and a run ends between the connections.
@example(history(415, 41, "3.9.1", 0.0, False), history(98, 74, "4.2.0", 0.0, False), GAPS_MS[0], random.Random(0), 2)
@given(histories(), histories(), st.sampled_from(GAPS_MS), st.randoms(use_true_random=False), st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_no_request_of_the_later_connection_is_lost(
    evidence: Evidence, other: Evidence, gap_ms: float, dice: random.Random, runs: int
) -> None:
    both = played_again(evidence, other, ends_at(evidence) - BEGINS_AT + gap_ms)
    several, one = batches(both, dice, runs, is_late=False)
    assert counted(several.all_rows()) == counted(one.all_rows())
    audited = places_of([row for rows in one.all_rows() for row in rows.replay_audit])
    assert audited == places_of(both[2])


@given(
    histories(), histories(), st.floats(0, 60_000), st.randoms(use_true_random=False), st.integers(1, 6), st.booleans()
)
@settings(max_examples=60, deadline=None)
def test_two_at_once_neither_raise_nor_count_an_hour_twice(
    evidence: Evidence, other: Evidence, later_ms: float, dice: random.Random, runs: int, is_late: bool
) -> None:
    for lake in batches(played_again(evidence, other, later_ms), dice, runs, is_late):
        assert most_of_a_key(lake) <= 1


@given(histories(), histories(), st.randoms(use_true_random=False))
@example(history(495585992, 7, "4.2.0", 0.5, False), history(515039868, 5, "4.2.0", 0.0, False), random.Random(0))
@settings(max_examples=60, deadline=None)
def test_two_requests_of_one_place_do_not_raise(evidence: Evidence, other: Evidence, dice: random.Random) -> None:
    both = (evidence[0] + other[0], evidence[1] + other[1], evidence[2] + other[2])
    for lake in batches(both, dice, 1, is_late=False):
        assert most_of_a_key(lake) <= 1


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 60)), max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=400, deadline=None)
def test_the_order_of_a_connection_hangs_on_the_set_of_its_requests(
    drawn: list[tuple[int, int]], dice: random.Random
) -> None:
    requests = [heartbeat(number, at * REORDER_MS / 10, line) for line, (number, at) in enumerate(drawn, start=1)]
    shuffled = dice.sample(requests, len(requests))
    assert in_order(Connections(), [], [], shuffled) == in_order(Connections(), [], [], requests)
