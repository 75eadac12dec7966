"""How far files were read into bronze.

What was rejected of them stands in silver alone. So once anything was, they are read anew where that table is gone;
else silver is made anew from bronze, and of the files no more is read than what is new.
"""

from __future__ import annotations

from jobs.lake.lake import Lake
from jobs.lake.progress import Note
from schemas.table import TableSpec
from schemas.tables.silver import REJECTED


def reached(lake: Lake, step: str, bronze: TableSpec) -> Note | None:
    """Return what a step noted when it was last through, or None if it has to begin anew."""
    return lake.progress.of(step, (bronze,)) or lake.progress.of(step, (REJECTED, bronze))


def note_reached(lake: Lake, step: str, bronze: TableSpec, note: Note, has_rejected: bool) -> None:
    """Note how far a step came.

    Args:
        lake: the lake.
        step: name of the step.
        bronze: the table that it reads into.
        note: how far it came.
        has_rejected: something of what it read now was rejected.
    """
    has_rejected = has_rejected or lake.progress.of(step, (REJECTED, bronze)) is not None
    lake.progress.note(step, (REJECTED, bronze) if has_rejected else (bronze,), note)
