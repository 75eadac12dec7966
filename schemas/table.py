"""What a table is: a name, a layer, a grain, a key and columns out of the dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from schemas.columns import COLUMNS, Entry
from schemas.types import DataType


class Layer(str, Enum):
    """The layers of the lake, in the order in which data flows through them."""

    BRONZE = "bronze"
    SILVER = "silver"
    GOLD = "gold"
    QUALITY = "quality"


@dataclass(frozen=True, slots=True)
class Column:
    """One column as it stands in one table.

    `meaning` is the dictionary's unless the table narrows it. `allowed` is the closed set of values, where there
    is one. A column is nullable unless it is part of the key or listed in `TableSpec.required`.
    """

    name: str
    data_type: DataType
    meaning: str
    allowed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TableSpec:
    """The declaration of one Delta table.

    Spark types, Delta comments, quality checks and the data dictionary derive from it.

    Attributes:
        layer: layer of the lake; the table lies at `<lake.root>/<layer>/<name>`.
        name: table name, the same in code, path and documentation.
        grain: what one row is.
        key: columns whose values together name one row; never null. Empty where rows have no identity.
        columns: names out of `schemas.columns.COLUMNS`, in table order.
        required: columns that are never null, beside the key.
        notes: meanings that hold in this table only, by column name.
        own: columns that are something else in this table than in the dictionary, by name.
    """

    layer: Layer
    name: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    required: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict, hash=False)
    own: dict[str, Entry] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse a declaration that names a column the dictionary or the table does not have."""
        for name in self.columns:
            if name not in COLUMNS:
                raise ValueError(f"{self.name}: column {name} is not in the dictionary")
        for name in (*self.key, *self.required, *self.notes, *self.own):
            if name not in self.columns:
                raise ValueError(f"{self.name}: {name} is not a column of the table")

    @property
    def full_name(self) -> str:
        """Layer and name, as the data dictionary writes it."""
        return f"{self.layer.value}.{self.name}"

    @property
    def partitions(self) -> tuple[str, ...]:
        """Columns that the table is partitioned by: what is not settled is written anew by each run, and lies apart."""
        return tuple(name for name in ("cluster", "is_settled") if name in self.columns)

    @property
    def not_null(self) -> tuple[str, ...]:
        """Columns that never hold null: the key and the required ones, in table order."""
        return tuple(name for name in self.columns if name in {*self.key, *self.required})

    def column(self, name: str) -> Column:
        """Return the declaration of one column of this table."""
        entry = self.own.get(name) or COLUMNS[name]
        return Column(name, entry.data_type, self.notes.get(name, entry.meaning), entry.allowed)
