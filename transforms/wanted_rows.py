"""Which rows of a table are wanted, where that is few of many: said once for Spark, and for DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.sql import among, quoted, standard_list, truth


@dataclass(frozen=True)
class Wanted:
    """Rows of some groups that are late, or are wanted for another reason.

    Attributes:
        groups: the groups; None = all.
        since: by column, the moment (epoch µs) from which on rows are late; who has no moment is. Without any, all are.
        or_in: by column, values by which rows are wanted however old they are.
        beside: one row at most for each (cluster, group_id), laid beside the rows for `where` to look at.
        is_settled: whether they are settled; None = both. They lie in files of their own.
        where: one more condition, in SQL as Spark and DuckDB both have it; `beside` has none of a table's columns else.
        columns: those that are asked of them; empty = all.
    """

    groups: Sequence[str] | None = None
    since: Mapping[str, int] = field(default_factory=dict)
    or_in: Mapping[str, Sequence[str | int]] = field(default_factory=dict)
    beside: DataFrame | None = None
    is_settled: bool | None = None
    where: str = ""
    columns: Sequence[str] = ()

    def kind_of(self, spec: TableSpec) -> StructType:
        """Return the columns that the rows of a table have; all may hold nulls."""
        kind = struct_type(spec).toNullable()
        return StructType([kind[name] for name in self.columns]) if self.columns else kind

    def of(self, rows: DataFrame) -> DataFrame:
        """Return the rows, by Spark: files without any are not opened."""
        conditions = [] if self.groups is None else [among("group_id", self.groups)]
        conditions += [f"({self.lateness})"] if self.since else []
        conditions += [] if self.is_settled is None else [f"is_settled = {truth(self.is_settled)}"]
        found = rows.where(" AND ".join(conditions)) if conditions else rows
        if self.where:
            if self.beside is not None:
                found = found.join(F.broadcast(self.beside), ["cluster", "group_id"], "left")
            found = found.where(self.where)
        elif not self.columns:
            return found
        return found.selectExpr(*map(quoted, self.columns or rows.columns))

    @property
    def lateness(self) -> str:
        """The condition in Spark's SQL that a row is late, or is wanted however old it is."""
        late = [f"{name} IS NULL OR {name} >= timestamp_micros({us})" for name, us in self.since.items()]
        if not late:
            return truth(True)
        return " OR ".join(late + [among(name, values) for name, values in self.or_in.items() if values])

    def in_sql(self) -> str:
        """Return the condition in DuckDB's SQL."""
        late = [f'"{name}" IS NULL OR "{name}" >= make_timestamptz({us})' for name, us in self.since.items()]
        if late:
            late += [f'list_contains({standard_list(values)}, "{name}")' for name, values in self.or_in.items()]
        conditions = [] if self.groups is None else [f"list_contains({standard_list(self.groups)}, group_id)"]
        conditions += [] if self.is_settled is None else [f"is_settled = {truth(self.is_settled)}"]
        conditions += [f"({each})" for each in (" OR ".join(late), self.where) if each]
        return " AND ".join(conditions) or truth(True)
