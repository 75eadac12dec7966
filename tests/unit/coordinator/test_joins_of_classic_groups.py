"""A member of the consumer protocol joins the id of a classic group: who waits there is sent back first.

What is answered is what brokers of 3.8.1, 4.0.0 and 4.1.1 answered in the middle of a group's first join phase.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.coordinator.converted_rows import CLASSIC, NEW, NOTHING, broker, comes, standing
from tests.unit.coordinator.evidence_rows import (
    GROUP,
    Row,
    join,
    member,
    modern_records,
    prepare,
    round_of,
)
from tests.unit.coordinator.test_fold import folded, items_of
from transforms.coordinator.epochs.converting import ClassicThere, has_sent_back, refusal
from transforms.coordinator.evidence.tolerances import MOST_HOLDS
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.rules import release_of
from transforms.coordinator.modern.world import ModernSettings
from transforms.coordinator.replay import replay_group, typed_evidence, typed_records

CONVERTED: list[tuple[int, str, Any]] = [
    (5, "a-1", CLASSIC),
    (3, "", {"epoch": 1}),
    (7, "a-1", NOTHING),
    (6, "", {"assignmentEpoch": 1}),
    (8, "a-1", standing(1, 1)),
    (5, "m", NEW),
    (3, "", {"epoch": 2}),
    (7, "m", NOTHING),
    (6, "", {"assignmentEpoch": 2}),
    (8, "m", standing(2, 0)),
]


def _audited(lines: list[Row], requests: list[Row], records: list[Row] | None = None) -> list[Row]:
    rows = replay_group("c", GROUP, [], lines, requests, 50, modern_records=records or [])["replay_audit"]
    return sorted(rows, key=lambda row: row["handled_at"])


def _predicted(lines: list[Row], requests: list[Row]) -> list[int | None]:
    return [row["predicted_error"] for row in _audited(lines, requests)]


def _waits(at: float, member_id: str, parked_ms: float) -> Row:
    return join(at, error=27, given=member_id, parked_ms=parked_ms)


@pytest.mark.parametrize(
    ("version", "unassigned", "unelected"),
    [("3.8.1", 69, 69), ("3.9.1", 69, 69), ("4.0.0", None, -1), ("4.2.0", None, -1)],
)
def test_what_has_to_be_there_before_a_group_can_be_converted(
    version: str, unassigned: int | None, unelected: int | None
):
    settings = ModernSettings(rules=ModernRules(release_of(version) or ()))
    elected, nothing = ClassicThere(2, is_elected=True), ClassicThere(2)
    assert refusal(ClassicThere(2, is_elected=True, is_assigned=True), settings) is None
    assert (refusal(elected, settings), refusal(nothing, settings)) == (unassigned, unelected)
    assert has_sent_back(nothing, settings, 0, unelected or 0)
    assert not has_sent_back(nothing, settings, 0, 0) and not has_sent_back(nothing, settings, 1, unelected or 0)
    assert not has_sent_back(nothing, msgspec.structs.replace(settings, max_size=1), 0, 69)


def test_who_waits_is_sent_back_though_the_group_cannot_be_converted():
    """The second member has been given nothing yet."""
    lines, records = round_of(1_000, 1, "1", member("a-1", [0]), stored=5)
    asked = [join(2_000, error=27, given="b-1", parked_ms=500), comes(2_500, 69)]
    lines = [*broker("3.9.1"), *lines, prepare(2_000, 1)]
    tables = replay_group("c", GROUP, records, lines, asked, 50)
    rows = sorted(tables["replay_audit"], key=lambda row: row["handled_at"])
    assert [row["predicted_error"] for row in rows] == [27, 69]


def test_a_group_that_is_too_large_is_not_touched():
    lines = [*broker("4.0.0", **{"group.consumer.max.size": "1"}), prepare(1_000, 0)]
    told = {"told": 1, "given": "a-1", "parked_ms": 3_000}
    waiting = [join(1_000.2, **told), join(1_010, **{**told, "given": "b-1", "parked_ms": 2_990})]
    assert _predicted(lines, [*waiting, comes(1_500, 69)])[-1] == 69


def test_a_regular_expression_is_not_read_before_the_group_is_looked_at():
    lines = [*broker("4.1.1"), prepare(1_000, 0)]
    asked = [_waits(1_000.2, "a-1", 500), comes(1_500, -1, subscribed_regex="(broken")]
    assert _predicted(lines, asked)[1:] == [-1]


def test_a_line_of_the_classic_group_that_was_put_off_does_not_end_the_group_that_it_became():
    """It waited for the request that it tells of, and the conversion came before that."""
    stored, lines, asked = typed_evidence([], [*broker("4.1.1"), prepare(1_990, 0)], [])
    items = items_of(([*stored, *typed_records(modern_records((2_000, CONVERTED)))], lines, asked))
    put_off = next(item for item in items if item.line is not None and item.line.event == "preparing_rebalance")
    put_off.at, put_off.holds = 2_011.5, MOST_HOLDS
    rows, _ = folded(sorted(items, key=lambda item: item.rank), [])
    states = [(row.group_type, row.to_state) for row in rows.transitions if row.group_type == "consumer"]
    assert states and ("consumer", "Dead") not in states
    assert {row.member_id: row.ended_at for row in rows.member_sessions if row.group_type == "consumer"} == {
        "a-1": None,
        "m": None,
    }
