"""Partitions that miss commits across a rebalance.

silent: a member owns a partition for long without committing it, while the group commits others. A group that commits
nothing at all is not told of: it keeps its offsets elsewhere, which is no fault.
lost: the owner before wanted to commit it and was refused; what it did is done again.

Each commit, assignment and refusal of a partition is put in one order of time, once, in place of joins by time. Left
out before is what can be no gap: owned too shortly to be silent, of a partition of which no commit was refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import types as T

from schemas.tables.gold import ASSIGNMENTS, COMMIT_GAPS
from schemas.tables.silver import GROUP_REQUESTS, OFFSET_COMMITS
from transforms.findings.offsets.rewinds import COMMITS
from transforms.gold.findings.commits import LINES
from transforms.gold.findings.search import fields_of
from transforms.gold.offset_use import IS_TAKEN
from transforms.question import of_table
from transforms.sql import among, moment, quoted

READ = (OFFSET_COMMITS, ASSIGNMENTS, GROUP_REQUESTS)
"""Tables that gaps are found in."""

OWNED = "owned"
"""Name of the rows that `owned` gives."""

_OF_OWNED = f"{{{OWNED}}}"

IS_REFUSED_COMMIT = f"error <> 'NONE' AND {among('api', COMMITS)}"
"""Condition of requests by which a commit can be lost, if they tell what they would have committed.

The error says nothing new; but by it a reader leaves out all rows of a file that were not refused.
"""

_IS_COMMITTED_FOR = "NOT hold <=> 'revoking' AND NOT group_type <=> 'share' AND NOT group_type <=> 'streams'"
"""Share groups commit elsewhere, and what a streams group's member has are tasks."""

_PARTITION = "cluster, group_id, topic, `partition`"
_KEY = f"{_PARTITION}, life, generation"
_OWNER = f"{_KEY}, member_id"
_TOLD = ("last_commit_at", "first_commit_at", "owned_ms")
_HELD = ("life", "generation", "member_id", "client_id", "valid_from", "valid_to", "is_over", "is_refused")
_JUDGED = (*_HELD, "at_us", "until_us", *_TOLD)

OWNED_ROWS = T.StructType(
    [
        *fields_of(ASSIGNMENTS, ("cluster", "group_id", "topic", "partition", *_HELD)),
        *fields_of(COMMIT_GAPS, _TOLD),
        *(T.StructField(name, T.BooleanType()) for name in ("is_over", "is_refused")),
        *(T.StructField(name, T.LongType()) for name in ("at_us", "until_us")),
    ]
)
"""What `owned` gives."""

_UP_TO_NOW = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

_WORST_FIRST = f"PARTITION BY {_KEY} ORDER BY kind, owned_ms DESC NULLS LAST, member_id"
"""Of one partition and generation several members can be told of.

A static member that was replaced had it, and so has who replaced it; in a group of epochs a partition can also be taken
away and given on within one epoch of its members.
"""

AT_REBALANCE_US = 3_600_000_000
"""A commit was refused at a rebalance if the next owner has the partition within this time."""


def sought_since(line: float) -> float:
    """Return from when on requests have a say in what lies beyond the line (epoch ms)."""
    return line - AT_REBALANCE_US / 1000


def owned(silent_ms: int, line: float | None) -> str:
    """Return the statement for the assignments that may be gaps.

    With each its last commit before it and the first one in it, how long it had none, whether a commit of the partition
    was refused, or it is told of else, and whether it is judged no more, as it lies before the group's line: such a one
    only tells who had a partition when a commit was refused.

    An assignment that is open lasts to the group's newest commit: what a group without commits would do next is not
    known.

    Args:
        silent_ms: how long a partition may be owned without a commit.
        line: where the groups' lines lie at most (epoch ms); None = there are none, and all is looked through.
    """
    told = ["tried", *([] if line is None else ["known_lost", "known_silent"])]
    told_of = " UNION ".join(f"SELECT {_PARTITION} FROM {name}" for name in told)
    return f"""
        WITH {_given(silent_ms, line)},
        told_of AS ({told_of}),
        doubtful AS (
            SELECT near.*, coalesce(is_told, false) AS is_refused FROM near
            LEFT JOIN (SELECT *, true AS is_told FROM told_of) told USING ({_PARTITION})
            WHERE {_IS_COMMITTED_FOR} AND (is_long OR coalesce(is_told, false))
        ),
        laid AS (
            SELECT *,
                last_value(commit_us) IGNORE NULLS OVER (
                    PARTITION BY {_PARTITION} ORDER BY at_us, is_held {_UP_TO_NOW}
                ) AS last_us,
                last_value(commit_us) IGNORE NULLS OVER (
                    PARTITION BY {_PARTITION} ORDER BY at_us DESC, NOT is_held {_UP_TO_NOW}
                ) AS next_us
            FROM (
                SELECT {_PARTITION}, unix_micros(valid_from) AS at_us, CAST(NULL AS BIGINT) AS commit_us,
                    true AS is_held, struct({", ".join(_HELD)}) AS held
                FROM doubtful WHERE valid_from IS NOT NULL
                UNION ALL
                SELECT {_PARTITION}, us AS at_us, us AS commit_us, false AS is_held, NULL AS held
                FROM made LEFT SEMI JOIN doubtful USING ({_PARTITION})
            )
        ),
        ended AS (
            SELECT {_PARTITION}, at_us, last_us, next_us, {_fields("held", _HELD)},
                coalesce(unix_micros(held.valid_to), greatest(coalesce(newest_us + 1, at_us), at_us)) AS end_us
            FROM laid LEFT JOIN (
                SELECT cluster, group_id, max(us) AS newest_us FROM made GROUP BY cluster, group_id
            ) USING (cluster, group_id)
            WHERE is_held
        )
        SELECT *, CAST(round((until_us - at_us) / 1000) AS BIGINT) AS owned_ms FROM (
            SELECT {_PARTITION}, at_us, {", ".join(_HELD)}, timestamp_micros(last_us) AS last_commit_at,
                CASE WHEN next_us <= end_us THEN timestamp_micros(next_us) END AS first_commit_at,
                CASE WHEN next_us <= end_us THEN next_us ELSE end_us END AS until_us
            FROM ended
        )"""


def commit_gaps(silent_ms: int, line: float | None) -> str:
    """Return the statement for the partitions that miss commits: `gold.commit_gaps`; it knows the former as OWNED.

    A partition that is both has lost a commit; of several members that had it in one generation the one is told of that
    was silent longest. What was found before, of what is not looked through again, stays: the commit that was lost, as
    far as the requests of that time are not, and the silence, as far as the other commits of that time are not; and all
    that is known of assignments which are judged no more.

    Args:
        silent_ms: as for `owned`.
        line: likewise.
    """
    gap = ", ".join(quoted(name) for name in COMMIT_GAPS.columns)
    lost, silent, known = [_refused()], [_silent()], ""
    if line is not None:
        judged = ", ".join(f"owned.{name}" for name in _JUDGED)
        again = f"JOIN (SELECT {_OWNER}, refused_at FROM known_lost) known USING ({_OWNER})"
        lost += [f"SELECT {_PARTITION}, {judged}, refused_at FROM {_OF_OWNED} owned {again}"]
        silent += [
            f"SELECT owned.* FROM {_OF_OWNED} owned LEFT SEMI JOIN known_silent USING ({_OWNER}) WHERE NOT is_over"
        ]
        known = f"""
            UNION ALL
            SELECT {gap} FROM known LEFT ANTI JOIN (SELECT * FROM near WHERE NOT is_over) held USING ({_OWNER})"""
    whole = f"{_PARTITION}, {', '.join(_JUDGED)}"
    of_owner = f"{_OWNER}, client_id, {', '.join(_TOLD)}"
    lost_at_all = "\nUNION ALL\n".join(f"SELECT {whole}, refused_at FROM ({each})" for each in lost)
    silent_at_all = "\nUNION ALL\n".join(f"SELECT {of_owner} FROM ({each})" for each in silent)
    return f"""
        WITH {_given(silent_ms, line)},
        quiet AS (SELECT * FROM {_OF_OWNED} WHERE NOT is_over AND owned_ms >= {silent_ms}),
        lost AS (
            SELECT {whole}, min(refused_at) AS refused_at FROM ({lost_at_all}) WHERE NOT is_over GROUP BY {whole}
        ),
        silent AS ({silent_at_all}),
        gaps AS (
            SELECT {of_owner}, 'lost' AS kind, refused_at FROM lost
            UNION ALL
            SELECT {of_owner}, 'silent' AS kind, CAST(NULL AS TIMESTAMP) AS refused_at
            FROM silent LEFT ANTI JOIN lost USING ({_KEY})
        )
        SELECT {gap} FROM (
            SELECT *, row_number() OVER ({_WORST_FIRST}) AS place
            FROM (SELECT {gap} FROM gaps {known})
        ) WHERE place = 1"""


def _given(silent_ms: int, line: float | None) -> str:
    """Return what both statements are built on: parts of a WITH."""
    is_over, of_groups, is_sought = "false", "", "true"
    if line is not None:
        of_groups = f"JOIN (SELECT cluster, group_id, line FROM {{{LINES}}}) lined USING (cluster, group_id)"
        is_over = "NOT (line IS NULL OR valid_to IS NULL OR unix_micros(valid_to) / 1000.0D > line)"
        is_sought = f"line IS NULL OR answered_at > {moment(sought_since(line))}"
    # A millisecond less, for the time without a commit is rounded to milliseconds.
    long_us = (silent_ms - 1) * 1000
    parts = [
        f"""made AS (
            SELECT {_PARTITION}, unix_micros(recorded_at) AS us FROM {of_table(OFFSET_COMMITS)} WHERE {IS_TAKEN}
        )""",
        f"""near AS (
            SELECT {_OWNER}, client_id, valid_from, valid_to, hold, group_type, {is_over} AS is_over,
                valid_to IS NULL OR unix_micros(valid_to) - unix_micros(valid_from) >= {long_us} AS is_long
            FROM {of_table(ASSIGNMENTS)} {of_groups}
        )""",
        f"""tried AS (
            SELECT cluster, group_id, sent.topic AS topic, sent.`partition` AS `partition`, at_us, member_id
            FROM (
                SELECT cluster, group_id, unix_micros(answered_at) AS at_us, member_id, explode(sent_offsets) AS sent
                FROM {of_table(GROUP_REQUESTS)} {of_groups}
                WHERE {IS_REFUSED_COMMIT} AND sent_offsets IS NOT NULL AND ({is_sought})
            )
        )""",
    ]
    if line is not None:
        parts += [
            f"known AS (SELECT * FROM {of_table(COMMIT_GAPS)} {of_groups} WHERE line IS NOT NULL)",
            f"known_lost AS (SELECT * FROM known WHERE refused_at <= {moment(sought_since(line))})",
            "known_silent AS ("
            "SELECT * FROM known WHERE kind = 'silent' AND unix_micros(first_commit_at) / 1000.0D <= line)",
        ]
    return ",\n".join(parts)


def _refused() -> str:
    """Assignments before which, or in which, a commit of somebody else was refused; once for each that was."""
    return f"""
        SELECT {_PARTITION}, timestamp_micros(tried_us) AS refused_at, {_fields("taker", _JUDGED)} FROM (
            SELECT {_PARTITION}, at_us AS tried_us, CASE
                WHEN holder IS NOT NULL AND NOT holder.member_id <=> tried_by
                    AND (holder.valid_to IS NULL OR unix_micros(holder.valid_to) > at_us) THEN holder
                ELSE heir
            END AS taker
            FROM (
                SELECT *,
                    last_value(held) IGNORE NULLS OVER (
                        PARTITION BY {_PARTITION} ORDER BY at_us, is_tried {_UP_TO_NOW}
                    ) AS holder,
                    last_value(held) IGNORE NULLS OVER (
                        PARTITION BY {_PARTITION} ORDER BY at_us DESC, is_tried {_UP_TO_NOW}
                    ) AS heir
                FROM (
                    SELECT {_PARTITION}, at_us, false AS is_tried, CAST(NULL AS STRING) AS tried_by,
                        struct({", ".join(_JUDGED)}) AS held
                    FROM {_OF_OWNED} WHERE is_refused
                    UNION ALL
                    SELECT {_PARTITION}, at_us, true AS is_tried, member_id AS tried_by, NULL AS held FROM tried
                )
            ) WHERE is_tried
        ) WHERE taker IS NOT NULL AND unix_micros(taker.valid_from) - tried_us <= {AT_REBALANCE_US}"""


def _silent() -> str:
    """Assignments without a commit for long, in which the group committed something else."""
    told = ("topic", "partition", *_JUDGED)
    return f"""
        SELECT cluster, group_id, {_fields("held", told)} FROM (
            SELECT *, last_value(commit_us) IGNORE NULLS OVER (
                PARTITION BY cluster, group_id ORDER BY at_us DESC, is_quiet {_UP_TO_NOW}
            ) AS other_us
            FROM (
                SELECT cluster, group_id, at_us, CAST(NULL AS BIGINT) AS commit_us, true AS is_quiet,
                    struct({", ".join(map(quoted, told))}) AS held
                FROM quiet
                UNION ALL
                SELECT cluster, group_id, us AS at_us, us AS commit_us, false AS is_quiet, NULL AS held
                FROM made LEFT SEMI JOIN quiet USING (cluster, group_id)
            )
        ) WHERE is_quiet AND other_us < held.until_us"""


def _fields(struct: str, names: Sequence[str]) -> str:
    return ", ".join(f"{struct}.{quoted(name)} AS {quoted(name)}" for name in names)
