"""Tables that are opened when they are asked for."""

from __future__ import annotations

from typing import Any, cast

import pytest

from jobs.findings.when_asked import WhenAsked
from schemas.tables.gold import ASSIGNMENTS, GENERATIONS, TRANSITIONS


def test_a_table_is_opened_when_it_is_asked_for_and_once():
    opened = []
    read: dict[Any, Any] = {
        spec: lambda spec=spec: opened.append(spec) or spec.name for spec in (GENERATIONS, ASSIGNMENTS)
    }
    tables = cast("dict[Any, Any]", WhenAsked(read))
    assert (list(tables), len(tables), GENERATIONS in tables, opened) == (
        [GENERATIONS, ASSIGNMENTS],
        2,
        True,
        [GENERATIONS],
    )
    assert [tables[GENERATIONS], tables.get(ASSIGNMENTS), tables.get(TRANSITIONS), tables[ASSIGNMENTS]] == [
        "generations",
        "assignments",
        None,
        "assignments",
    ]
    assert opened == [GENERATIONS, ASSIGNMENTS]
    with pytest.raises(KeyError):
        tables[TRANSITIONS]
