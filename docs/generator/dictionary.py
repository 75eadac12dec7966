"""The data dictionary: every table with its grain, its key and its columns, from their declarations."""

from __future__ import annotations

from docs.generator.markdown import code, codes, page, table
from schemas.catalog import TABLES
from schemas.privacy import is_personal
from schemas.table import Layer, TableSpec

_LAYERS = {
    Layer.BRONZE: "What was read, as it came, with where it came from. Rows are only added.",
    Layer.SILVER: "What bronze says, decoded and parsed, and what could not be.",
    Layer.GOLD: "What happened to each group, how far that can be trusted, and what was found.",
}


def dictionary() -> str:
    """Return the page."""
    layers = {spec.layer: "" for spec in TABLES}
    intro = (
        "Times are TIMESTAMP in UTC with milliseconds, a name in `_ms` is a duration in milliseconds. Null means "
        '"not known", never "none". A table lies at `<lake.root>/<layer>/<table>`. Columns marked ● name a '
        "person's machine or process, or can; see [privacy](privacy.md)."
    )
    contents = table(
        ("layer", "tables"),
        ((layer.value, ", ".join(_link(spec) for spec in TABLES if spec.layer is layer)) for layer in layers),
    )
    parts = [intro, contents]
    for layer in layers:
        parts.append(f"## {layer.value}\n{_LAYERS.get(layer, '')}")
        parts.extend(_table(spec) for spec in TABLES if spec.layer is layer)
    return page("Data dictionary", "`schemas/`", *parts)


def _link(spec: TableSpec) -> str:
    return f"[{spec.name}](#{spec.full_name.replace('.', '')})"


def _table(spec: TableSpec) -> str:
    key = f"Key: {codes(spec.key)}." if spec.key else "No key: rows have no identity."
    columns = [spec.column(name) for name in spec.columns]
    rows = (
        (
            code(column.name) + (" ●" if is_personal(spec.name, column.name) else ""),
            code(column.data_type.ddl()),
            "never" if column.name in spec.not_null else "",
            column.meaning + (f": {codes(column.allowed)}" if column.allowed else ""),
        )
        for column in columns
    )
    return f"### {spec.full_name}\nOne row: {spec.grain}. {key}\n\n" + table(
        ("column", "type", "null", "meaning"), rows
    )
