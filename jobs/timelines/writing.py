"""Puts what a run of the replay gave into gold: the rows of all tables, then the snapshots that stand for them.

Whoever is cut short between two tables leaves what the next run replaces: it finds the tables other than the last whole
run left them, and the snapshots, from which it goes on, are written last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame

from jobs.frame.job import Job
from jobs.frame.keeping import Keep, fetched
from jobs.frame.row_files import note_parts
from jobs.lake.found_rows import MOST_ROWS
from jobs.lake.rows import settled
from jobs.quality.evidence import new_evidence, new_left_out, note_audited
from jobs.quality.gate import Batch, audited, note_passed
from jobs.timelines.changes import NOT_READ
from jobs.timelines.told import Told
from schemas.table import TableSpec
from schemas.tables.gold import MEMBER_SESSIONS, REPLAY_AUDIT, REPLAY_SNAPSHOTS
from schemas.tables.silver import CLIENT_EVENTS
from transforms.given_rows import selected, told_apart
from transforms.gold.timelines import looking_back, replacing, snapshots
from transforms.gold.timelines.columns import SUPERSEDED, TABLES
from transforms.gold.timelines.gathering import Run
from transforms.gold.timelines.starting_points import HAS_NEWS
from transforms.wanted_rows import Wanted

Spoken = Mapping[str, float]

MOST_LISTED = 1000
"""Groups that a condition lists; of more, whole tables are looked through."""

_SHORT_HISTORY = 20_000
"""Rows that are looked at as a whole, sooner than it is found out how far back any need to be."""


class Replaced(NamedTuple):
    """Which settled rows a run may replace, and which rows are settled by it.

    Attributes:
        late: ids of the groups that may have settled rows to be replaced; None = too many to list.
        far: the moment (epoch ms) before which their settled rows stay, where they are too many; None = not known.
        settling: SQL condition of rows that are settled by nothing but time.
    """

    late: Sequence[str] | None
    far: float | None = None
    settling: str = ""


def settle(job: Job, settling: str) -> None:
    """Settle rows that are settled by nothing but time, where no group is replayed.

    Args:
        job: the job.
        settling: SQL condition of these rows.
    """
    there = job.lake.contents.row_counts(TABLES)
    specs = [spec for spec in TABLES if spec is not REPLAY_SNAPSHOTS and there[spec.full_name]]
    where, staying = dict.fromkeys(specs, replacing.UNSETTLED), dict.fromkeys(specs, replacing.staying_all())
    job.replace([(spec, job.lake.none_of(spec)) for spec in specs], where, staying, settling)
    note_passed(job, specs)


def write(job: Job, told: Told, run: Run, replaced: Replaced, spoken: Spoken, keep: Keep) -> Run:
    """Audit the rows of the groups of a run, and replace those that there are.

    Args:
        job: the job.
        told: what the replay gave.
        run: the groups of the run, and from where they went on.
        replaced: which settled rows they may replace, and which rows of others are settled by now.
        spoken: by source of evidence, the newest moment that it has spoken of.
        keep: keeps what the rows are held against.

    Returns:
        The run as later steps look at it: where the groups are many, it names those that have other rows than before,
        but for these being settled by now, or of which there is new evidence that tells of more, if these are few.

    Raises:
        QualityError: the rows are not to be published.
    """
    starting = run.starting
    superseded = told.part(SUPERSEDED)
    there = job.lake.contents.row_counts(TABLES)
    stays = replacing.staying(replacing.groups_of_run(starting))
    conditions, frames, where, staying, come = {}, [], {}, {}, {}
    if SUPERSEDED in told.counts:
        keys = superseded.select("group_id").distinct().limit(MOST_LISTED + 1).collect()
        late = _listed(replaced.late, [row.group_id for row in keys])
        conditions[MEMBER_SESSIONS] = replacing.condition(late)  # of what is superseded it is not known how far
    usual = replacing.condition(replaced.late, replaced.far)
    for spec in TABLES:
        if spec is REPLAY_SNAPSHOTS or (spec.name not in told.counts and not there[spec.full_name]):
            continue
        where[spec] = conditions.get(spec, usual)
        rows = told.part(spec.name)
        if spec.full_name not in NOT_READ:
            come[spec] = rows
        if spec in conditions:
            there_as_well = settled(stays.of(_matched(job, spec, where[spec])), replaced.settling)
            rows = replacing.without_superseded(rows.unionByName(there_as_well), superseded)
        elif there[spec.full_name]:
            staying[spec] = stays
        frames.append((spec, rows))
    as_changed = _as_changed(job, run, come, where)
    published, counts = _as_published(job, told, run, superseded, there, keep)
    evidence, left_out = new_evidence(job, keep), new_left_out(job)
    with audited(job, Batch(published, evidence, spoken=spoken, left_out=left_out, counts=counts)):
        job.replace(frames, where, staying, replaced.settling)
    note_audited(job)
    _put_snapshots(job, told.part(REPLAY_SNAPSHOTS.name), run, keep)
    return as_changed


def _put_snapshots(job: Job, new: DataFrame, run: Run, keep: Keep) -> None:
    """Put the snapshots of a run in, and take out those that are not to be kept beside them."""
    gone, _ = job.at_hand(job.lake.answer(snapshots.gone(new, run.starting), run.listed, keep), MOST_ROWS)
    job.lake.put(REPLAY_SNAPSHOTS, _both(job, new, gone, snapshots.IS_GONE, keep), snapshots.IS_GONE)


def _both(job: Job, first: DataFrame, second: DataFrame, name: str, keep: Keep) -> DataFrame:
    """Return the rows of both, told apart by a column; of what is not little it is known in which files they lie."""
    both, folder = told_apart(first, second, name), None if job.lake.is_brief else keep.folder(job.spark)
    note_parts(both, [(first, {name: False}), (second, {name: True})], folder)
    return both


def _as_changed(job: Job, run: Run, come: Mapping[TableSpec, DataFrame], where: Mapping[TableSpec, str]) -> Run:
    """Return a run as later steps look at it; one of listed groups is as it was."""
    if run.others is None:
        return run
    has_quiet = _ids(run.starting.where(HAS_NEWS)) is None
    if has_quiet and (_has_clients(job) or _ids(run.starting.where("tells")) is None):
        return run
    tell = "tells" if has_quiet else HAS_NEWS  # few with news are named, whatever it tells
    changed = _ids(job.lake.answer(replacing.differing(run.starting, come, where, tell), None))
    return run if changed is None else run.of_changed(changed, has_quiet)


def _has_clients(job: Job) -> bool:
    """Tell whether clients' logs were read: what they tell is told by the request log as far as that reaches.

    So whatever that has of a group may have a say in what is found in it.
    """
    return job.lake.contents.has_rows(CLIENT_EVENTS)


def _ids(groups: DataFrame) -> Sequence[str] | None:
    found = fetched(selected(groups, ["group_id"]), MOST_LISTED)
    return None if found is None else found["group_id"].to_pylist()


def _as_published(
    job: Job, told: Told, run: Run, superseded: DataFrame, there: Mapping[str, int], keep: Keep
) -> tuple[dict[TableSpec, DataFrame], dict[TableSpec, int]]:
    """Return what the tables will have of the groups of a run; of the audit, whose rows stand alone, what is new.

    Of a long history no more is among them than what is new has to be held against. With it, how many rows that is,
    where nothing but what was told is looked at.
    """
    first = _looked_at_from(job, told, run, keep) if sum(there.values()) > _SHORT_HISTORY else None
    stays = replacing.staying_of_run(replacing.groups_of_run(run.starting), run.listed)
    rows, counts = {}, {}
    for spec in TABLES:
        if spec is REPLAY_SNAPSHOTS:
            continue
        rows[spec] = told.part(spec.name)
        is_alone = spec is REPLAY_AUDIT or not there[spec.full_name]
        if not is_alone:
            looked_at = stays if first is None else looking_back.looked_at(spec, run.listed, first)
            staying = job.lake.some(spec, looked_at, keep)
            rows[spec] = _both(job, rows[spec], staying, looking_back.IS_KNOWN, keep)
        if spec is MEMBER_SESSIONS and SUPERSEDED in told.counts:
            rows[spec] = replacing.without_superseded(rows[spec], superseded)
        elif is_alone:
            counts[spec] = told.counts.get(spec.name, 0)
    return rows, counts


def _looked_at_from(job: Job, told: Told, run: Run, keep: Keep) -> DataFrame:
    given = {spec: told.part(spec.name) for spec in looking_back.OF_GENERATIONS}
    asked = looking_back.known_from(run.starting, given)
    return job.at_hand(job.lake.answer(asked, run.listed, keep), MOST_ROWS)[0]


def _matched(job: Job, spec: TableSpec, where: str) -> DataFrame:
    """Return the rows among which are all that the run replaces."""
    if where == replacing.UNSETTLED:
        return job.lake.some(spec, Wanted(is_settled=False))
    return job.lake.read(spec).where(where) if where else job.lake.read(spec)


def _listed(first: Sequence[str] | None, second: Sequence[str]) -> Sequence[str] | None:
    both = None if first is None else sorted({*first, *second})
    return None if both is None or len(both) > MOST_LISTED else both
