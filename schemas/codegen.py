"""Writes `schemas/rows.py`: the rows of tables as typed structs, out of the tables' own declarations.

    python -m schemas.codegen

A type checker sees classes that stand in a file, not those that are made at run time; so the file is generated, and a
test holds it to the tables.
"""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from schemas.table import TableSpec
from schemas.tables import gold, silver
from schemas.types import Array, DataType, Map, Primitive, Struct

TARGET = Path(__file__).with_name("rows.py")

EVIDENCE = (
    silver.GROUP_METADATA,
    silver.MODERN_GROUP_RECORDS,
    silver.COORDINATOR_EVENTS,
    silver.GROUP_REQUESTS,
    silver.CLIENT_EVENTS,
)
"""Tables that the replay reads. Its rows are those of one group of one cluster, whenever they were loaded."""

NOT_EVIDENCE = frozenset(
    {"cluster", "loaded_at", "received_at", "error", "client_software", "sent_offsets", "record_name"}
)
"""What it has no use for: where other columns say the same, or say it better."""

DEFAULTS = {"is_settled": "False", "group_type": '"classic"', "hold": '"owned"', "bump_count": "1", "stay": "1"}
"""Columns that are never null, and what they are where nothing is said."""

_HEAD = '''"""Rows of the tables as the pure ring handles them; moments are epoch ms.

Generated from the tables by `python -m schemas.codegen`: change the declarations, and run it again.
"""

from __future__ import annotations

from msgspec import Struct
'''

_TYPES = {
    "STRING": "str",
    "INT": "int",
    "BIGINT": "int",
    "DOUBLE": "float",
    "BOOLEAN": "bool",
    "BINARY": "bytes",
    "TIMESTAMP": "float",
}


def source() -> str:
    """Return the text of `schemas/rows.py`."""
    tables = [(spec, _columns(spec, spec in EVIDENCE)) for spec in (*EVIDENCE, *gold.TABLES)]
    nested: dict[str, Struct] = {}
    for spec, columns in tables:
        for name in columns:
            for struct in _structs(spec.column(name).data_type):
                nested[struct.name] = struct
    parts = [_HEAD]
    for struct in nested.values():
        parts.append(_class(struct.name, "One element of a list in a row.", _fields(struct.fields, struct.required)))
    for spec, columns in tables:
        fields = [(name, spec.column(name).data_type) for name in columns]
        parts.append(
            _class(
                row_name(spec),
                f"Row of `{spec.full_name}`: {spec.grain}.",
                _fields(fields, set(spec.not_null) - set(DEFAULTS)),
            )
        )
    return "\n\n".join(parts)


def row_name(spec: TableSpec) -> str:
    """Return the name of the class of a table's rows."""
    return spec.name.removesuffix("s").title().replace("_", "") + "Row"


def _columns(spec: TableSpec, is_evidence: bool) -> tuple[str, ...]:
    return tuple(name for name in spec.columns if not (is_evidence and name in NOT_EVIDENCE))


def _fields(fields: Iterable[tuple[str, DataType]], required: Container[str]) -> list[str]:
    return [_field(name, kind, name in required) for name, kind in fields]


def _field(name: str, kind: DataType, is_required: bool) -> str:
    if is_required:
        return f"{name}: {_python(kind)}"
    if name in DEFAULTS:
        return f"{name}: {_python(kind)} = {DEFAULTS[name]}"
    return f"{name}: {_python(kind)} | None = None"


def _class(name: str, meaning: str, fields: Iterable[str]) -> str:
    body = "\n".join(f"    {field}" for field in fields)
    return f'class {name}(Struct, kw_only=True, gc=False):\n    """{_wrapped(meaning)}"""\n\n{body}\n'


def _wrapped(meaning: str) -> str:
    if len(meaning) <= 110:
        return meaning
    title, _, rest = meaning.partition(": ")
    text = textwrap.fill(rest[0].upper() + rest[1:], 116, break_on_hyphens=False)
    return f"{title}.\n\n{textwrap.indent(text, '    ')}\n    "


def _structs(kind: DataType) -> Iterator[Struct]:
    match kind:
        case Array(element):
            yield from _structs(element)
        case Struct(fields=fields):
            for _, inner in fields:
                yield from _structs(inner)
            yield kind


def _python(kind: DataType) -> str:
    match kind:
        case Primitive(name):
            return _TYPES[name]
        case Array(element):
            return f"list[{_python(element)}]"
        case Map(key, value):
            return f"dict[{_python(key)}, {_python(value)}]"
        case Struct(name=name):
            return name


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="utf-8")
