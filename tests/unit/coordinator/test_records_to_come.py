"""Answers that rest on records younger than all that were read: the request log is nearly always ahead of the topic."""

from __future__ import annotations

from math import inf
from typing import Any

from tests.unit.coordinator.evidence_rows import GROUP, Row, line, modern_records, request
from tests.unit.coordinator.test_late_lines import JOINED
from transforms.coordinator.batch import Batch
from transforms.coordinator.fold import begin
from transforms.coordinator.replay import typed_evidence, typed_records
from transforms.coordinator.timeline.audit import WHY_UNWRITTEN

HORIZON = 10_000.0
READ_UNTIL = 70_000.0
PRINTED = line(900, "broker_version", group_id=None, attributes={"version": "4.1.1"})


def _beat(at: float, epoch: int, answered: int | None, error: int = 0, member: str = "m") -> Row:
    answer = {"answered_generation": answered, "answered_member_id": None if answered is None else member}
    return request(at, "ConsumerGroupHeartbeat", member, error, generation=epoch, rebalance_timeout_ms=-1, **answer)


def _last_of(*requests: Row, until: float, horizon: float = HORIZON) -> tuple[bool | None, str | None]:
    """Return how the last request agrees, and why it does not, where records were read up to a moment."""
    records = typed_records(modern_records((1_001, JOINED)))
    _, lines, asked = typed_evidence([], [PRINTED], requests)
    batch = Batch(begin("c", GROUP, 50), horizon, records_until=until)
    batch.add(sorted((*records, *lines, *asked), key=_at))
    batch.end()
    row = max(batch.told().replay_audit, key=lambda each: each.at or 0.0)
    return row.agrees, row.why


def _at(row: Any) -> float:
    return next(at for name in ("recorded_at", "logged_at", "answered_at") if (at := getattr(row, name, None)))


def test_an_epoch_that_no_record_has_yet_is_left_open():
    went_on = _beat(80_000, 1, 2)
    agrees, why = _last_of(went_on, until=inf)
    assert agrees is False and why != WHY_UNWRITTEN
    assert _last_of(went_on, until=READ_UNTIL) == (None, WHY_UNWRITTEN)


def test_so_is_a_member_that_no_record_has_yet():
    come = _beat(80_000, 1, 1, member="n")
    assert _last_of(come, until=inf)[0] is False
    assert _last_of(come, until=READ_UNTIL) == (None, WHY_UNWRITTEN)


def test_what_agrees_with_the_records_that_were_read_does():
    assert _last_of(_beat(80_000, 1, 1), until=READ_UNTIL) == (True, None)


def test_what_no_record_explains_is_held_against_the_broker():
    fenced, behind = _beat(80_000, 1, None, 110), _beat(80_000, 1, 0)
    assert _last_of(fenced, until=READ_UNTIL)[0] is False
    assert _last_of(behind, until=READ_UNTIL)[0] is False


def test_so_is_what_was_answered_before_the_last_record_that_was_read():
    assert _last_of(_beat(60_000, 1, 2), until=READ_UNTIL)[0] is False


def test_and_all_that_is_settled():
    assert _last_of(_beat(80_000, 1, 2), until=READ_UNTIL, horizon=200_000.0)[0] is False
