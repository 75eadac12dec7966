"""Facts are rows of their tables, but for what the reader of a file adds."""

from __future__ import annotations

from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from schemas.catalog import BY_NAME
from schemas.types import BIGINT, BINARY, DOUBLE, INT, STRING, TIMESTAMP, Array, DataType, Map, Struct
from transforms.loglines.facts import ClientEvent, CoordinatorEvent, GroupRequest, Rejected

OF_THE_READER = {
    CoordinatorEvent: {"cluster", "broker", "source_file", "line_number", "loaded_at"},
    ClientEvent: {"cluster", "host", "source_file", "line_number", "loaded_at"},
    GroupRequest: {"cluster", "broker", "source_file", "line_number", "loaded_at"},
    Rejected: {"cluster", "source", "position", "seen_at"},
}
"""Columns that the text of an entry cannot fill."""

PLAIN: dict[Any, tuple[DataType, ...]] = {
    str: (STRING,),
    bytes: (BINARY,),
    int: (INT, BIGINT, TIMESTAMP),
    float: (DOUBLE, TIMESTAMP),
}
"""Python's type to the declared ones that it may fill; times are milliseconds."""


def fills(hint: Any, declared: DataType) -> bool:
    hint = next((each for each in get_args(hint) if each is not NoneType), hint) if is_optional(hint) else hint
    if is_typeddict(hint):
        fields = get_type_hints(hint)
        assert isinstance(declared, Struct)
        return [*fields] == [name for name, _ in declared.fields] and all(
            fills(fields[name], kind) for name, kind in declared.fields
        )
    if get_origin(hint) is list:
        return isinstance(declared, Array) and fills(get_args(hint)[0], declared.element)
    if get_origin(hint) is dict:
        key, value = get_args(hint)
        return isinstance(declared, Map) and fills(key, declared.key) and fills(value, declared.value)
    return declared in PLAIN[hint]


def is_optional(hint: Any) -> bool:
    return NoneType in get_args(hint)


@pytest.mark.parametrize("fact", OF_THE_READER, ids=lambda fact: fact.__name__)
def test_a_fact_has_the_columns_of_its_table_with_their_types(fact: Any) -> None:
    spec = BY_NAME[fact.table]
    hints = get_type_hints(fact)
    assert set(fact.__struct_fields__) == set(spec.columns) - OF_THE_READER[fact]
    for name in fact.__struct_fields__:
        assert fills(hints[name], spec.column(name).data_type), name


@pytest.mark.parametrize("fact", OF_THE_READER, ids=lambda fact: fact.__name__)
def test_what_a_table_requires_cannot_be_null(fact: Any) -> None:
    hints = get_type_hints(fact)
    required = set(BY_NAME[fact.table].not_null) - OF_THE_READER[fact]
    assert not [name for name in required if is_optional(hints[name])]
