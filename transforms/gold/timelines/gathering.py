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
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_METADATA, GROUP_REQUESTS
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


def gathered(
    silver: Mapping[TableSpec, DataFrame],
    snapshots: DataFrame,
    starting: DataFrame,
    homes: DataFrame,
    places: DataFrame,
    reach: Reach,
    late: Sequence[str] | None,
) -> DataFrame:
    """Return the evidence of the groups of a run.

    Args:
        silver: the tables `GROUP_METADATA`, `COORDINATOR_EVENTS` and `GROUP_REQUESTS`.
        snapshots: `gold.replay_snapshots`.
        starting: from where the groups go on.
        homes: where they live, with `since` and `is_late`.
        places: where new records of theirs were seen.
        reach: how far the last run came.
        late: ids of those that are late; None = there are too many to list.
    """
    parts = [packing.packed_states(states(starting, snapshots)), packing.packed_places(places)]
    for kind, (spec, _, _) in KINDS.items():
        named = packing.of_groups(silver[spec])
        fresh = _fresh(spec, kind, reach)
        parts.append(packing.packed(named.where(fresh).join(starting.select(*GROUP), [*GROUP], "left_semi"), kind))
        if late != [] and reach.horizon is not None:
            parts.append(packing.packed(_of_late(named.where(~fresh), kind, starting, late), kind))
    parts.append(packing.packed(_wide(silver[COORDINATOR_EVENTS], homes, reach), LINE))
    return reduce(DataFrame.unionByName, parts)


def _fresh(spec: TableSpec, kind: str, reach: Reach) -> Column:
    """Tell whether a row was written after the last horizon, or is new."""
    if reach.horizon is None:
        return F.lit(True)
    is_after = packing.written_since(kind, reach.horizon - REORDER_MS)
    return F.coalesce(is_after, F.lit(False)) | reach.is_new(spec)


def _of_late(rows: DataFrame, kind: str, starting: DataFrame, late: Sequence[str] | None) -> DataFrame:
    """Return what groups need beside that go back; files that have nothing of them are not read, if they are few."""
    groups = starting.where("is_late").select(*GROUP, (F.coalesce("since", F.lit(0.0)) - REORDER_MS).alias("from_at"))
    sought = rows if late is None else rows.where(F.col("group_id").isin(*late))
    is_wanted = packing.written_since(kind, F.col("from_at"))
    return sought.join(F.broadcast(groups), [*GROUP]).where(is_wanted).drop("from_at")


def _wide(events: DataFrame, homes: DataFrame, reach: Reach) -> DataFrame:
    """Return the lines about coordinators and brokers, given to the groups: of new and late ones, older lines too."""
    wide = packing.of_coordinators(events)
    wanted = homes.withColumn("since", F.col("since") - REORDER_MS)
    fresh = _fresh(COORDINATOR_EVENTS, LINE, reach)
    if reach.horizon is None:
        return packing.given_to_groups(wide, wanted.drop("is_late"))
    going_back = wanted.where("is_late OR since IS NULL")
    return packing.given_to_groups(wide.where(fresh), wanted.drop("is_late")).unionByName(
        packing.given_to_groups(wide.where(~fresh), going_back.drop("is_late"))
    )


SILVER = (GROUP_METADATA, COORDINATOR_EVENTS, GROUP_REQUESTS)
"""Tables that groups are replayed from."""
