"""The groups of a run that looks for findings: those with news, since when they changed, and their cuts.

What has changed is told by questions, one for each kind of news, which are put as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from schemas.table import TableSpec
from schemas.tables.gold import (
    ILLEGAL_GENERATION_BURSTS,
    RECONCILIATIONS,
    REPLAY_SNAPSHOTS,
    STANDING_COMMITS,
    TRANSITIONS,
)
from schemas.tables.silver import OFFSET_COMMITS
from schemas.words import UNREVOKED
from transforms.gold.findings.commits import RECORD
from transforms.gold.findings.ending import OPEN_UNTIL
from transforms.question import Question, of_table
from transforms.sql import among, truth
from transforms.wanted_rows import Wanted

NEWS = (
    T.StructType().add("cluster", "string").add("group_id", "string").add("since", "double").add("is_quiet", "boolean")
)
"""What has changed in a group: since when (epoch ms; null = from its beginning).

`is_quiet`: nothing has but that there are new commits, or that its members said that they live.
"""

GROUPS = (
    T.StructType()
    .add("cluster", "string")
    .add("group_id", "string")
    .add("since", "double")
    .add("cut", "long")
    .add("has_more", "boolean")
)
"""The groups of a run: see `scope.Scope`.

`has_more`: more is to be looked for in it than what is wrong with its offsets. Nothing is in a group that has only new
commits, or members that said that they live, and no finding near that which hears of commits.
"""

_HEARING_QUIET = (ILLEGAL_GENERATION_BURSTS,)
"""Tables of findings that are judged by what was committed, too, and by who was heard of since."""


def named(groups: DataFrame, name: str) -> Question:
    """Tell of groups that are known to have news: cluster, group_id, since.

    Args:
        groups: the groups.
        name: by which a statement has them.
    """
    return Question(f"SELECT cluster, group_id, since, false AS is_quiet FROM {{{name}}}", (), NEWS, {name: groups})


def going_on(at: float, is_quiet: bool = False) -> Question:
    """Tell of groups whose replay went on at some moment (epoch ms), or later.

    Args:
        at: the moment.
        is_quiet: nothing came of it, as all that was new was that their members live, and commit.
    """
    # Each that goes on leaves a snapshot; of one that is gone, the last state is young.
    return Question(
        f"""
        SELECT cluster, group_id, {at!r}D AS since, {truth(is_quiet)} AS is_quiet FROM (
            SELECT cluster, group_id FROM {of_table(REPLAY_SNAPSHOTS)} UNION
            SELECT cluster, group_id FROM {of_table(TRANSITIONS)}
            WHERE NOT is_settled OR settled_at >= timestamp_micros({int(at) * 1000})
        )""",
        (REPLAY_SNAPSHOTS, TRANSITIONS),
        NEWS,
    )


def committed(new: Wanted, line: float) -> Question:
    """Tell of groups that new commits are of, which the replay need not heed.

    Args:
        new: which commits are new.
        line: up to where standing commits stand for all (epoch ms).
    """
    record = ", ".join(RECORD)
    # What is written once more is how a transaction ended.
    return Question(
        f"""
        SELECT cluster, group_id, CASE WHEN bool_and(at IS NOT NULL) THEN min(at) END AS since, true AS is_quiet FROM (
            SELECT cluster, group_id, coalesce(known_at, unix_micros(recorded_at) / 1000.0D) AS at
            FROM {of_table(OFFSET_COMMITS)} LEFT JOIN (
                SELECT cluster, group_id, {record}, {line!r}D AS known_at
                FROM {of_table(STANDING_COMMITS)} WHERE txn_state = 'open'
            ) known USING (cluster, group_id, {record})
        ) WHERE group_id IS NOT NULL GROUP BY cluster, group_id""",
        (OFFSET_COMMITS, STANDING_COMMITS),
        NEWS,
        wanted={OFFSET_COMMITS: new},
    )


def overdue(slow_ms: int, seen_until: float) -> Question:
    """Tell of groups in which somebody is to give up since too long, and does not: time alone has made that late.

    While such a member says nothing, and the others wait, nobody writes anything: the group has no news.

    Args:
        slow_ms: from so long on it is too late.
        seen_until: end of the data (epoch ms).
    """
    return Question(
        f"""
        SELECT cluster, group_id, min(unix_micros(from_at) / 1000.0D) AS since, false AS is_quiet
        FROM {of_table(RECONCILIATIONS)}
        WHERE to_at IS NULL AND {among("state", UNREVOKED)}
            AND unix_micros(from_at) / 1000.0D <= {seen_until - slow_ms!r}D
        GROUP BY cluster, group_id""",
        (RECONCILIATIONS,),
        NEWS,
    )


def cuts(
    news: Sequence[Question], findings: Sequence[TableSpec], reach_ms: int, seen_until: float | None = None
) -> Question:
    """Ask for the groups of a run: GROUPS.

    Args:
        news: questions for what has changed in groups: NEWS.
        findings: the tables of what was found before. What is open there is a reason to look at its group again; where
            they say until when it stays as it is (open_until) as long as there is no news, only from then on, and it
            need not be found anew: it is over, and all else stays as it is (`transforms.gold.findings.ending`).
        reach_ms: see `scope.Scope`.
        seen_until: end of the data (epoch ms); null = not known.
    """
    told = "\nUNION ALL\n".join(f"({each.statement})" for each in news)
    before = "\nUNION ALL\n".join(_before(spec, seen_until) for spec in findings)
    statement = f"""
        WITH before AS ({before}),
        changed AS (
            SELECT cluster, group_id, coalesce(bool_or(is_undated), false) AS is_whole, min(since) AS since,
                min(opened) AS opened, bool_or(is_more) AS is_more,
                min(CASE WHEN is_quiet THEN since END) AS quiet_since
            FROM (
                SELECT cluster, group_id, since, since IS NULL AS is_undated, CAST(NULL AS DOUBLE) AS opened,
                    true AS may_change, NOT is_quiet AS is_more, is_quiet
                FROM ({told})
                UNION ALL
                SELECT cluster, group_id, CAST(NULL AS DOUBLE), false, started_us / 1000.0D, may_change, NOT is_dated,
                    false
                FROM before WHERE is_open
            ) GROUP BY cluster, group_id HAVING bool_or(may_change)
        ),
        reaching AS (
            SELECT cluster, group_id, is_more,
                CAST(floor((quiet_since - {reach_ms}) * 1000) AS BIGINT) AS quiet_us,
                CASE WHEN NOT is_whole THEN coalesce(since, CAST('Infinity' AS DOUBLE)) END AS since,
                CASE WHEN NOT is_whole
                    THEN CAST(floor((least(since, opened) - {reach_ms}) * 1000) AS BIGINT) END AS since_us
            FROM changed
        )
        SELECT cluster, group_id, max(since) AS since,
            CASE WHEN max(since_us) IS NOT NULL THEN least(min(since_us), min(touched_us)) END AS cut,
            bool_or(is_more OR since_us IS NULL OR hears_of_it) AS has_more
        FROM (
            SELECT cluster, group_id, since, since_us, is_more,
                coalesce(hears_quiet AND ended_us >= quiet_us, false) AS hears_of_it,
                CASE WHEN ended_us >= since_us THEN started_us END AS touched_us
            FROM reaching LEFT JOIN before USING (cluster, group_id)
        ) GROUP BY cluster, group_id"""
    read = dict.fromkeys([*(spec for each in news for spec in each.read), *findings])
    beside = {name: rows for each in news for name, rows in each.beside.items()}
    wanted = {spec: rows for each in news for spec, rows in each.wanted.items()}
    return Question(statement, list(read), GROUPS, beside, wanted)


def _before(spec: TableSpec, seen_until: float | None) -> str:
    """Return the statement for what was found before: whether it may be another by now without any news, and when."""
    may_change, is_dated = truth(True), truth(False)
    if OPEN_UNTIL in spec.columns and seen_until is not None:
        may_change = f"coalesce(unix_micros({OPEN_UNTIL}) / 1000.0D <= {seen_until!r}D, true)"
        is_dated = f"{OPEN_UNTIL} IS NOT NULL"
    return f"""
        SELECT cluster, group_id, unix_micros(started_at) AS started_us, unix_micros(ended_at) AS ended_us, is_open,
            {may_change} AS may_change, {is_dated} AS is_dated, {truth(spec in _HEARING_QUIET)} AS hears_quiet
        FROM {of_table(spec)}"""
