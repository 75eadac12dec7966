"""What the dictionary says of a column."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.types import DataType


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the dictionary."""

    data_type: DataType
    meaning: str
    allowed: tuple[str, ...] | None = None
