"""What the groups of a run are replayed from: their states, and what was written since these were put down.

A group that goes on from where the last run stood needs what was written since then, and what is new. One that goes
back, as evidence of it came late, or that was left behind, needs all that was written since the state from which it is
replayed; that is read for these groups alone, or where they are too many to list, as far back as any of them needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from schemas.table import TableSpec
from schemas.tables.gold import REPLAY_SNAPSHOTS
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_METADATA, GROUP_REQUESTS, MODERN_GROUP_RECORDS
from transforms.coordinator.evidence.tolerances import REORDER_MS
from transforms.gold.timelines import evidence as packing
from transforms.gold.timelines.evidence import EVIDENCE, HOMES, KINDS, LINE, OF_COORDINATORS, STARTING
from transforms.loads import loaded_after
from transforms.question import Question
from transforms.wanted_rows import Wanted


@dataclass(frozen=True)
class Reach:
    """How far the last run came.

    Attributes:
        horizon: its horizon (epoch ms); None = there was none.
        loaded: by table, the newest `loaded_at` it knew, ISO 8601 in UTC.
    """

    horizon: float | None = None
    loaded: Mapping[str, str | None] | None = None

    def load(self, spec: TableSpec) -> str | None:
        """Return the newest `loaded_at` of a table that the last run knew."""
        return (self.loaded or {}).get(spec.full_name)


@dataclass(frozen=True)
class Far:
    """How far back groups go that need older evidence than the last horizon.

    Attributes:
        since: the earliest state from which one of them is replayed (epoch ms).
        taken_until: rows that were settled before it stay (epoch ms).
    """

    since: float
    taken_until: float


@dataclass(frozen=True)
class Run:
    """The groups of a run.

    Attributes:
        starting: from where they go on.
        homes: where they live.
        groups: by their ids, the moment (epoch ms) before which their settled rows stay, None = none of them does;
            None in place of all = there are too many to list.
        others: such a moment for all that are not listed, which just go on; None = all are listed, or none.
        quiet: such a moment for those that are listed no more, as nothing came of their new evidence: that their
            members live, and commit; None = there are none.
        late: ids of those that need older evidence than the last horizon, and may have settled rows to be replaced, as
            they go back, or were left behind; None = too many to list.
        far: how far these go back, where they are too many.
        has_new: some of them were not replayed before.
    """

    starting: DataFrame
    homes: DataFrame
    groups: Mapping[str, float | None] | None = None
    others: float | None = None
    quiet: float | None = None
    late: Sequence[str] | None = None
    far: Far | None = None
    has_new: bool = True

    @property
    def listed(self) -> Sequence[str] | None:
        """Their ids; None = there are too many to list."""
        return None if self.groups is None or self.others is not None else list(self.groups)

    def of_changed(self, changed: Sequence[str], has_quiet: bool) -> Run:
        """Return a run that says nothing of the groups that just went on and came out as they were.

        Args:
            changed: ids of groups of the run that did not.
            has_quiet: among those that came out as they were are some of which it is new that their members live.
        """
        assert self.groups is not None, "they are known"
        named = {**dict.fromkeys(changed, self.others), **self.groups}
        return replace(self, groups=named, others=None, quiet=self.others if has_quiet else None)


SILVER = (GROUP_METADATA, MODERN_GROUP_RECORDS, COORDINATOR_EVENTS, GROUP_REQUESTS)
"""Tables that groups are replayed from."""


def gathered(run: Run, reach: Reach) -> Question:
    """Ask for the evidence that the groups of a run go on with: EVIDENCE.

    Args:
        run: the groups.
        reach: how far the last run came.
    """
    needs_older = reach.horizon is not None and run.late != []
    beside = {STARTING: run.starting, HOMES: run.homes}
    wanted = {KINDS[kind][0]: _wanted(kind, run, reach, needs_older) for kind in KINDS}
    wanted[REPLAY_SNAPSHOTS] = Wanted(run.listed)
    statement = "\nUNION ALL\n".join(_parts(reach, needs_older))
    read = SILVER if reach.horizon is None else (*SILVER, REPLAY_SNAPSHOTS)
    return Question(statement, read, EVIDENCE, beside, {spec: wanted[spec] for spec in read})


def _parts(reach: Reach, needs_older: bool) -> Iterator[str]:
    yield packing.places()
    if reach.horizon is not None:
        yield packing.states()
    for kind in KINDS:
        is_new = _fresh(kind, reach).lateness
        yield packing.rows_of_groups(kind, is_new)
        if needs_older:
            yield packing.older_rows(kind, is_new, REORDER_MS)
    yield packing.lines_of_coordinators(_fresh(LINE, reach).lateness, REORDER_MS)


def _fresh(kind: str, reach: Reach) -> Wanted:
    """Return which rows were written after the last horizon, or are new; without a horizon, all are."""
    spec, _, written = KINDS[kind]
    new = loaded_after(reach.load(spec))
    if reach.horizon is None or not new.since:
        return Wanted()
    return replace(new, since={**new.since, written: int((reach.horizon - REORDER_MS) * 1000)})


def _wanted(kind: str, run: Run, reach: Reach, needs_older: bool) -> Wanted:
    """Return the rows of a kind among which are all that a run needs."""
    fresh, late = _fresh(kind, reach), run.late if needs_older else []
    if late is None:
        fresh = Wanted() if run.far is None else _fresh(kind, replace(reach, horizon=run.far.since))
        late = []
    older = {"group_id": late}
    if kind != LINE:
        return replace(fresh, groups=run.listed, or_in=older)
    # Lines about coordinators name no group; of new groups, older ones are needed, too.
    return replace(fresh, or_in=older | {"event": OF_COORDINATORS if late or run.has_new else ()})
