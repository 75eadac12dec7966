"""How each group is now: one row a group, out of all that is known of it.

Now is the newest time in the data of the cluster, never the clock on the wall. It is one statement, in Spark's SQL: it
goes through each table once, for a row a group, and lays these rows side by side. So whoever can read the tables' files
answers it, over a history however long, for the few groups that there is news of. Of the others no more is looked at
than what time alone makes another.
"""

from __future__ import annotations

from collections.abc import Mapping

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import (
    ASSIGNMENTS,
    GENERATIONS,
    GROUP_HEALTH,
    ILLEGAL_GENERATION_BURSTS,
    MEMBER_SESSIONS,
    ORPHANED_PARTITIONS,
    REBALANCE_STORMS,
    STANDING_COMMITS,
    TRANSITIONS,
)
from schemas.tables.silver import GROUP_REQUESTS
from schemas.words import EVIDENCE
from transforms.gold import offset_keepers
from transforms.gold.findings.commits import LAST
from transforms.gold.offset_use import IS_TAKEN
from transforms.gold.orphaned_partitions import STILL_ORPHANED
from transforms.gold.rebalances import BEGUN_AT, IS_OF_REBALANCE
from transforms.question import Question

_READ = (
    TRANSITIONS,
    GENERATIONS,
    MEMBER_SESSIONS,
    ASSIGNMENTS,
    ORPHANED_PARTITIONS,
    GROUP_REQUESTS,
    REBALANCE_STORMS,
    ILLEGAL_GENERATION_BURSTS,
)
"""Tables that the health of groups is read from, beside their commits; the findings are those of the same run."""

_DAY_US = 86_400_000_000
_WINDOWS_US = {"hour": _DAY_US // 24, "day": _DAY_US, "week": 7 * _DAY_US}

_WITHOUT_COMMITS = "share"
"""Groups of this type keep their offsets in a topic of their own."""

_AT_REST = ("Empty", "Stable", "Dead")
"""States of a group that is not on the way to another assignment."""

_COMMITTED = "offsets"
"""Evidence that a group's commits are."""

IS_TO_BE_LOOKED_AT = """
    coalesce(offsets_kept_by = 'both', false) OR coalesce(offsets_kept_by = 'consumers' AND NOT has_commits, false)
"""
"""Condition of rows that may be others as time goes by, though nothing happens to their group, in what `aged` keeps.

A storm that ends as time goes by is news of its group: it is found anew.
"""

IS_AGEING = f"week_rebalance_count > 0 OR week_unstable_ms > 0 OR {IS_TO_BE_LOOKED_AT}"
"""Condition of rows that are others as soon as time goes by, though nothing happens to their group.

A run that looks only at the groups with news must look at these as well; of the others only `at` would change.
"""


def group_health(now: float | None, commits: TableSpec = STANDING_COMMITS) -> Question:
    """Ask how each group is.

    Args:
        now: the newest time in the data of the cluster (epoch ms); None = there is no data, and so no group.
        commits: the commits that stand for all, or, where none do yet, `silver.offset_commits`.

    Returns:
        The question for the rows of `gold.group_health`: one for each group that has ever had members or committed
        offsets.
    """
    now_us = _us(now)
    parts = {
        "states": _STATES,
        "unstable": _unstable(now_us),
        "begun": _rebalances(now_us),
        "known": _evidence(),
        "stored": f"SELECT cluster, group_id, true AS has_committed FROM {{{commits.name}}} WHERE {IS_TAKEN} "
        "GROUP BY cluster, group_id",
        "paced": _commit_intervals(commits),
        **offset_keepers.free_commits(commits, f"{now_us} - {_DAY_US}"),
        "owning": f"SELECT cluster, group_id, true AS is_owning FROM {{{ASSIGNMENTS.name}}} GROUP BY cluster, group_id",
        "orphaned": f"SELECT cluster, group_id, orphaned_partition_count, orphaned_since FROM ({STILL_ORPHANED})",
        "storm": _last(REBALANCE_STORMS.name, ("started_at", "ended_at", "pattern", "is_open")),
        "burst": _last(ILLEGAL_GENERATION_BURSTS.name, ("error", "started_at", "suspected_cause")),
        "present": _PRESENT,
        "seen": "SELECT cluster, group_id FROM states UNION SELECT cluster, group_id FROM stored",
    }
    told = {"at": f"timestamp_micros({now_us})", **_TOLD}
    columns = ",\n".join(f"{told.get(name, name)} AS {name}" for name in GROUP_HEALTH.columns)
    beside = "\n".join(f"LEFT JOIN {name} USING (cluster, group_id)" for name in _OF_GROUPS)
    statement = f"""
        WITH {_named(parts)},
        laid AS (
            SELECT *, coalesce(is_owning, false) AS has_assignments, coalesce(has_committed, false) AS has_commits
            FROM seen {beside} LEFT JOIN present USING (cluster, group_id, life)
        )
        SELECT {columns} FROM laid WHERE {now_us} IS NOT NULL"""
    return Question(statement, (*_READ, commits), struct_type(GROUP_HEALTH))


def aged(now: float) -> Question:
    """Ask how groups are that nothing has happened to since `gold.group_health` was written: older.

    Args:
        now: the newest time in the data of the cluster (epoch ms).

    Returns:
        The question for their rows of `gold.group_health`.
    """
    now_us = _us(now)
    parts = {"unstable": _unstable(now_us), "begun": _rebalances(now_us)}
    fresh = {"at": f"timestamp_micros({now_us})", **{name: f"coalesce(of_late.{name}, 0)" for name in _OF_WINDOWS}}
    columns = ", ".join(f"{fresh.get(name, f'old.{name}')} AS {name}" for name in GROUP_HEALTH.columns)
    statement = f"""
        WITH {_named(parts)},
        of_late AS (SELECT * FROM unstable FULL OUTER JOIN begun USING (cluster, group_id))
        SELECT {columns} FROM {{{GROUP_HEALTH.name}}} old
        LEFT JOIN of_late ON old.cluster = of_late.cluster AND old.group_id = of_late.group_id"""
    return Question(statement, (TRANSITIONS, GENERATIONS, GROUP_HEALTH), struct_type(GROUP_HEALTH))


_OF_GROUPS = (
    "states", "unstable", "begun", "known", "stored", "paced", "free", "owning", "orphaned", "storm", "burst",
)  # fmt: skip

_STATES = f"""
    SELECT cluster, group_id, last.life AS life, last.group_type AS group_type, last.generation AS generation,
        last.to_state AS state, last.at AS entered_at
    FROM (
        SELECT cluster, group_id,
            max_by(struct(life, to_state, generation, at, group_type), struct(life, seq)) AS last
        FROM {{{TRANSITIONS.name}}} GROUP BY cluster, group_id
    )"""
"""The last state of each group."""

_PRESENT = f"""
    SELECT cluster, group_id, life, count(member_id) AS present
    FROM {{{MEMBER_SESSIONS.name}}} WHERE ended_at IS NULL AND end_cause IS NULL GROUP BY cluster, group_id, life"""
"""How many members each life of a group has, where it has any."""


def _unstable(now_us: str) -> str:
    """How long each group was on the way to another assignment."""
    rest = ", ".join(f"'{state}'" for state in _AT_REST)
    sums = ", ".join(
        f"sum(greatest(least(end_us, {now_us}) - greatest(at_us, {now_us} - {window_us}), 0)) div 1000 "
        f"AS {name}_unstable_ms"
        for name, window_us in _WINDOWS_US.items()
    )
    return f"""
        SELECT cluster, group_id, {sums} FROM (
            SELECT cluster, group_id, to_state, unix_micros(at) AS at_us, coalesce(
                lead(unix_micros(at)) OVER (PARTITION BY cluster, group_id ORDER BY life, seq), {now_us}
            ) AS end_us
            FROM {{{TRANSITIONS.name}}} WHERE at IS NOT NULL
        ) WHERE to_state NOT IN ({rest}) GROUP BY cluster, group_id"""


def _rebalances(now_us: str) -> str:
    """How often each group rebalanced of late."""
    counts = ", ".join(
        f"count_if({_within(now_us, window_us)}) AS {name}_rebalance_count" for name, window_us in _WINDOWS_US.items()
    )
    return f"""
        SELECT cluster, group_id, {counts}, max(begun_at) AS last_rebalance_at FROM (
            SELECT cluster, group_id, begun_at, unix_micros(begun_at) AS at_us FROM (
                SELECT *, {BEGUN_AT} AS begun_at FROM {{{GENERATIONS.name}}}
            ) WHERE begun_at IS NOT NULL AND {IS_OF_REBALANCE}
        ) GROUP BY cluster, group_id"""


def _evidence() -> str:
    """Of which kinds the evidence of each group's generations is."""
    kinds = ", ".join(f"bool_or(array_contains(evidence, '{kind}')) AS is_known_by_{kind}" for kind in EVIDENCE)
    return f"SELECT cluster, group_id, {kinds} FROM {{{GENERATIONS.name}}} GROUP BY cluster, group_id"


def _commit_intervals(commits: TableSpec) -> str:
    """How long it usually is from one commit of a partition to the next, by the last commits of each.

    Those of the last day on which the group committed are looked at, so that partitions of long ago have no say.
    """
    of_partition = "PARTITION BY cluster, group_id, topic, partition ORDER BY at_us"
    return f"""
        SELECT cluster, group_id,
            CAST(round(percentile_disc(0.5) WITHIN GROUP (ORDER BY gap_us) / 1000) AS BIGINT) AS commit_interval_ms
        FROM (
            SELECT cluster, group_id, at_us - lag(at_us) OVER ({of_partition}) AS gap_us FROM (
                SELECT *, row_number() OVER ({of_partition} DESC) AS newest,
                    max(at_us) OVER (PARTITION BY cluster, group_id) AS last_us
                FROM (
                    SELECT cluster, group_id, topic, partition, unix_micros(recorded_at) AS at_us
                    FROM {{{commits.name}}} WHERE {IS_TAKEN} AND recorded_at IS NOT NULL
                )
            ) WHERE newest <= {LAST} AND at_us > last_us - {_DAY_US}
        ) WHERE gap_us IS NOT NULL GROUP BY cluster, group_id"""


def _last(table: str, columns: tuple[str, ...]) -> str:
    """The last finding of each group: of those that begin last, the one that ends last."""
    row = ", ".join(f"last.{name} AS {table}_{name}" for name in columns)
    return f"""
        SELECT cluster, group_id, {row} FROM (
            SELECT cluster, group_id, max_by(struct({", ".join(columns)}), struct(started_at, ended_at)) AS last
            FROM {{{table}}} GROUP BY cluster, group_id
        )"""


def _named(parts: Mapping[str, str]) -> str:
    return ",\n".join(f"{name} AS ({query})" for name, query in parts.items())


def _us(now: float | None) -> str:
    return "CAST(NULL AS BIGINT)" if now is None else str(round(now * 1000))


def _within(now_us: str, window_us: int) -> str:
    return f"at_us > {now_us} - {window_us} AND at_us <= {now_us}"


def _kinds() -> str:
    told = (
        f"IF(coalesce({'has_commits' if kind == _COMMITTED else f'is_known_by_{kind}'}, false), '{kind}', NULL)"
        for kind in EVIDENCE
    )
    return f"array_compact(array({', '.join(told)}))"


_OF_WINDOWS = tuple(f"{window}_{what}" for window in _WINDOWS_US for what in ("rebalance_count", "unstable_ms"))

_STORM, _BURST = REBALANCE_STORMS.name, ILLEGAL_GENERATION_BURSTS.name

_TOLD = {
    "member_count": "IF(life IS NULL, NULL, coalesce(present, 0))",
    "orphaned_partition_count": "coalesce(orphaned_partition_count, 0)",
    **{name: f"coalesce({name}, 0)" for name in _OF_WINDOWS},
    "last_storm_started_at": f"{_STORM}_started_at",
    "last_storm_ended_at": f"{_STORM}_ended_at",
    "last_storm_pattern": f"{_STORM}_pattern",
    "is_last_storm_open": f"{_STORM}_is_open",
    "last_burst_error": f"{_BURST}_error",
    "last_burst_started_at": f"{_BURST}_started_at",
    "last_burst_cause": f"{_BURST}_suspected_cause",
    "offsets_kept_by": f"IF(coalesce(group_type = '{_WITHOUT_COMMITS}', false), NULL, {offset_keepers.keeper()})",
    "evidence": _kinds(),
}
"""By column, what is told of a group out of the parts: where one has nothing of it, that is none, and not null."""
