"""The commits that stand for all others: what findings in a group's offsets, and its health, need of its history.

Of each partition these are the last few commits, the last few that were made while the group had no members, and those
on both sides of the beginning of the assignment in which it is owned still; and beside them all commits behind the
group's *line*: the first one whose transaction is open, or what the replay has not settled. Findings in these are those
in the whole history.
"""

from __future__ import annotations

from schemas.tables.gold import ASSIGNMENTS, GENERATIONS, STANDING_COMMITS
from schemas.tables.silver import OFFSET_COMMITS
from transforms.findings.offsets.keeping import GOES_ON
from transforms.findings.offsets.rewinds import DELETED_WITHIN_MS
from transforms.gold.findings.search import CUTS
from transforms.gold.offset_use import IS_TAKEN, in_empty
from transforms.question import of_table
from transforms.sql import moment, quoted

BEHIND_MS = 2 * DELETED_WITHIN_MS
"""How far the line lies behind the horizon: so that all is settled that has a say in what lies before it."""

LAST = 4
"""Commits of each partition that stand: they tell how often it is usually committed, also if one comes out of turn."""

LINES = "lines"
"""Name of what `lines_of_run` gives."""

RECORD = ("topic_partition_of_record", "record_offset")

_KEY = "cluster, group_id, topic, `partition`"
_RECORD = ", ".join(RECORD)
_LATEST = ", ".join(f"{name} DESC" for name in RECORD)

_COLUMNS = ", ".join(map(quoted, STANDING_COMMITS.columns))


def together(line: float, is_new: str) -> str:
    """Return the statement for the standing commits and younger ones, each once.

    It has the groups of the run as CUTS. The younger version tells how a transaction ended. Of groups that are looked
    at as a whole all commits are told; of others those behind the line, and those before it that are new: as a rule
    these are few, and tell how transactions ended.

    Args:
        line: the line (epoch ms).
        is_new: condition of commits that the last run did not know.
    """
    groups = f"JOIN ({_of_run(line)}) of_run USING (cluster, group_id)"
    is_old = f"recorded_at <= {moment(line)}"
    return f"""
        WITH since AS (
            SELECT * FROM {of_table(OFFSET_COMMITS)} {groups}
            WHERE is_whole OR recorded_at IS NULL OR recorded_at > {moment(line)} OR ({is_new})
        )
        SELECT {_COLUMNS} FROM {of_table(STANDING_COMMITS)} {groups}
        LEFT ANTI JOIN (SELECT cluster, group_id, {_RECORD} FROM since WHERE {is_old} AND NOT is_whole) anew
            USING (cluster, group_id, {_RECORD})
        WHERE {is_old} AND NOT is_whole
        UNION ALL
        SELECT {_COLUMNS} FROM since"""


def _of_run(line: float) -> str:
    """Return the statement for the groups of a run, and whether all that there is of them is looked through."""
    return f"SELECT cluster, group_id, NOT coalesce(since >= {line!r}D, false) AS is_whole FROM {{{CUTS}}}"


def lines_of_run(line: float) -> str:
    """Return the statement for up to where standing commits stand for all: cluster, group_id, line DOUBLE (epoch ms).

    Args:
        line: where it lies if no transaction is open (epoch ms); null for groups that are looked at as a whole.
    """
    return f"""
        SELECT cluster, group_id, CASE WHEN NOT is_whole THEN coalesce(opened, {line!r}D) END AS line
        FROM ({_of_run(line)})
        LEFT JOIN (SELECT cluster, group_id, line AS opened FROM ({_lines(of_table(STANDING_COMMITS), line)}))
            USING (cluster, group_id)"""


def _lines(commits: str, line: float) -> str:
    """Return the statement for the line of each group that has commits; the arguments are those of `lines_of_run`."""
    opened = "min(CASE WHEN txn_state = 'open' THEN unix_micros(recorded_at) / 1000.0D END)"
    first = f"coalesce(least({opened} - 1.0D, {line!r}D), {line!r}D)"
    return f"SELECT cluster, group_id, {first} AS line FROM {commits} GROUP BY cluster, group_id"


def standing(line: float) -> str:
    """Return the statement for what is to stand for the commits up to a moment, and all younger ones.

    It reads all commits of some groups, or what `together` gives; the assignments of these groups, those that reach
    beyond the line at least; and their generations.

    Args:
        line: the moment (epoch ms).

    Returns:
        SQL that gives `gold.standing_commits`.
    """
    commits = of_table(OFFSET_COMMITS)
    by_kind = f"PARTITION BY {_KEY}, is_effective, is_tombstone ORDER BY {_LATEST}"
    return f"""
        WITH lines AS ({_lines(commits, line)}),
        lined AS (
            SELECT *, coalesce(unix_micros(recorded_at) / 1000.0D <= line, false) AS is_settled,
                NOT txn_state IN ('aborted', 'open') AS is_effective
            FROM {commits} JOIN lines USING (cluster, group_id)
        ),
        settled AS (SELECT * FROM lined WHERE is_settled),
        taken AS (SELECT * FROM settled WHERE {IS_TAKEN}),
        ranked AS (
            SELECT *, row_number() OVER (PARTITION BY {_KEY} ORDER BY {_LATEST}) AS newest,
                row_number() OVER ({by_kind}) AS of_its_kind,
                row_number() OVER (PARTITION BY {_KEY} ORDER BY recorded_at DESC, {_LATEST}) AS latest
            FROM settled
        ),
        begins AS (
            SELECT DISTINCT {_KEY}, unix_micros(valid_from) AS begin_us
            FROM {of_table(ASSIGNMENTS)} LEFT JOIN lines USING (cluster, group_id)
            WHERE valid_from IS NOT NULL
                AND (valid_to IS NULL OR unix_micros(valid_to) / 1000.0D > coalesce(line, {line!r}D))
        ),
        beside_begins AS (
            SELECT *, row_number() OVER (
                PARTITION BY {_KEY}, begin_us, us < begin_us ORDER BY abs(us - begin_us), {_LATEST}
            ) AS place
            FROM (SELECT *, unix_micros(recorded_at) AS us FROM taken) JOIN begins USING ({_KEY})
        ),
        without_members AS (
            SELECT cluster, group_id, emptied_at, ended_at FROM {of_table(GENERATIONS)} WHERE emptied_at IS NOT NULL
        ),
        taken_perhaps_in_empty AS (
            SELECT * FROM taken
            LEFT SEMI JOIN (SELECT DISTINCT cluster, group_id FROM without_members) emptied USING (cluster, group_id)
        ),
        of_empty AS (
            SELECT *, row_number() OVER (PARTITION BY {_KEY} ORDER BY {_LATEST}) AS newest
            FROM ({in_empty("taken_perhaps_in_empty", "without_members", STANDING_COMMITS.columns)}) WHERE is_in_empty
        )
        SELECT {_COLUMNS} FROM ranked
        WHERE newest = 1 OR latest = 1
            OR (is_effective AND of_its_kind <= CASE WHEN is_tombstone THEN 1 ELSE {LAST} END)
        UNION SELECT {_COLUMNS} FROM lined WHERE NOT is_settled
        UNION SELECT {_COLUMNS} FROM beside_begins WHERE place = 1
        UNION SELECT {_COLUMNS} FROM of_empty WHERE newest <= {GOES_ON}"""
