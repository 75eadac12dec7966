from __future__ import annotations

from schemas import codegen


def test_the_typed_rows_are_those_of_the_tables() -> None:
    assert codegen.TARGET.read_text(encoding="utf-8") == codegen.source(), "run: python -m schemas.codegen"
