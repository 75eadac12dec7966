"""Committed offsets that go back, skip far ahead, or are deleted.

Commits of a partition are compared in the order of their records. A commit of a transaction that was aborted never took
effect: it is not told of, but what comes after it and lies before it is, because that work is done again. One that is
still open is passed over.

A statement finds the steps; who is behind one is `transforms.findings.offsets`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import msgspec
from pyspark.sql import types as T

from schemas.rows import OffsetRewindRow
from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, GENERATIONS, OFFSET_REWINDS
from schemas.tables.silver import GROUP_REQUESTS, OFFSET_COMMITS
from transforms.findings.evidence import Evidence
from transforms.findings.offsets.rewinds import COMMITS, DELETED_WITHIN_MS, DELETIONS, Step, rewind_row
from transforms.gold.findings.commits import LINES
from transforms.gold.findings.kernel import FINDING, FRAME, GROUP, REQUEST
from transforms.gold.findings.search import FOUND, Search, fields_of, near, packing
from transforms.gold.rebalances import BEGUN_AT
from transforms.question import of_table
from transforms.sql import among, quoted

READ = (GENERATIONS, ASSIGNMENTS, GROUP_REQUESTS)
"""Tables that tell who is behind a step. The last two may be missing."""

IS_MADE_BY = f"{among('api', (*COMMITS, *DELETIONS))} AND error = 'NONE'"
"""Condition of requests that can have made a step."""

STEP = (
    T.StructType()
    .add("topic_partition_of_record", "integer")
    .add("record_offset", "long")
    .add("topic", "string")
    .add("partition", "integer")
    .add("at", "timestamp")
    .add("from_at", "timestamp")
    .add("from_offset", "long")
    .add("to_offset", "long")
    .add("kind", "string")
    .add("is_aborted", "boolean")
)
"""What is told of a step; `Step` has what it means."""

STEPS = "steps"
"""Name of the rows that `steps` gives."""

STEP_ROWS = T.StructType(
    [
        *fields_of(OFFSET_REWINDS, GROUP),
        T.StructField("finding", T.IntegerType()),
        *STEP,
        *(T.StructField(name, T.LongType()) for name in ("at_us", "since_us", "until_us")),
    ]
)
"""Each step as a finding, with the time that is looked at beside it."""

BEYOND = f"""
    SELECT told.* FROM {{told}} told JOIN {{{LINES}}} lines USING (cluster, group_id)
    WHERE line IS NULL OR unix_micros(at) / 1000.0D > line
    UNION ALL
    SELECT known.* FROM {of_table(OFFSET_REWINDS)} known JOIN {{{LINES}}} lines USING (cluster, group_id)
    WHERE unix_micros(at) / 1000.0D <= line"""
"""What of `told` was found beyond the groups' lines, and what was known before them."""

_RECORD = "topic_partition_of_record, record_offset"
_OF_PARTITION = f"PARTITION BY cluster, group_id, topic, `partition` ORDER BY {_RECORD}"
_NEAR_US = DELETED_WITHIN_MS * 1000


def rewind_search(tables: Collection[TableSpec], retention_ms: int) -> Search:
    """Return the search for who is behind STEPS.

    Args:
        tables: those of READ that there are.
        retention_ms: after how long without a commit offsets expire.
    """
    return Search(OFFSET_REWINDS, f"SELECT * FROM {{{STEPS}}}", _evidence(tables), partial(_judge, retention_ms))


def _judge(retention_ms: int, evidence: Evidence, frame: dict[str, Any]) -> list[OffsetRewindRow]:
    return [rewind_row(evidence.in_order(), msgspec.convert(frame, Step, strict=False), retention_ms)]


def steps(jump: int) -> str:
    """Return the statement for STEPS: those of committed offsets that are worth telling.

    Args:
        jump: a commit that skips more offsets than this is one.
    """
    this = "struct(committed_offset, recorded_at, is_tombstone)"
    return f"""
        WITH told AS (
            SELECT cluster, group_id, topic, `partition`, {_RECORD}, committed_offset, recorded_at, is_tombstone,
                coalesce(txn_state, 'none') <> 'aborted' AS is_effective
            FROM {of_table(OFFSET_COMMITS)} WHERE coalesce(txn_state, 'none') <> 'open'
        ),
        laid AS (
            SELECT *,
                last_value(CASE WHEN is_effective THEN {this} END) IGNORE NULLS OVER (
                    {_OF_PARTITION} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS effective,
                lag(CASE WHEN NOT is_effective THEN {this} END) OVER ({_OF_PARTITION}) AS aborted
            FROM told
        ),
        compared AS (
            SELECT *, coalesce(NOT effective.is_tombstone, false) AS has_effective,
                coalesce(committed_offset < aborted.committed_offset, false) AS is_again,
                coalesce(NOT effective.is_tombstone AND committed_offset < effective.committed_offset, false) AS is_back
            FROM laid WHERE is_effective
        ),
        judged AS (
            SELECT *, NOT is_tombstone AND is_again AND NOT is_back AS is_aborted,
                CASE
                    WHEN is_tombstone THEN CASE WHEN has_effective THEN 'deleted' END
                    WHEN is_back OR is_again THEN 'rewind'
                    WHEN has_effective AND committed_offset - effective.committed_offset > {jump} THEN 'jump'
                END AS kind
            FROM compared
        ),
        stepped AS (
            SELECT *, CASE WHEN is_aborted THEN aborted ELSE effective END AS base, unix_micros(recorded_at) AS at_us
            FROM judged WHERE kind IS NOT NULL
        )
        SELECT cluster, group_id,
            CAST(row_number() OVER (PARTITION BY cluster, group_id ORDER BY {_RECORD}) AS INT) AS finding,
            {_RECORD}, topic, `partition`, recorded_at AS at, base.recorded_at AS from_at,
            base.committed_offset AS from_offset, committed_offset AS to_offset, kind, is_aborted, at_us,
            coalesce(least(unix_micros(base.recorded_at), at_us - {_NEAR_US}), at_us - {_NEAR_US}) AS since_us,
            at_us + {_NEAR_US} AS until_us
        FROM stepped"""


def _evidence(tables: Collection[TableSpec]) -> str:
    """What tables have on the steps, from the commit before to a few seconds after."""
    return "\nUNION ALL\n".join(_parts(tables))


def _parts(tables: Collection[TableSpec]) -> Iterator[str]:
    yield packing(
        FRAME,
        [*STEP, T.StructField("has_generations", T.BooleanType())],
        f"""
        SELECT *, coalesce(is_there, false) AS has_generations FROM {{{FOUND}}} LEFT JOIN (
            SELECT DISTINCT cluster, group_id, true AS is_there FROM {of_table(GENERATIONS)}
        ) USING (cluster, group_id)""",
    )
    begun = f"SELECT *, {BEGUN_AT} AS begun FROM {of_table(GENERATIONS)}"
    steps_of = f"{{{FOUND}}}"
    yield packing(
        "generations", fields_of(GENERATIONS), near(GENERATIONS, "begun", "ended_at", rows=begun, spans=steps_of)
    )
    if ASSIGNMENTS in tables:
        held = near(ASSIGNMENTS, "valid_from", "valid_to", spans=steps_of)
        key = ", ".join(map(quoted, (*FINDING, "topic", "partition")))
        own = f"SELECT * FROM ({held}) JOIN (SELECT {key} FROM {steps_of}) USING ({key})"
        yield packing("assignments", fields_of(ASSIGNMENTS), own)
    if GROUP_REQUESTS in tables:
        taken = f"SELECT * FROM {of_table(GROUP_REQUESTS)} WHERE {IS_MADE_BY}"
        moments = f"(SELECT cluster, group_id, finding, at_us - {_NEAR_US} AS since_us, until_us FROM {steps_of})"
        fields = fields_of(GROUP_REQUESTS, REQUEST)
        names = [field.name for field in fields]
        beside = near(GROUP_REQUESTS, "answered_at", "answered_at", rows=taken, spans=moments, names=names)
        yield packing("requests", fields, beside)
