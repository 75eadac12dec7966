"""What a run of the replay is about: the groups, from where each goes on, and the evidence that it goes on with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame

from schemas.tables.gold import COORDINATORS, REPLAY_SNAPSHOTS
from schemas.tables.silver import COORDINATOR_EVENTS, OFFSET_COMMITS
from transforms.gold.timelines import evidence as packing
from transforms.gold.timelines import homes, news
from transforms.gold.timelines.evidence import GROUP, KINDS, MODERN, RECORD
from transforms.gold.timelines.gathering import SILVER, Reach, Read, Run, Some, gathered
from transforms.gold.timelines.starting_points import from_the_beginning, starting_points

INPUTS = (*SILVER, OFFSET_COMMITS)
"""Silver tables that a run reads."""


@dataclass(frozen=True)
class Plan:
    """A run over what is new.

    Attributes:
        read: gives the rows of one of the tables `INPUTS`, or of `gold.replay_snapshots` or `gold.coordinators`.
        some: gives few rows of one of them sooner.
        new: gives the rows of one of `INPUTS` that the last run did not know.
        reach: how far the last run came; where it has no horizon, there was none, and all groups begin at their
            beginning.
        partition_count: partitions of `__consumer_offsets`; None = Kafka's default.
        renamed: groups with rows in which names can stand now in place of ids (`news.of_names`); None = none.
    """

    read: Read
    some: Some
    new: Read
    reach: Reach
    partition_count: int | None = None
    renamed: DataFrame | None = None

    def starting(self) -> DataFrame:
        """Return the groups of the run, and from where each goes on; see `starting_points`."""
        of_groups = {kind: self.new(spec).where("group_id IS NOT NULL") for kind, (spec, _, _) in KINDS.items()}
        touched = [
            news.of_groups(of_groups),
            news.of_places(self._seen(), self._known()),
        ]
        if self.reach.horizon is None:
            return from_the_beginning(news.together(touched))
        wide = packing.of_coordinators(self.new(COORDINATOR_EVENTS))
        touched += [news.of_coordinators(wide, self._known()), news.unfinished(self._snapshots())]
        touched += [] if self.renamed is None else [self.renamed]
        return starting_points(news.together(touched), self._snapshots())

    def homes(self, starting: DataFrame) -> DataFrame:
        """Return where the groups live: what `homes.homes` gives, with since and is_late."""
        groups = starting.select(*GROUP, "since", "is_late")
        return homes.homes(groups, self._seen(), self._known(), self.partition_count)

    def evidence(self, run: Run) -> DataFrame:
        """Return the evidence that the groups of a run go on with."""
        return gathered(self.read, self.some, self._snapshots(), run, self.reach)

    def _known(self) -> DataFrame:
        return homes.known(self.read(COORDINATORS))

    def _snapshots(self) -> DataFrame:
        return self.read(REPLAY_SNAPSHOTS)

    def _seen(self) -> DataFrame:
        tables = (KINDS[RECORD][0], KINDS[MODERN][0], OFFSET_COMMITS)
        return reduce(DataFrame.unionByName, (homes.seen_in(self.new(spec)) for spec in tables)).distinct()
