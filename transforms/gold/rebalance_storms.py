"""Rebalance storms: stretches of time in which a group rebalances too often.

A classic group's rebalances are its entries into PreparingRebalance; those of a modern one the bumps of its epoch while
it is settled, each with all that follow until it is settled again. An interval [t_j, t_k] of consecutive rebalances is
stormy if it holds at least `min_rebalances` of them and is no longer than the window; stormy intervals that overlap
or touch are one storm.

It is enough to look at intervals of exactly `min_rebalances`: a longer stormy one is the union of those inside it, and
neighbours among them share all but one of their rebalances. Only for `min_rebalances` = 1 they share none, so there
intervals of two tie the storm together, and a rebalance on its own is a storm as well.

Statements find the storms and what belongs to each; what is to be said of one is `transforms.findings.storms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from schemas.rows import RebalanceStormRow
from schemas.table import TableSpec
from schemas.tables.gold import (
    ASSIGNMENTS,
    COORDINATORS,
    GENERATION_MEMBERS,
    GENERATIONS,
    MEMBER_SESSIONS,
    REBALANCE_STORMS,
    RECONCILIATIONS,
)
from schemas.tables.silver import CLIENT_EVENTS, GROUP_REQUESTS
from transforms.findings.evidence import Evidence
from transforms.findings.storms.group_patterns import for_java
from transforms.findings.storms.judge import storm_row
from transforms.findings.storms.limits import StormLimits, Thresholds
from transforms.gold.client_refusals import with_client_refusals
from transforms.gold.findings.kernel import AT_END, FRAME, REQUEST
from transforms.gold.findings.search import FOUND, Search, fields_of, near, packing, reaching
from transforms.gold.quiet_requests import COMES_OR_GOES
from transforms.gold.rebalances import BEGUN_AT, IS_FURTHER_BUMP, IS_OF_REBALANCE, IS_TAKEN_OVER, OF_REBALANCE
from transforms.holdings import IN_COMMON, PARTITIONS
from transforms.question import of_table, verbatim
from transforms.sql import literal, quoted, truth

READ = (
    GENERATIONS,
    GENERATION_MEMBERS,
    MEMBER_SESSIONS,
    ASSIGNMENTS,
    RECONCILIATIONS,
    COORDINATORS,
    GROUP_REQUESTS,
    CLIENT_EVENTS,
)
"""Tables that storms are found in. Without the generations there are none; the others tell what they are."""

_IN_ORDER = "PARTITION BY cluster, group_id ORDER BY at_us, life, generation"
_OF_STORM = "PARTITION BY cluster, group_id, finding"
_OVER_US = 1_000_000 * 3_600
"""A rebalance that hangs for longer than this after the last one of a storm counts for so long."""

_APART_MS = 60_000
"""Of what clients logged so shortly before or after a request of their group the request log tells: clocks differ."""

_HELD = f"""
    SELECT cluster, group_id, finding, life, generation FROM own UNION ALL
    SELECT cluster, group_id, finding, before_life, before_generation FROM {{{FOUND}}}
    WHERE is_first AND before_generation IS NOT NULL UNION ALL
    SELECT cluster, group_id, finding, life, generation
    FROM (
        SELECT cluster, group_id, life, generation, unix_micros({BEGUN_AT}) AS at_us
        FROM {of_table(GENERATIONS)} WHERE {IS_TAKEN_OVER}
    ) JOIN spans USING (cluster, group_id) WHERE at_us BETWEEN first_us AND until_us"""
"""The generations whose assignments are looked at: those of a storm, the one before it, and those that a coordinator
took over amid it: no rebalances, but members went on with them."""


def with_clients(
    tables: Mapping[TableSpec, DataFrame], of_cluster: Mapping[TableSpec, DataFrame]
) -> dict[TableSpec, DataFrame]:
    """Return what storms are found in: to the requests is added what only clients tell of, if there is any.

    Args:
        tables: those of READ that there are.
        of_cluster: those that lines of clients are laid beside as a whole.
    """
    read = {spec: rows for spec, rows in tables.items() if spec in READ and spec is not CLIENT_EVENTS}
    clients, requests = tables.get(CLIENT_EVENTS), tables.get(GROUP_REQUESTS)
    if clients is not None and requests is not None:
        read[GROUP_REQUESTS] = with_client_refusals(requests, clients, _APART_MS, of_cluster.get(MEMBER_SESSIONS))
    return read


def storm_search(
    tables: Mapping[TableSpec, DataFrame], thresholds: Thresholds, seen_until: float | None, is_cut: bool = False
) -> Search:
    """Return the search for storms.

    A rebalance is dated by `preparing_at`; where that is not known by `completing_at`, else `stable_at`, else
    `emptied_at`. Generations without any of these, those that no evidence shows (`missing_before`), and those that a
    coordinator merely took over do not count.

    Args:
        tables: what there is to be read, as `with_clients` gives it: of these at least the generations.
        thresholds: from when on rebalances are a storm, and how bad one is.
        seen_until: end of the data (epoch ms); null = not known.
        is_cut: storms that lie before the cut of their group are left out.
    """
    found = _found(thresholds)
    return Search(
        REBALANCE_STORMS,
        reaching(found) if is_cut else found,
        _evidence(tables),
        partial(_judge, thresholds, seen_until),
        is_for_spark=bool(thresholds.of_groups),  # regular expressions are Java's
        where={GROUP_REQUESTS.name: _TELLS},
    )


def _judge(
    thresholds: Thresholds, seen_until: float | None, evidence: Evidence, frame: dict[str, Any]
) -> list[RebalanceStormRow]:
    evidence.next_at, evidence.seen_until = frame.get("next_at"), seen_until
    return [storm_row(evidence.in_order(), thresholds.of(evidence.group_id))]


def _found(thresholds: Thresholds) -> str:
    """The rebalances that belong to a storm, each with the number of its storm, and how it lies in it.

    With the moment of each, and that of the next one whatever it belongs to, in microseconds; whether it is the first
    or the last of its storm, and when that began.
    """
    numbered = "\nUNION ALL\n".join(_numbered(limits, mine) for limits, mine in _limits(thresholds))
    return f"""
        WITH dated AS (
            SELECT *, lead(at_us) OVER ({_IN_ORDER}) AS next_us, lag(life) OVER ({_IN_ORDER}) AS before_life,
                lag(generation) OVER ({_IN_ORDER}) AS before_generation
            FROM (SELECT *, unix_micros({BEGUN_AT}) AS at_us FROM {of_table(GENERATIONS)})
            WHERE at_us IS NOT NULL AND {IS_OF_REBALANCE}
        ),
        numbered AS ({numbered})
        SELECT *, min(at_us) OVER ({_OF_STORM}) AS first_us,
            lag(at_us) OVER ({_OF_STORM} ORDER BY at_us, life, generation) IS NULL AS is_first,
            lead(at_us) OVER ({_OF_STORM} ORDER BY at_us, life, generation) IS NULL AS is_last
        FROM numbered"""


def _limits(thresholds: Thresholds) -> Iterator[tuple[StormLimits, str]]:
    """Each set of thresholds, and whether a group has it."""
    others = truth(True)
    for pattern, limits in thresholds.of_groups.items():
        fits = f"group_id RLIKE {verbatim(literal(for_java(pattern)))}"
        yield limits, f"{others} AND {fits}"
        others = f"{others} AND NOT {fits}"
    yield thresholds.usual, others


def _numbered(limits: StormLimits, mine: str) -> str:
    """Keep the rebalances that belong to a storm, each with the number of its storm."""
    size, window_us = max(limits.min_rebalances, 2), limits.window_ms * 1000
    # An interval that opened before this rebalance and includes it ties it to the one before.
    is_tied = f"max(opens_interval) OVER ({_IN_ORDER} ROWS BETWEEN {size - 1} PRECEDING AND 1 PRECEDING)"
    return f"""
        SELECT * EXCEPT (opens_interval, is_tied),
            CAST(sum(CASE WHEN is_tied THEN 0 ELSE 1 END) OVER ({_IN_ORDER}) AS INT) AS finding,
            {window_us} AS window_us
        FROM (
            SELECT *, coalesce({is_tied} = 1, false) AS is_tied FROM (
                SELECT *, CASE WHEN lead(at_us, {size - 1}) OVER ({_IN_ORDER}) - at_us <= {window_us} THEN 1 ELSE 0 END
                    AS opens_interval
                FROM dated WHERE {mine}
            )
        ) WHERE {truth(limits.min_rebalances == 1)} OR is_tied OR opens_interval = 1"""


def _evidence(tables: Mapping[TableSpec, DataFrame]) -> str:
    """All that is known of storms: of their generations, and from one window before them to one after."""
    parts = "\nUNION ALL\n".join(_parts(tables))
    of_generations = ", ".join(quoted(name) for name in GENERATIONS.columns)
    return f"""
        WITH spans AS (
            SELECT cluster, group_id, finding, first_us, first_us - window_us AS since_us,
                at_us + window_us AS until_us,
                CASE WHEN next_us IS NOT NULL THEN least(next_us, at_us + {_OVER_US}) END AS next_us
            FROM {{{FOUND}}} WHERE is_last
        ),
        own AS (SELECT cluster, group_id, finding, life, generation FROM {{{FOUND}}}),
        bumps AS (
            SELECT {of_generations}, finding
            FROM (SELECT * FROM (SELECT *, {OF_REBALANCE} AS of FROM {of_table(GENERATIONS)}) WHERE {IS_FURTHER_BUMP})
            JOIN (SELECT cluster, group_id, finding, life, generation AS of FROM own)
                USING (cluster, group_id, life, of)
        ),
        held AS ({_HELD})
        {parts}"""


def _parts(tables: Mapping[TableSpec, DataFrame]) -> Iterator[str]:
    yield packing("generations", fields_of(GENERATIONS), f"SELECT * FROM {{{FOUND}}}")
    yield packing("generations", fields_of(GENERATIONS), "SELECT * FROM bumps")
    frame = "SELECT cluster, group_id, finding, next_us / 1000.0D AS next_at FROM spans"
    yield packing(FRAME, [T.StructField("next_at", T.DoubleType())], frame)
    of_generation = "USING (cluster, group_id, life, generation)"
    if GENERATION_MEMBERS in tables:
        of_all = "SELECT * FROM own UNION ALL SELECT cluster, group_id, finding, life, generation FROM bumps"
        members = f"SELECT * FROM {of_table(GENERATION_MEMBERS)} JOIN ({of_all}) {of_generation}"
        yield packing("members", fields_of(GENERATION_MEMBERS), members)
    if ASSIGNMENTS in tables:
        # A member of a modern group holds a partition for as long as it has it, whatever the group's epoch is.
        classic, modern = (
            f"SELECT * FROM {of_table(ASSIGNMENTS)} WHERE group_type {sign} 'classic'" for sign in ("=", "<>")
        )
        yield _holdings(f"SELECT * FROM ({classic}) JOIN held {of_generation}")
        during = "(SELECT cluster, group_id, finding, first_us AS since_us, until_us FROM spans)"
        yield _holdings(near(ASSIGNMENTS, "valid_from", "valid_to", rows=modern, spans=during))
    for spec, kind, begin, end, told_at_end in _NEAR:
        if spec in tables:
            yield packing(kind, fields_of(spec), near(spec, begin, end, told_at_end))
    if GROUP_REQUESTS in tables:
        is_told = "evidence" in tables[GROUP_REQUESTS].columns
        yield _requests("*" if is_told else "*, 'request_log' AS evidence")


def _holdings(assignments: str) -> str:
    """Pack assignments as holdings."""
    held = f"""
        SELECT cluster, group_id, finding, {", ".join(IN_COMMON)},
            collect_list(concat(topic, '-', partition)) AS {PARTITIONS}
        FROM ({assignments}) GROUP BY ALL"""
    fields = [*fields_of(ASSIGNMENTS, IN_COMMON), T.StructField(PARTITIONS, T.ArrayType(T.StringType()))]
    return packing("holdings", fields, held)


_NEAR: tuple[tuple[TableSpec, str, str, str, Sequence[str]], ...] = (
    (RECONCILIATIONS, "reconciliations", "from_at", "to_at", ("to_epoch",)),
    (MEMBER_SESSIONS, "sessions", "joined_at", "ended_at", AT_END),
    (COORDINATORS, "coordinators", "from_at", "to_at", ()),
)
"""What else is looked at in a storm's time: the kind, from when to when, and what is not known before its end."""


_TELLS = f"""
    ({COMES_OR_GOES} OR error <> 'NONE') AND NOT (api = 'Heartbeat' AND error = 'REBALANCE_IN_PROGRESS')"""
"""Condition of requests that tell of a storm."""


def _requests(told_of: str) -> str:
    told = f"SELECT {told_of} FROM {of_table(GROUP_REQUESTS)} WHERE {_TELLS}"
    fields = [*fields_of(GROUP_REQUESTS, REQUEST), T.StructField("evidence", T.StringType())]
    names = [field.name for field in fields]
    return packing("requests", fields, near(GROUP_REQUESTS, "answered_at", "answered_at", rows=told, names=names))
