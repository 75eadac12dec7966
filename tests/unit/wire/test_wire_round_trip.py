"""Whatever can be written by the field tables is read back, by a reader that shares no code with the writer."""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.records import consumer_protocol
from schemas.records.fields import ArrayOf, Field, Scalar, StructOf
from schemas.records.record_types import RECORD_TYPES
from tests.support.record_writer import body_bytes, key_bytes, value_bytes
from transforms.wire import records
from transforms.wire.walk import walk_to_end

TEXT = st.text(st.characters(codec="utf-8"), max_size=200)
SCALARS: dict[Scalar, st.SearchStrategy[Any]] = {
    Scalar.INT8: st.integers(-(2**7), 2**7 - 1),
    Scalar.INT16: st.integers(-(2**15), 2**15 - 1),
    Scalar.UINT16: st.integers(0, 2**16 - 1),
    Scalar.INT32: st.integers(-(2**31), 2**31 - 1),
    Scalar.INT64: st.integers(-(2**63), 2**63 - 1),
    Scalar.STRING: TEXT,
    Scalar.BYTES: st.binary(max_size=300),
    Scalar.UUID: st.binary(min_size=16, max_size=16).map(
        lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("=")
    ),
}


def of_kind(kind: Scalar | ArrayOf | StructOf, version: int) -> st.SearchStrategy[Any]:
    if isinstance(kind, StructOf):
        return of_struct(kind, version)
    if isinstance(kind, ArrayOf):
        return st.lists(of_kind(kind.element, version), max_size=3)
    return SCALARS[kind]


def of_struct(layout: StructOf, version: int) -> st.SearchStrategy[dict[str, Any]]:
    fields = [each for each in layout.fields if each.is_in(version)]
    plain = {each.name: of_field(each, version) for each in fields if each.tag is None}
    tagged = {
        each.name: of_field(each, version).filter(lambda value, default=each.default: value != default)
        for each in fields
        if each.tag is not None
    }
    return st.fixed_dictionaries(plain, optional=tagged)


def of_field(field: Field, version: int) -> st.SearchStrategy[Any]:
    values = of_kind(field.kind, version)
    return st.none() | values if field.nullable else values


@given(st.data(), st.sampled_from(list(RECORD_TYPES.values())))
def test_records_of_all_types_and_versions(data: st.DataObject, record_type: Any) -> None:
    version = data.draw(st.integers(0, record_type.last_version))
    key = data.draw(of_struct(record_type.key, 0))
    value = data.draw(of_struct(record_type.value, version))
    raw_key, raw_value = key_bytes(record_type, key), value_bytes(record_type, value, version)
    assert records.read_key(raw_key) == (record_type, key)
    assert records.read_value(record_type, raw_value) == (version, value)
    assert records.decode(raw_key, raw_value).table == records.table_of(record_type.type_id)


@given(
    st.data(),
    st.sampled_from([consumer_protocol.SUBSCRIPTION, consumer_protocol.ASSIGNMENT]),
    st.integers(0, consumer_protocol.LAST_VERSION),
)
def test_the_consumer_protocol(data: st.DataObject, layout: StructOf, version: int) -> None:
    value = data.draw(of_struct(layout, version))
    raw = body_bytes(layout, value, version, flexible=False)
    assert walk_to_end(layout, raw, 0, version, flexible=False) == value
