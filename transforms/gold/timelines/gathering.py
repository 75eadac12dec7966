"""What the groups of a run are replayed from: their states, and what was written since these were put down.

A group that goes on from where the last run stood needs what was written since then, and what is new. One that goes
back, as evidence of it came late, needs all that was written since the state that it goes back to; that is read for
these groups alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.table import TableSpec
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_METADATA, GROUP_REQUESTS, MODERN_GROUP_RECORDS
from transforms.coordinator.evidence.tolerances import REORDER_MS
from transforms.gold.timelines import evidence as packing
from transforms.gold.timelines.evidence import GROUP, KINDS, LINE
from transforms.gold.timelines.starting_points import states
from transforms.loads import loaded_after
from transforms.sql import among
from transforms.wanted_rows import Wanted

Read = Callable[[TableSpec], DataFrame]
"""What gives the rows of a table."""

Some = Callable[[TableSpec, Wanted], DataFrame]
"""What gives those rows of a table that are wanted."""


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
        return loaded_after(self.load(spec)).is_late()

    def load(self, spec: TableSpec) -> str | None:
        """Return the newest `loaded_at` of a table that the last run knew."""
        return (self.loaded or {}).get(spec.full_name)


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

    def of_changed(self, changed: Sequence[str]) -> Run:
        """Return a run that says nothing of the groups that came out as they were.

        Args:
            changed: ids of the other groups of the run.
        """
        assert self.groups is not None, "they are known"
        return replace(self, groups={group: self.groups.get(group, self.others) for group in changed}, others=None)

    def of_run(self, rows: DataFrame) -> DataFrame:
        """Return the rows of its groups; if these are listed, files without any of them are not read."""
        if self.listed is not None:
            return rows.where(among("group_id", self.listed))
        return rows.join(self.starting.select(*GROUP), [*GROUP], "left_semi")


def gathered(read: Read, some: Some, snapshots: DataFrame, run: Run, reach: Reach) -> DataFrame:
    """Return the evidence of the groups of a run.

    Args:
        read: what gives the rows of one of the tables `SILVER`, asked for those alone that are needed as a whole.
        some: what gives few rows of one of them sooner.
        snapshots: `gold.replay_snapshots`.
        run: the groups.
        reach: how far the last run came.
    """
    is_first = reach.horizon is None
    parts = [packing.packed_places(run.homes.where("is_seen"))]
    if not is_first:
        parts.append(packing.packed_states(states(run.starting, snapshots)))
    for kind, (spec, _, _) in KINDS.items():
        fresh = _fresh(kind, reach, run.listed)
        parts.append(packing.packed(run.of_run(packing.of_groups(some(spec, fresh))), kind))
        if run.late != [] and not is_first:
            old = packing.of_groups(read(spec)).where(~fresh.is_late())
            parts.append(packing.packed(_of_late(old, kind, run), kind))
    parts.append(packing.packed(_wide(read, some, run, reach), LINE))
    return reduce(DataFrame.unionByName, parts)


def _fresh(kind: str, reach: Reach, groups: Sequence[str] | None = None) -> Wanted:
    """Return which rows were written after the last horizon, or are new; without a horizon, all are."""
    spec, _, written = KINDS[kind]
    new = loaded_after(reach.load(spec), groups)
    if reach.horizon is None or not new.since:
        return Wanted(groups)
    return replace(new, since={**new.since, written: int((reach.horizon - REORDER_MS) * 1000)})


def _of_late(rows: DataFrame, kind: str, run: Run) -> DataFrame:
    """Return what groups need beside that go back; files that have nothing of them are not read, if they are few."""
    from_at = F.coalesce("since", F.lit(0.0)) - F.lit(REORDER_MS)
    groups = run.starting.where("is_late").select(*GROUP, from_at.alias("from_at"))
    sought = rows if run.late is None else rows.where(among("group_id", run.late))
    is_wanted = packing.written_since(kind, F.col("from_at"))
    return sought.join(F.broadcast(groups), [*GROUP]).where(is_wanted).drop("from_at")


def _wide(read: Read, some: Some, run: Run, reach: Reach) -> DataFrame:
    """Return the lines about coordinators and brokers, given to the groups: of new and late ones, older lines too."""
    wanted = run.homes.withColumn("since", F.col("since") - REORDER_MS)
    fresh = _fresh(LINE, reach)
    young = packing.of_coordinators(some(COORDINATOR_EVENTS, fresh))
    told = packing.given_to_groups(young, wanted.drop("is_late"))
    if reach.horizon is None or (run.late == [] and not run.has_new):
        return told
    old = packing.of_coordinators(read(COORDINATOR_EVENTS)).where(~fresh.is_late())
    going_back = wanted.where("is_late OR since IS NULL")
    return told.unionByName(packing.given_to_groups(old, going_back.drop("is_late")))


SILVER = (GROUP_METADATA, MODERN_GROUP_RECORDS, COORDINATOR_EVENTS, GROUP_REQUESTS)
"""Tables that groups are replayed from."""
