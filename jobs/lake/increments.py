"""Which rows a derived step has not read yet.

Bronze and silver rows carry `loaded_at`, the start of the run that added them, later than all rows before. A step notes
for each table it reads how far it came; what is newer is new to it. Nothing noted means everything is new: keys and
replace-where make that harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.lake.lake import Lake, Progress
from schemas.table import TableSpec


@dataclass(frozen=True)
class Increment:
    """What a step finds new in the tables it reads.

    Attributes:
        before: `loaded_at` read up to, by table; None = the step begins anew.
        now: greatest `loaded_at` there is, by table: what to note once the step is through.
    """

    before: Progress | None
    now: Progress

    @property
    def is_empty(self) -> bool:
        """Nothing to do."""
        return self.before == self.now

    def new(self, lake: Lake, spec: TableSpec) -> DataFrame:
        """Return the rows of a table that the step has not read."""
        rows = lake.read(spec)
        read_up_to = (self.before or {}).get(spec.full_name)
        return rows if read_up_to is None else rows.where(F.col("loaded_at") > F.lit(read_up_to).cast("timestamp"))


def increment(lake: Lake, step: str, inputs: Sequence[TableSpec], outputs: Sequence[TableSpec]) -> Increment:
    """Compare how far a step came with what its inputs hold."""
    return Increment(lake.progress(step, outputs), dict(lake.newest_load(inputs)))


def stamped(spec: TableSpec, rows: DataFrame, at: datetime) -> DataFrame:
    """Add the start of the run to rows, under the name that the table has for it."""
    name = "loaded_at" if "loaded_at" in spec.columns else "seen_at"
    return rows.withColumn(name, F.lit(at.isoformat()).cast("timestamp"))


def good_rows(read: DataFrame, spec: TableSpec, *, is_unique: bool = False) -> DataFrame:
    """Return the rows of a bronze table, unique by key.

    Args:
        read: columns of the bronze table, and `reason_code`, null for a good row.
        spec: the bronze table.
        is_unique: the source gives no row twice, so they need not be compared.
    """
    given = [name for name in spec.columns if name in read.columns]
    good = read.where(F.col("reason_code").isNull()).select(*given)
    return good if is_unique else good.dropDuplicates([name for name in spec.key if name in given])


def rejected_rows(read: DataFrame) -> DataFrame:
    """Return the rows of `rejected` among what a source read, unique by key."""
    bad = read.where(F.col("reason_code").isNotNull()).select("source", "position", "reason_code", "detail", "raw")
    return bad.dropDuplicates(["source", "position"])
