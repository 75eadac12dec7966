"""What the groups of a run are replayed from: their states, and what was written since these were put down.

A group that goes on from where the last run stood needs what was written since then, and what is new. One that goes
back, as evidence of it came late, needs all that was written since the state that it goes back to; that is read for
these groups alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.table import TableSpec
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_METADATA, GROUP_REQUESTS, MODERN_GROUP_RECORDS
from transforms.coordinator.evidence.tolerances import REORDER_MS
from transforms.gold.timelines import evidence as packing
from transforms.gold.timelines.evidence import GROUP, KINDS, LINE
from transforms.gold.timelines.starting_points import states


@dataclass(frozen=True)
class Reach:
    """How far the last run came.

    Attributes:
        horizon: its horizon (epoch ms); None = there was none.
        loaded: by table, the newest `loaded_at` it knew, ISO 8601 in UTC.
    """

    horizon: float | None = None
    loaded: Mapping[str, str | None] | None = None

    def is_new(self, spec: TableSpec) -> Column:
        """Tell whether the last run did not know a row."""
        loaded = (self.loaded or {}).get(spec.full_name)
        return F.lit(True) if loaded is None else F.col("loaded_at") > F.lit(loaded).cast("timestamp")


@dataclass(frozen=True)
class Run:
    """The groups of a run.

    Attributes:
        starting: from where they go on.
        homes: where they live.
        groups: by their ids, the moment (epoch ms) before which their settled rows stay, None = none of them does;
            None in place of all = there are too many to list.
        others: such a moment for all that are not listed, which just go on; None = all are listed, or none.
        late: ids of those that go back; None = too many to list.
        has_new: some of them were not replayed before.
    """

    starting: DataFrame
    homes: DataFrame
    groups: Mapping[str, float | None] | None = None
    others: float | None = None
    late: Sequence[str] | None = None
    has_new: bool = True

    @property
    def listed(self) -> Sequence[str] | None:
        """Their ids; None = there are too many to list."""
        return None if self.groups is None or self.others is not None else list(self.groups)

    def of_run(self, rows: DataFrame) -> DataFrame:
        """Return the rows of its groups; if these are listed, files without any of them are not read."""
        if self.listed is not None:
            return rows.where(F.col("group_id").isin(*self.listed))
        return rows.join(self.starting.select(*GROUP), [*GROUP], "left_semi")


def gathered(silver: Mapping[TableSpec, DataFrame], snapshots: DataFrame, run: Run, reach: Reach) -> DataFrame:
    """Return the evidence of the groups of a run.

    Args:
        silver: the tables `SILVER`.
        snapshots: `gold.replay_snapshots`.
        run: the groups.
        reach: how far the last run came.
    """
    is_first = reach.horizon is None
    parts = [packing.packed_places(run.homes.where("is_seen"))]
    if not is_first:
        parts.append(packing.packed_states(states(run.starting, snapshots)))
    for kind, (spec, _, _) in KINDS.items():
        named = packing.of_groups(silver[spec])
        fresh = _fresh(spec, kind, reach)
        parts.append(packing.packed(run.of_run(named.where(fresh)), kind))
        if run.late != [] and not is_first:
            parts.append(packing.packed(_of_late(named.where(~fresh), kind, run), kind))
    parts.append(packing.packed(_wide(silver[COORDINATOR_EVENTS], run, reach), LINE))
    return reduce(DataFrame.unionByName, parts)


def _fresh(spec: TableSpec, kind: str, reach: Reach) -> Column:
    """Tell whether a row was written after the last horizon, or is new."""
    if reach.horizon is None:
        return F.lit(True)
    is_after = packing.written_since(kind, reach.horizon - REORDER_MS)
    return F.coalesce(is_after, F.lit(False)) | reach.is_new(spec)


def _of_late(rows: DataFrame, kind: str, run: Run) -> DataFrame:
    """Return what groups need beside that go back; files that have nothing of them are not read, if they are few."""
    from_at = F.coalesce("since", F.lit(0.0)) - F.lit(REORDER_MS)
    groups = run.starting.where("is_late").select(*GROUP, from_at.alias("from_at"))
    sought = rows if run.late is None else rows.where(F.col("group_id").isin(*run.late))
    is_wanted = packing.written_since(kind, F.col("from_at"))
    return sought.join(F.broadcast(groups), [*GROUP]).where(is_wanted).drop("from_at")


def _wide(events: DataFrame, run: Run, reach: Reach) -> DataFrame:
    """Return the lines about coordinators and brokers, given to the groups: of new and late ones, older lines too."""
    wide = packing.of_coordinators(events)
    wanted = run.homes.withColumn("since", F.col("since") - REORDER_MS)
    fresh = _fresh(COORDINATOR_EVENTS, LINE, reach)
    if reach.horizon is None:
        return packing.given_to_groups(wide, wanted.drop("is_late"))
    told = packing.given_to_groups(wide.where(fresh), wanted.drop("is_late"))
    if run.late == [] and not run.has_new:
        return told
    going_back = wanted.where("is_late OR since IS NULL")
    return told.unionByName(packing.given_to_groups(wide.where(~fresh), going_back.drop("is_late")))


SILVER = (GROUP_METADATA, MODERN_GROUP_RECORDS, COORDINATOR_EVENTS, GROUP_REQUESTS)
"""Tables that groups are replayed from."""
