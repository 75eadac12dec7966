"""How far the replay of a cluster came, as its step notes it from run to run."""

from __future__ import annotations

from math import inf

import msgspec

from jobs.frame.job import Job
from jobs.lake.progress import Note
from jobs.timelines.changes import Change, Groups, change_of, with_change
from schemas.tables.bronze import LOG_LINES, OFFSETS_RECORDS
from schemas.tables.gold import REPLAY_SNAPSHOTS, REPLAYED
from schemas.tables.silver import TOPIC_NAMES
from transforms.batches.horizon import Horizon, horizon
from transforms.gold.timelines.columns import TABLES
from transforms.gold.timelines.gathering import Reach
from transforms.gold.timelines.plan import INPUTS

STEP = "rebuild_timelines"

READ = (OFFSETS_RECORDS, LOG_LINES, *INPUTS, TOPIC_NAMES)
"""Tables whose new rows concern the replay."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where the replay of a cluster stands.

    Attributes:
        loaded: by table, the newest `loaded_at` that was read, ISO 8601 in UTC.
        newest: by source, the newest moment that it has spoken of (epoch ms).
        horizon: moment before which evidence is taken to be complete (epoch ms); None = nothing has spoken yet.
        partition_count: partitions of `__consumer_offsets`, as a broker printed it last.
        marks: the tables of gold as the run left them.
        changes: what it and the runs before it changed in them, the youngest last.
    """

    loaded: dict[str, str | None] = {}
    newest: dict[str, float] = {}
    horizon: float | None = None
    partition_count: int | None = None
    marks: dict[str, str] = {}
    changes: tuple[Change, ...] = ()

    @property
    def reach(self) -> Reach:
        """How far it came, for those that gather what is new."""
        return Reach(self.horizon, self.loaded)

    def is_as_left(self, job: Job) -> bool:
        """Tell whether the tables are as this run left them, so that no later one was cut short."""
        return self.marks == marks(job)

    def spoken(self, newest: dict[str, float], lateness_ms: int, silence_ms: int) -> tuple[Standing, Horizon]:
        """Return how it stands once sources have spoken on; the horizon never goes back."""
        merged = self.newest | {source: max(at, self.newest.get(source, -inf)) for source, at in newest.items()}
        reached = horizon(merged, lateness_ms, silence_ms)
        at = max(reached.at, -inf if self.horizon is None else self.horizon)
        return msgspec.structs.replace(self, newest=merged, horizon=at if merged else None), reached


def standing(job: Job) -> Standing | None:
    """Return where the last run came to; None = the replay begins anew."""
    return job.lake.progress.of_kind(STEP, TABLES, Standing)


def noted(job: Job, reached: Standing, before: dict[str, str], changed: Groups | None) -> None:
    """Note where a run came to, after its last write.

    Args:
        job: the job.
        reached: how far it came.
        before: marks of the tables as it found them.
        changed: the groups whose rows it wrote; None = all.
    """
    changes = with_change(reached.changes, change_of(before, changed))
    note: Note = msgspec.to_builtins(msgspec.structs.replace(reached, marks=marks(job), changes=changes))
    job.lake.progress.note(STEP, TABLES, note)


def newest_load(job: Job) -> dict[str, str | None]:
    """Return the newest `loaded_at` of the tables that the replay reads."""
    return dict(job.lake.contents.newest_load(READ))


def marks(job: Job) -> dict[str, str]:
    """Return what changes with the rows of the replay's tables."""
    return {spec.full_name: job.lake.contents.mark(spec) for spec in (*REPLAYED, REPLAY_SNAPSHOTS)}
