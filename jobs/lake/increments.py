"""Which rows a derived step has not read yet.

Bronze and silver rows carry `loaded_at`, the start of the run that added them, later than all rows before. A step notes
for each table it reads how far it came; what is newer is new to it. Nothing noted means everything is new: keys and
replace-where make that harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from jobs.lake.lake import Lake
from jobs.lake.progress import Note
from schemas.table import TableSpec
from transforms.loads import loaded_after


@dataclass(frozen=True)
class Increment:
    """What a step finds new in the tables it reads.

    Attributes:
        before: `loaded_at` read up to, by table; None = the step begins anew.
        now: greatest `loaded_at` there is, by table: what to note once the step is through.
    """

    before: Note | None
    now: Note

    @property
    def is_empty(self) -> bool:
        """Nothing to do."""
        return self.before == self.now

    def new(self, lake: Lake, spec: TableSpec) -> DataFrame:
        """Return the rows of a table that the step has not read: where they are few, they are here."""
        return new_rows(lake, spec, (self.before or {}).get(spec.full_name))


def new_rows(lake: Lake, spec: TableSpec, load: str | None) -> DataFrame:
    """Return the rows of a table that came after a load (None: all): where they are few, they are here."""
    if load is None:
        return lake.read(spec)
    with lake.brief(True):
        return lake.some(spec, loaded_after(load))


def increment(lake: Lake, step: str, inputs: Sequence[TableSpec], outputs: Sequence[TableSpec]) -> Increment:
    """Compare how far a step came with what its inputs hold."""
    return Increment(lake.progress.of(step, outputs), dict(lake.contents.newest_load(inputs)))
