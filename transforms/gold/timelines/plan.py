"""What a run of the replay is about: the groups, from where each goes on, and the evidence that it goes on with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from schemas.table import TableSpec
from schemas.tables.gold import COORDINATORS, REPLAY_SNAPSHOTS
from schemas.tables.silver import OFFSET_COMMITS
from transforms.coordinator.kafka.java_hashing import offsets_partition
from transforms.coordinator.rows.coordinators import DEFAULT_PARTITION_COUNT
from transforms.given_rows import given, rows_held
from transforms.gold.timelines import homes
from transforms.gold.timelines.evidence import GROUP
from transforms.gold.timelines.gathering import SILVER, Reach, Run, gathered
from transforms.gold.timelines.news import HOLDS_RECORDS, RENAMED, news
from transforms.gold.timelines.starting_points import STARTING, from_the_beginning, starting_points
from transforms.loads import loaded_after
from transforms.question import Question
from transforms.wanted_rows import Wanted

INPUTS = (*SILVER, OFFSET_COMMITS)
"""Silver tables that a run reads."""

Answer = Callable[[Question], DataFrame]
"""What answers a question."""

_HOME = T.StructType([*(STARTING[name] for name in GROUP), T.StructField("partition", T.IntegerType())])
_HOMES = T.StructType(
    [*_HOME, T.StructField("is_seen", T.BooleanType()), *(STARTING[name] for name in ("since", "needs_older"))]
)


@dataclass(frozen=True)
class Plan:
    """A run over what is new.

    Attributes:
        answer: answers what is asked of the tables `INPUTS`, of `gold.replay_snapshots` and of `gold.coordinators`.
        reach: how far the last run came; where it has no horizon, there was none, and all groups begin at their
            beginning.
        partition_count: partitions of `__consumer_offsets`; None = Kafka's default.
        renamed: groups with rows in which names can stand now in place of ids (`news.of_names`); None = none.
    """

    answer: Answer
    reach: Reach
    partition_count: int | None = None
    renamed: DataFrame | None = None

    def starting(self) -> DataFrame:
        """Return the groups of the run, and from where each goes on: STARTING."""
        horizon = self.reach.horizon
        is_first = horizon is None
        touched = news(is_first, self.renamed is not None)
        statement = from_the_beginning(touched) if horizon is None else starting_points(touched, horizon)
        read = (*INPUTS, COORDINATORS, *(() if is_first else (REPLAY_SNAPSHOTS,)))
        beside = {} if self.renamed is None else {RENAMED: self.renamed}
        return self.answer(Question(statement, read, STARTING, beside, self._new, is_narrow=True))

    def homes(self, starting: DataFrame) -> DataFrame:
        """Return where the groups live: what `homes.homes` gives, with since and needs_older."""
        beside = {homes.STARTING: starting, homes.COMPUTED: self._computed(starting)}
        read = (*HOLDS_RECORDS, COORDINATORS)
        return self.answer(Question(homes.homes(HOLDS_RECORDS), read, _HOMES, beside, self._new, is_narrow=True))

    def evidence(self, run: Run) -> Question:
        """Ask for the evidence that the groups of a run go on with."""
        return gathered(run, self.reach)

    def _computed(self, starting: DataFrame) -> DataFrame:
        """Return in which partition each group should be."""
        count, known = self.partition_count or DEFAULT_PARTITION_COUNT, rows_held(starting)
        if known is None:
            return starting.select(*GROUP, homes.partition_of(F.col("group_id"), F.lit(count)).alias("partition"))
        rows = known.select(list(GROUP)).to_pylist()
        return given(
            starting.sparkSession,
            _HOME,
            ({**row, "partition": offsets_partition(row["group_id"], count)} for row in rows),
        )

    @property
    def _new(self) -> dict[TableSpec, Wanted]:
        """Of silver, what the last run did not know."""
        return {spec: loaded_after(self.reach.load(spec)) for spec in INPUTS}
