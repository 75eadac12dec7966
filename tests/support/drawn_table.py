"""Tables drawn with pipes, as the golden cases have them.

    window_ms = 100

    generations
    | group_id | generation | preparing_at | joined_member_ids |
    | shop     | 1          | 0            | a, b              |

A name on a line of its own begins a table; `name = number` is a setting. Cells are read by the type that the column
has in the dictionary: times are milliseconds, lists `a, b`, maps `a: 1, b: 2`, `[]` is an empty list, nothing is null.
`no rows` below a table's name says that it has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.columns import COLUMNS
from schemas.types import BIGINT, BOOLEAN, DOUBLE, INT, TIMESTAMP, Array, DataType, Map

Row = dict[str, Any]

NO_ROWS = "no rows"


@dataclass
class Drawing:
    """What a file holds: settings by name, and tables by name, each a list of rows."""

    settings: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)


def read(path: Path) -> Drawing:
    """Read a drawing from a file."""
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> Drawing:
    """Read a drawing; a column that the dictionary does not have, or a ragged line, is a ValueError."""
    drawing, table = Drawing(), ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if not line.startswith("|"):
            name, is_setting, number = (part.strip() for part in line.partition("="))
            if is_setting:
                drawing.settings[name] = int(number)
            elif name == NO_ROWS:
                drawing.columns[table], drawing.tables[table] = (), []
            else:
                table = name
            continue
        cells = [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
        if table not in drawing.columns:
            drawing.columns[table], drawing.tables[table] = tuple(cells), []
            _refuse_unknown(cells)
            continue
        names = drawing.columns[table]
        if len(cells) != len(names):
            raise ValueError(f"{table}: {len(cells)} cells for {len(names)} columns: {line}")
        drawing.tables[table].append({n: _value(COLUMNS[n].data_type, c) for n, c in zip(names, cells, strict=True)})
    return drawing


def draw(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> str:
    """Draw rows as `parse` reads them, for the message of a failed comparison."""
    names = list(columns)
    cells = [names, *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(names))]
    lines = (" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)
    return "\n".join(f"| {line} |" for line in lines)


def _refuse_unknown(names: list[str]) -> None:
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise ValueError(f"not in the dictionary: {unknown}")


def _value(data_type: DataType, cell: str) -> Any:
    """The value of one cell."""
    if cell == "":
        return None
    if isinstance(data_type, Array):
        return [] if cell == "[]" else [_value(data_type.element, part.strip()) for part in cell.split(",")]
    if isinstance(data_type, Map):
        pairs = (part.split(":") for part in cell.split(","))
        return {key.strip(): _value(data_type.value, value.strip()) for key, value in pairs}
    if data_type in (INT, BIGINT):
        return int(cell)
    if data_type in (DOUBLE, TIMESTAMP):
        return float(cell)
    return cell == "true" if data_type == BOOLEAN else cell


def _cell(value: Any) -> str:
    """The cell of one value."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {value[key]}" for key in sorted(value))
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "[]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:g}"
    return str(value)
