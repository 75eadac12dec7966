"""Silver rows as evidence: packed for the kernel, each with its moment, so that a group's can be put in order.

Grain: one piece of evidence of one (cluster, group_id): EVIDENCE. A line about a coordinator as a whole is evidence of
every group of its partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import types as T

from schemas.codegen import NOT_EVIDENCE
from schemas.table import TableSpec
from schemas.tables.gold import REPLAY_SNAPSHOTS
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_METADATA, GROUP_REQUESTS, MODERN_GROUP_RECORDS
from transforms.coordinator.evidence.brokers import BROKER_EVENTS
from transforms.coordinator.evidence.ownership import LOAD_EVENTS
from transforms.gold.packing import as_json
from transforms.loglines.requests.apis import APIS, OF_SOME_APIS
from transforms.question import of_table
from transforms.sql import among, literal

GROUP = ("cluster", "group_id")

RECORD, MODERN, LINE, REQUEST, PLACE, STATE = "record", "modern", "line", "request", "place", "state"
"""Kinds: rows of the four tables; a partition that holds records of the group; where its replay stood."""

KINDS: dict[str, tuple[TableSpec, str, str]] = {
    RECORD: (GROUP_METADATA, "recorded_at", "recorded_at"),
    MODERN: (MODERN_GROUP_RECORDS, "recorded_at", "recorded_at"),
    LINE: (COORDINATOR_EVENTS, "logged_at", "logged_at"),
    REQUEST: (GROUP_REQUESTS, "coalesce(handled_at, answered_at)", "answered_at"),
}
"""By kind: the table; the moment of its rows; and when they were written, a request when it is answered."""

EVIDENCE = (
    T.StructType()
    .add("cluster", "string")
    .add("group_id", "string")
    .add("at", "double")
    .add("kind", "string")
    .add("row", "binary")
)
"""A piece of evidence. `at`: its own moment (epoch ms); `kind`: of which table it is; `row`: as `as_json` packs it."""

OF_COORDINATORS = tuple(sorted({*LOAD_EVENTS, *BROKER_EVENTS}))
"""Events that a line which names no group can tell of, and that matter to groups."""

IS_OF_COORDINATOR = f"group_id IS NULL AND {among('event', OF_COORDINATORS)}"
"""Condition of lines about the coordinators of partitions, and about brokers, that matter to groups."""

FIRST = "CAST('-Infinity' AS DOUBLE)"
"""Moment of what a group's evidence begins with."""

STARTING, HOMES = "starting", "homes"
"""Names of the groups of a run, and of the partitions they live in (`plan.Plan`)."""


def places() -> str:
    """Return the statement for the partitions that groups have records in."""
    row = "encode(CAST(partition AS STRING), 'UTF-8')"
    return f"SELECT cluster, group_id, {FIRST} AS at, '{PLACE}' AS kind, {row} AS row FROM {{{HOMES}}} WHERE is_seen"


def states() -> str:
    """Return the statement for the states that groups go on from."""
    return f"""
        SELECT cluster, group_id, {FIRST} AS at, '{STATE}' AS kind, state AS row FROM (
            SELECT cluster, group_id, unix_micros(at) / 1000.0D AS since, state FROM {of_table(REPLAY_SNAPSHOTS)}
        ) JOIN (SELECT cluster, group_id, since FROM {{{STARTING}}} WHERE since IS NOT NULL) starting
        USING (cluster, group_id, since)"""


def rows_of_groups(kind: str, is_new: str) -> str:
    """Return the statement for the rows of a kind that name a group of the run.

    Rows without a moment have no place in the order, and are left out.

    Args:
        kind: the kind.
        is_new: condition of rows that all groups need.
    """
    _, moment, _ = KINDS[kind]
    return f"""
        {_pieces(kind)} LEFT SEMI JOIN {{{STARTING}}} USING (cluster, group_id)
        WHERE {moment} IS NOT NULL AND ({is_new})"""


def older_rows(kind: str, is_new: str, margin_ms: float) -> str:
    """Return the statement for the other rows of a kind, for groups that need older ones.

    Args:
        kind: the kind.
        is_new: as for `rows_of_groups`.
        margin_ms: they need what was written so long before that from which they go on.
    """
    _, moment, written = KINDS[kind]
    return f"""
        {_pieces(kind)} JOIN (
            SELECT cluster, group_id, CAST(floor((coalesce(since, 0.0D) - {margin_ms}D) * 1000) AS BIGINT) AS needed_us
            FROM {{{STARTING}}} WHERE needs_older
        ) needing USING (cluster, group_id)
        WHERE {moment} IS NOT NULL AND NOT ({is_new}) AND {written} >= timestamp_micros(needed_us)"""


def _pieces(kind: str) -> str:
    spec, moment, _ = KINDS[kind]
    return f"""SELECT cluster, group_id, {ms(moment)} AS at, {literal(kind)} AS kind, {_row(spec)} AS row
        FROM {of_table(spec)}"""


def lines_of_coordinators(is_new: str, margin_ms: float) -> str:
    """Return the statement that gives groups the lines of their partitions' coordinators, and of the brokers.

    Of older lines those get some that need them, or were not replayed before.

    Args:
        is_new: as for `rows_of_groups`.
        margin_ms: as for `older_rows`.
    """
    return f"""
        SELECT cluster, group_id, line_at AS at, '{LINE}' AS kind, row FROM (
            {_lines(is_new, LOAD_EVENTS)}
        ) JOIN (SELECT cluster, group_id, partition, since, needs_older FROM {{{HOMES}}}) homes
        USING (cluster, partition)
        WHERE {_is_needed(margin_ms)}
        UNION ALL
        SELECT cluster, group_id, line_at AS at, '{LINE}' AS kind, row FROM (
            {_lines(is_new, BROKER_EVENTS)}
        ) JOIN (SELECT DISTINCT cluster, group_id, since, needs_older FROM {{{HOMES}}}) homes USING (cluster)
        WHERE {_is_needed(margin_ms)}"""


def _lines(is_new: str, events: Iterable[str]) -> str:
    return f"""
        SELECT cluster, topic_partition_of_group AS partition, {ms("logged_at")} AS line_at,
            ({is_new}) AS is_new, {_row(COORDINATOR_EVENTS)} AS row
        FROM {of_table(COORDINATOR_EVENTS)}
        WHERE group_id IS NULL AND logged_at IS NOT NULL AND {among("event", sorted(events))}"""


def _is_needed(margin_ms: float) -> str:
    return f"(is_new OR needs_older OR since IS NULL) AND (since IS NULL OR line_at >= since - {margin_ms}D)"


def _row(spec: TableSpec) -> str:
    names = [name for name in spec.columns if name not in NOT_EVIDENCE]
    packed = _request(names) if spec is GROUP_REQUESTS else as_json(spec, names)
    return f"encode({packed}, 'UTF-8')"


def _request(names: Sequence[str]) -> str:
    """Return a request as JSON: of each API those columns that it fills, which are a third of all."""
    filled = {
        api.name: [name for name in names if name in api.columns or name not in OF_SOME_APIS] for api in APIS.values()
    }
    cases = " ".join(f"WHEN {literal(api)} THEN {as_json(GROUP_REQUESTS, filled[api])}" for api in filled)
    return f"CASE api {cases} ELSE {as_json(GROUP_REQUESTS, names)} END"


def ms(moment: str) -> str:
    """Return a moment as epoch ms, in SQL."""
    return f"unix_micros({moment}) / 1000.0D"
