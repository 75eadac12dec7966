"""No change of the code changes what is told of the shipped captures, unless it is meant to: row by row.

Groups that are no classic ones had no rows when the tables were kept.
"""

from __future__ import annotations

import pytest

from schemas.catalog import BY_NAME
from tests.support.captures import ALL
from tests.support.kept_tables import LAYERS, as_kept, kept
from tests.support.pure_pipeline import Row
from transforms.coordinator.timeline.audit import WHY_HELD, WHY_OWN_ANSWER

NOBODY = ""
"""Group of lines about deletions that name none, which had rows of its own."""


def _by_key(table: str, rows: list[Row]) -> dict[tuple[str, ...], list[Row]]:
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(str(row[name]) for name in BY_NAME[table].key if name in row), []).append(row)
    return found


def _as_before(row: Row) -> Row:
    """A row of the audit as it was before it said that, and why, it needed the answer; it said so for two cases."""
    is_told = row.get("is_answer_used") and row["why"] not in (WHY_OWN_ANSWER, WHY_HELD)
    return {**row, "why": None} if is_told else row


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", ALL)
def test_rows_are_those_that_were_kept_but_for_new_columns(name, layer, pure_tables):
    tables = pure_tables(name)
    before = kept(name, layer)
    assert before
    for table, rows in before.items():
        columns = rows[0].keys()
        said_less = table == "replay_audit" and "is_answer_used" not in columns
        rows_now = map(_as_before, tables[table]) if said_less else tables[table]
        of_classic = (row for row in rows_now if row.get("group_type", "classic") == "classic")
        now = as_kept({column: row[column] for column in columns} for row in of_classic)
        rows = [row for row in rows if row.get("group_id") != NOBODY]
        was, found = _by_key(table, rows), _by_key(table, now)
        differing = [(key, was.get(key), found.get(key)) for key in was | found if was.get(key) != found.get(key)]
        assert not differing, f"{table}: {len(differing)} keys differ, the first: {differing[0]}"
