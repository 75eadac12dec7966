"""Who keeps the offsets of each group, of late: its members, consumers that are none, both, or somebody else.

The verdict is that of `transforms.findings.offsets.keeping`, which has a group's whole history. Here the last day
tells, and of its commits those that stand, so that a run's cost does not grow with what there is; only whether a group
has ever had assignments and commits is asked of everything.
"""

from __future__ import annotations

from itertools import product

from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, GENERATIONS, MEMBER_SESSIONS
from schemas.tables.silver import GROUP_REQUESTS
from transforms.findings.offsets.keeping import COMMITS, GOES_ON, OffsetUse, keeping_of
from transforms.gold.offset_use import IS_TAKEN, in_empty
from transforms.sql import literal, truth

_RECORD = ("topic_partition_of_record", "record_offset")
_MADE = ("cluster", "group_id", "topic", "partition", *_RECORD, "recorded_at")


def free_commits(commits: TableSpec, since_us: str) -> dict[str, str]:
    """Return the queries that count the commits of each group that are no member's.

    Args:
        commits: the table of the commits that stand for all, or of all.
        since_us: the moment (epoch µs) from which on commits count, in SQL.

    Returns:
        By name, each building on those before it; the last, `free`, gives cluster, group_id, free_commits BIGINT and
        free_refused BIGINT, as `OffsetUse` has them, but that of many commits in one partition those that stand count,
        `GOES_ON` at least; groups that have none may be missing.
    """
    made = ", ".join(_MADE)
    free = ", ".join(f"free.{name}" for name in _MADE)
    return {
        "made": f"""
            SELECT {made} FROM {{{commits.name}}}
            WHERE {IS_TAKEN} AND unix_micros(recorded_at) > {since_us}""",
        "without_members": f"""
            SELECT cluster, group_id, emptied_at, ended_at FROM {{{GENERATIONS.name}}}
            WHERE emptied_at IS NOT NULL AND (ended_at IS NULL OR unix_micros(ended_at) > {since_us})""",
        "made_in_empty": in_empty("made", "without_members", _MADE),
        "never_owned": f"""
            SELECT {free} FROM made free
            JOIN (
                SELECT cluster, group_id, min(valid_from) AS known_since FROM {{{ASSIGNMENTS.name}}}
                GROUP BY cluster, group_id HAVING NOT bool_or(role IS NOT NULL)
            ) known USING (cluster, group_id)
            LEFT ANTI JOIN (SELECT DISTINCT cluster, group_id, topic, partition FROM {{{ASSIGNMENTS.name}}}) owned
            USING (cluster, group_id, topic, partition)
            WHERE recorded_at >= known_since""",
        "free_stored": f"""
            SELECT cluster, group_id, max(of_partition) AS free_stored FROM (
                SELECT cluster, group_id, topic, partition, count(*) AS of_partition FROM (
                    SELECT {made} FROM made_in_empty WHERE is_in_empty UNION SELECT {made} FROM never_owned
                ) GROUP BY cluster, group_id, topic, partition
            ) GROUP BY cluster, group_id""",
        "free_sent": _free_sent(since_us),
        "free": """
            SELECT cluster, group_id, coalesce(free_taken, free_stored) AS free_commits, free_refused
            FROM free_stored FULL OUTER JOIN free_sent USING (cluster, group_id)""",
    }


def keeper() -> str:
    """Return in SQL who keeps a group's offsets, given whether it has assignments and commits, and its free commits."""
    asked = (
        "has_assignments",
        "has_commits",
        f"coalesce(free_commits, 0) >= {GOES_ON}",
        "coalesce(free_refused, 0) > 0",
    )
    cases = []
    for answers in product((False, True), repeat=len(asked)):
        has_assignments, has_commits, is_going_on, is_refused = answers
        use = OffsetUse(
            has_assignments=has_assignments,
            has_commits=has_commits,
            free_commits=GOES_ON * is_going_on,
            free_refused=int(is_refused),
        )
        if (verdict := keeping_of(use)) is not None:
            fits = " AND ".join(f"({what}) = {truth(answer)}" for what, answer in zip(asked, answers, strict=True))
            cases.append(f"WHEN {fits} THEN {literal(verdict)}")
    return f"CASE {' '.join(cases)} END"


def _free_sent(since_us: str) -> str:
    """What the request log tells of each group in it; members that have left may forget who they were."""
    return f"""
        SELECT cluster, group_id, coalesce(max(IF(is_nobodys, taken, NULL)), 0) AS free_taken,
            coalesce(sum(IF(is_nobodys, refused, NULL)), 0) AS free_refused
        FROM (
            SELECT sent.*, is_free AND coalesce(NOT is_member, true) AS is_nobodys FROM (
                SELECT cluster, group_id, client_id, is_free, count_if(error = 'NONE') AS taken,
                    count_if(error = 'UNKNOWN_MEMBER_ID') AS refused
                FROM (
                    SELECT *, coalesce(
                        member_id = '' AND group_instance_id IS NULL AND generation < 0, false
                    ) AS is_free
                    FROM {{{GROUP_REQUESTS.name}}}
                    WHERE api IN ({", ".join(map(literal, COMMITS))}) AND error IS NOT NULL
                        AND unix_micros(answered_at) > {since_us}
                ) GROUP BY cluster, group_id, client_id, is_free
            ) sent LEFT JOIN (
                SELECT cluster, group_id, client_id, true AS is_member FROM {{{MEMBER_SESSIONS.name}}}
                UNION SELECT cluster, group_id, client_id, true AS is_member FROM {{{ASSIGNMENTS.name}}}
            ) members USING (cluster, group_id, client_id)
        ) GROUP BY cluster, group_id"""
