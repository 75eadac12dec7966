"""Write, audit, publish: rows are held to their checks and laws before any table gets them.

Of the three ways that a Delta lake offers, this one fits ours. Moving tables back to an earlier version (RESTORE) would
take other clusters' rows along, which share the tables, and leave the notes of the steps ahead of their rows. A pointer
to the version that readers may see would bind only readers that know of it: whoever opens a table with spark-sql,
delta-rs or DuckDB would see what was not let through. So a step first makes its rows, outside of any table
(`Batch.rows`, which Spark keeps); they are looked at as the tables would have them, together with what stays of their
groups, as far back as what is new has to be held against it; and only what passes is committed. No row that breaks a
critical law is in a table at any moment. A run that is killed between audit and commit has written nothing, and one
that is killed between two commits leaves what every killed run leaves: the next one replays the same groups, audits
all of them again, and puts them in the place of what is there. A batch that is not let through leaves no progress
either: the tables stay as they were published last, the next run takes the batch up again, and ends the same until
what is wrong has been set right.

Evidence (bronze and silver) is appended before, as nobody reads it but the replay; it is audited with the first batch
that rests on it, and keeps that from being published.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame

from jobs.frame.keeping import Keep, fetched, keeping, staged
from jobs.frame.row_files import parts_of, row_count
from jobs.lake.duckdb_files import is_in_place, without_spark
from jobs.lake.rows import fetched as all_fetched
from jobs.quality.by_duckdb import RowFiles, rows_of
from jobs.quality.judging import judging
from jobs.quality.verdicts import SOURCES, SOURCES_SCHEMA, Question, Verdict
from schemas.catalog import BY_NAME
from schemas.expectations import checks_of
from schemas.table import TableSpec
from schemas.tables.gold import REPLAY_SNAPSHOTS
from schemas.tables.quality import SET_ASIDE
from transforms.errors import QualityError
from transforms.given_rows import given, rows_held
from transforms.quality.laws.all_laws import LAWS
from transforms.quality.laws.law import Law
from transforms.quality.thresholds import Thresholds

if TYPE_CHECKING:
    from jobs.frame.job import Job

Rows = Mapping[TableSpec, DataFrame]

_TABLES_AT_ONCE = 4

MOST_AT_HAND = 100_000
"""So many rows, of all tables together, are looked at by the driver."""

_FEW = {REPLAY_SNAPSHOTS: 1_000}
"""Of tables with large rows so many: a group's state has some 30 KB, and the JVM holds what it hands on three times."""

_SMALL_TABLE = 50_000
"""Rows of a table that is read once and kept, with all its columns, while Spark puts the laws to it."""


@dataclass(frozen=True)
class Batch:
    """What is held to checks and laws.

    Attributes:
        rows: the rows by table, as the tables would have them of the groups that are concerned.
        evidence: likewise, but rows that tables have, and that are read from there as often as needed.
        beside: further tables that laws may look at; their own rows are not in question.
        spoken: by source of evidence, the newest moment (epoch ms) that it has spoken of.
        left_out: entries of logs that were read along with the evidence, and that no table has.
        counts: numbers of those of the rows by table that are computed already, and as they will be read.
    """

    rows: Rows
    evidence: Rows = field(default_factory=dict)
    beside: Rows = field(default_factory=dict)
    spoken: Mapping[str, float] = field(default_factory=dict)
    left_out: int = 0
    counts: Mapping[TableSpec, int] = field(default_factory=dict)

    @property
    def subjects(self) -> list[TableSpec]:
        """Tables whose rows are in question."""
        return [*self.rows, *self.evidence]

    @property
    def laws(self) -> list[Law]:
        """Laws about these that all they read is there for."""
        return laws_about(self.subjects, self.beside)


@contextmanager
def audited(job: Job, batch: Batch) -> Iterator[Rows]:
    """Hold rows to their checks and laws, and keep them at hand for as long as they are being published.

    Yields:
        The batch's rows, computed: a law that looked at how they come about would plan all of it once more.

    Raises:
        QualityError: rows break a critical check or law; they are set aside, and nothing is to be written.
    """
    if not batch.subjects:  # nothing was found, and nothing was there
        yield {}
        return
    job.report.activity("auditing")
    to_compute = [spec for spec, told in batch.rows.items() if spec not in batch.counts and not _is_computed(told)]
    with keeping() as keep:
        compute = job.staged if job.lake.is_brief else keep.in_columns
        with ThreadPoolExecutor(_TABLES_AT_ONCE) as threads:
            computed = threads.map(compute, [batch.rows[spec] for spec in to_compute])
            rows = {**batch.rows, **dict(zip(to_compute, computed, strict=True))}
        hold(job, replace(batch, rows=rows), "nothing of this batch was published")
        yield rows
    note_passed(job, batch.subjects)


def _is_computed(rows: DataFrame) -> bool:
    return parts_of(rows) is not None or rows_held(rows) is not None


def hold(job: Job, batch: Batch, so: str) -> list[Verdict]:
    """Hold rows to their checks and laws.

    Args:
        job: the job.
        batch: the rows.
        so: what follows for them if a critical one is broken.

    Raises:
        QualityError: a critical one is; the rows that break it are set aside.
    """
    judging()  # so that it is there when needed
    with keeping() as keep:
        question = _question(job, batch, keep)
        verdicts = question.verdicts(job.spark)
    job.record.take(verdicts)
    broken = [verdict for verdict in verdicts if not verdict.passed]
    critical = [verdict for verdict in broken if verdict.is_critical]
    for verdict in broken:
        if not verdict.is_critical:
            job.report.warn(str(verdict))
    if critical:
        count = job.record.set_aside(job.lake, question.offending(job.spark, critical))
        told = " | ".join(map(str, critical))
        where = f"{count:,} rows were set aside in {job.lake.path(SET_ASIDE)} under the run {job.record.run_id}"
        raise QualityError(f"quality gate failed, {so}: {told}; {where}")
    return verdicts


def note_passed(job: Job, specs: Sequence[TableSpec]) -> None:
    """Note that what was written to tables since all else had passed has passed as well."""
    for spec in specs:
        job.lake.contents.note_new_passed(spec, digest(spec))


def digest(spec: TableSpec) -> str:
    """Return what changes with what a table is held to."""
    held_to = repr((checks_of(spec), [law.certain for law in LAWS if law.table == spec.name]))
    return hashlib.blake2b(held_to.encode("utf-8"), digest_size=8).hexdigest()


def laws_about(subjects: Iterable[TableSpec], beside: Iterable[TableSpec] = ()) -> list[Law]:
    """Return the laws about tables that all they read is there for, be it beside these."""
    names = {spec.name for spec in subjects}
    there = names | {spec.name for spec in beside} | {SOURCES}
    return [law for law in LAWS if law.table in names and there.issuperset(law.reads)]


def reads_beside(specs: Sequence[TableSpec]) -> list[TableSpec]:
    """Return the tables that laws about some tables look at beside these."""
    names = {name for law in LAWS if law.table in {spec.name for spec in specs} for name in law.reads}
    return [spec for name, spec in BY_NAME.items() if name in names and spec not in specs]


def _question(job: Job, batch: Batch, keep: Keep) -> Question:
    looked_at = {**batch.beside, **batch.evidence, **batch.rows}
    of_tables = job.lake.contents.row_counts([spec for spec in looked_at if spec not in batch.rows])
    most = {spec: of_tables[spec.full_name] for spec in looked_at if spec not in batch.rows}
    most |= batch.counts
    looked_at |= {spec: job.lake.none_of(spec) for spec, count in most.items() if not count}
    sources = _sources(job, batch.spoken)
    rows = {spec.name: frame for spec, frame in looked_at.items()} | {SOURCES: sources}
    question = Question(rows, batch.subjects, batch.laws, thresholds(job, batch.left_out))
    are_few = _least_count(batch) <= MOST_AT_HAND and not any(map(is_in_place, looked_at.values()))
    at_hand = _at_hand(looked_at) if are_few else None
    scratch = keep.folder(job.spark) if at_hand is None else None
    if scratch is not None:
        at_hand = _in_files(question, keep)
    if at_hand is not None:
        return replace(question, at_hand={**at_hand, SOURCES: all_fetched(sources)}, scratch=scratch)
    small = [spec for spec, count in most.items() if 0 < count <= _SMALL_TABLE]
    with ThreadPoolExecutor(_TABLES_AT_ONCE) as threads:
        kept = zip(small, threads.map(staged, [looked_at[spec] for spec in small]), strict=True)
        return replace(question, rows=rows | {spec.name: frame for spec, frame in kept})


def _least_count(batch: Batch) -> int:
    """Return how many rows there are at the least, as far as it is known without a query."""
    in_files = {spec: row_count(parts) for spec, rows in batch.rows.items() if (parts := parts_of(rows)) is not None}
    return sum({**in_files, **batch.counts}.values())


def _in_files(question: Question, keep: Keep) -> dict[str, pa.Table | RowFiles]:
    """Return rows as files of this machine; what is not in any yet is written, as far as it is asked for."""
    words = set(re.findall(r"\w+", question.statement))

    def as_files(name: str, rows: DataFrame) -> pa.Table | RowFiles:
        known = without_spark(rows)
        if known is not None:
            return RowFiles(known, tuple(rows.columns)) if isinstance(known, str) else known
        if not parts_of(rows):
            rows = keep.in_columns(rows.select(*(name for name in rows.columns if name in words)))
        return rows_of(parts_of(rows) or (), rows.columns)

    frames = {name: rows for name, rows in question.rows.items() if name != SOURCES}
    with ThreadPoolExecutor(_TABLES_AT_ONCE) as threads:
        return dict(zip(frames, threads.map(as_files, frames, frames.values()), strict=True))


def _at_hand(rows: Rows) -> dict[str, pa.Table | RowFiles] | None:
    """Return rows if all of them together are few."""
    found: dict[str, pa.Table | RowFiles] = {}
    left = MOST_AT_HAND
    with ThreadPoolExecutor(_TABLES_AT_ONCE) as threads:
        fetching = threads.map(lambda spec: fetched(rows[spec], _FEW.get(spec, MOST_AT_HAND)), rows)
        for spec, table in zip(rows, fetching, strict=True):
            if table is None or table.num_rows > left:
                return None
            found[spec.name], left = table, left - table.num_rows
    return found


def thresholds(job: Job, left_out: int = 0) -> Thresholds:
    """Return what laws compare with, as the settings have it, and the number of entries that no table has."""
    settings = job.settings
    return Thresholds(
        now=datetime.now(timezone.utc),
        clock_slack=settings.quality.clock_slack_ms,
        silence=settings.replay.silence_ms,
        min_agreement=settings.quality.min_agreement,
        max_rejected_share=settings.quality.max_rejected_share,
        max_unrecognised_share=settings.quality.max_unrecognised_share,
        left_out=left_out,
    )


def _sources(job: Job, spoken: Mapping[str, float]) -> DataFrame:
    return given(
        job.spark,
        SOURCES_SCHEMA,
        (
            {
                "cluster": job.settings.cluster,
                "source": source,
                "newest_at": datetime.fromtimestamp(at / 1000, timezone.utc),
            }
            for source, at in spoken.items()
        ),
    )
