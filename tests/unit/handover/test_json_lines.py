"""Findings as lines of JSON: one line each, whatever is in them, and nothing lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.words import FINDING_KINDS
from tests.unit.findings.golden import complete
from transforms.findings.handover.json_lines import line, moment
from transforms.findings.handover.kinds import BURST, KINDS, REWIND, STORM

FOREIGN = st.text(st.characters(), max_size=20) | st.text(
    st.sampled_from('\n\r\0\x1b\x7f\x9b\u2028\u202e"\\'), max_size=6
)


def burst(**more: Any) -> dict[str, Any]:
    return complete(
        "illegal_generation_bursts", {"group_id": "g", "started_at": 0.0, "error": "STALE_MEMBER_EPOCH", **more}
    )


@given(FOREIGN, st.lists(FOREIGN, max_size=3), st.dictionaries(FOREIGN, st.integers(), max_size=3))
def test_a_finding_is_one_line_of_plain_characters_and_reads_back_as_it_was(
    group: str, clients: list[str], apis: dict[str, int]
) -> None:
    text = line(BURST, burst(group_id=group, client_ids=clients, apis=apis, advice=group), "id", True, 0.0)
    assert text.isascii()
    assert text.isprintable()
    read = json.loads(text)
    assert (read["group_id"], read["client_ids"], read["apis"], read["advice"]) == (group, clients, apis, group)


def test_a_line_says_what_it_is_before_the_columns_of_its_table() -> None:
    read = json.loads(line(STORM, complete("rebalance_storms", {"started_at": 1763636311123.0}), "4f", False, 1000.0))
    assert list(read) == ["finding_kind", "finding_id", "is_new", "first_seen_at", *STORM.spec.columns]
    assert read["started_at"] == "2025-11-20T10:58:31.123Z"
    assert (read["finding_id"], read["is_new"], read["first_seen_at"]) == ("4f", False, "1970-01-01T00:00:01.000Z")


def test_a_column_that_is_called_kind_stays_what_it_is() -> None:
    read = json.loads(line(REWIND, complete("offset_rewinds", {"kind": "jump"}), "4f", True, 0.0))
    assert (read["finding_kind"], read["kind"]) == ("offset_rewind", "jump")


def test_what_json_has_no_word_for_is_null() -> None:
    row = complete(
        "rebalance_storms", {"started_at": 0.0, "unstable_ratio": float("nan"), "pattern_share": float("inf")}
    )
    read = json.loads(line(STORM, row, "4f", True, 0.0))
    assert (read["unstable_ratio"], read["pattern_share"]) == (None, None)


@pytest.mark.parametrize("ms", [None, float("inf"), float("nan"), 9e15, -9e15, 2.0**63])
def test_a_moment_that_no_calendar_has_is_null(ms: float | None) -> None:
    assert moment(ms) is None


def test_moments_before_the_epoch_and_parts_of_a_millisecond_are_cut_down() -> None:
    assert moment(-1.0) == "1969-12-31T23:59:59.999Z"
    assert moment(0.9999) == "1970-01-01T00:00:00.000Z"


def test_there_is_a_kind_for_each_table_of_findings() -> None:
    from schemas.tables.gold import FINDINGS

    assert tuple(kind.name for kind in KINDS) == FINDING_KINDS
    assert tuple(kind.spec for kind in KINDS) == FINDINGS
    for kind in KINDS:
        assert {*kind.begins, *kind.ends, *kind.about} <= set(kind.spec.columns)
