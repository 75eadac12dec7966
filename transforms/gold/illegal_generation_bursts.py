"""Bursts of fencing errors: a group's coordinator refuses requests, several in a row, by one and the same error.

The requests of one group that were answered with one error of `schemas.words.FENCING_ERRORS` are ordered by
`answered_at` and split where the gap is longer than allowed; a run that is long enough is a burst: which gap and how
many is set, but for errors that have limits of their own (`transforms.findings.bursts.limits`). Any API counts.
Commits that clients refused themselves, which no coordinator was asked about, make bursts of their own where the group
has no other at the time.

Spark finds the bursts and what belongs to each; what is to be said of one is `transforms.findings.bursts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from schemas.rows import IllegalGenerationBurstRow
from schemas.table import TableSpec
from schemas.tables.gold import (
    COORDINATORS,
    GENERATION_MEMBERS,
    GENERATIONS,
    ILLEGAL_GENERATION_BURSTS,
    MEMBER_SESSIONS,
)
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, OFFSET_COMMITS
from schemas.words import FENCING_ERRORS
from transforms.findings.bursts.judge import burst_row
from transforms.findings.bursts.limits import OF_THEIR_OWN, BurstLimits
from transforms.findings.evidence import Commit, Evidence, Heard
from transforms.findings.sentences import SESSION_SETTINGS
from transforms.gold.broker_refusals import NOT_LET_IN, fencings, may_tell, with_broker_refusals
from transforms.gold.client_refusals import with_client_refusals
from transforms.gold.findings.kernel import AT_END, FRAME, REQUEST, Few, Hold, as_it_is, by_workers
from transforms.gold.findings.search import FOUND, Search, fields_of, near, of_table, packing, reaching
from transforms.gold.rebalances import BEGUN_AT
from transforms.sql import among, literal

_BROKER_SETTINGS, _GROUP_SETTINGS = "broker_settings", "group_settings"

SETTINGS = (_BROKER_SETTINGS, _GROUP_SETTINGS)
"""Events that tell of settings as brokers print them: such a line counts for all that comes after it, however late."""

READ = (
    GROUP_REQUESTS,
    CLIENT_EVENTS,
    COORDINATOR_EVENTS,
    GENERATIONS,
    GENERATION_MEMBERS,
    MEMBER_SESSIONS,
    COORDINATORS,
    OFFSET_COMMITS,
)
"""Tables that bursts are found in. Without the first three there are none; the others tell what they are."""

IS_REFUSED = among("error", FENCING_ERRORS)
"""Condition of requests that bursts are made of, in SQL as Spark and DuckDB both have it."""

REFUSED = "refused"
"""Name by which a search has the refusals of more than the request log."""

_OF_ERROR = "PARTITION BY cluster, group_id, error, is_own"
_OF_BURST = "PARTITION BY cluster, group_id, finding"

_BEFORE_US = 3_600_000_000
"""What went on for so long before a burst is looked at; of the generations also the one that was in force then."""

_AFTER_US = 600_000_000
"""And for so long after it: who was slow comes back when the batch is done."""


def illegal_generation_bursts(
    tables: Mapping[TableSpec, DataFrame],
    gap_ms: int,
    min_errors: int,
    seen_until: float | None = None,
    hold: Hold = as_it_is,
    few: Few = by_workers,
) -> DataFrame:
    """Find the bursts of fencing errors of all groups, and what they point to, by Spark.

    Args:
        tables: those of READ that there are.
        gap_ms: longest gap between two errors of a burst, in milliseconds; some errors have a longer one of their own.
        min_errors: fewest errors of a burst; likewise fewer.
        seen_until: end of the data (epoch ms); null = not known.
        hold: keeps the refusals that belong to a burst.
        few: fetches evidence if there is little of it.

    Returns:
        `gold.illegal_generation_bursts`, one row for each burst, as `transforms.findings.bursts.judge` has it.

    Raises:
        ValueError: if a threshold is out of its range.
    """
    told = refusals(tables, tables, tables[GROUP_REQUESTS], gap_ms)
    frames = {spec.name: rows for spec, rows in tables.items() if spec in READ and spec is not CLIENT_EVENTS}
    frames |= {} if told is None else {REFUSED: told}
    search = burst_search(tables, told is not None, gap_ms, min_errors, seen_until)
    return search.by_spark(frames, hold, few)


def refusals(
    tables: Mapping[TableSpec, DataFrame],
    of_cluster: Mapping[TableSpec, DataFrame],
    requests: DataFrame,
    gap_ms: int,
) -> DataFrame | None:
    """Return the refused requests, those among them that only clients or brokers' lines tell of.

    They have columns of `silver.group_requests`, `evidence` and `is_own`. None = nothing but the request log tells of
    any: then they are among the requests that are searched.

    Args:
        tables: those of READ that there are.
        of_cluster: those that lines are laid beside as a whole, and the brokers' lines.
        requests: of the groups that are searched, the refused ones at least.
        gap_ms: see `illegal_generation_bursts`.
    """
    lines, sessions, clients = (
        of_cluster.get(COORDINATOR_EVENTS),
        of_cluster.get(MEMBER_SESSIONS),
        tables.get(CLIENT_EVENTS),
    )
    is_told_by_lines = lines is not None and sessions is not None and may_tell(lines)
    if clients is None and not is_told_by_lines:
        return None
    known = with_client_refusals(requests, clients, gap_ms, sessions, of_cluster.get(GROUP_REQUESTS), has_own=True)
    told = fencings(lines, sessions) if is_told_by_lines and lines is not None and sessions is not None else None
    return with_broker_refusals(known, told, gap_ms).where(IS_REFUSED)


def burst_search(
    tables: Mapping[TableSpec, DataFrame],
    is_told_beside: bool,
    gap_ms: int,
    min_errors: int,
    seen_until: float | None,
    is_cut: bool = False,
) -> Search:
    """Return the search for bursts.

    Args:
        tables: those of READ that there are.
        is_told_beside: what `refusals` gives is read as REFUSED; else there is none.
        gap_ms: see `illegal_generation_bursts`.
        min_errors: likewise.
        seen_until: likewise.
        is_cut: bursts that lie before the cut of their group are left out.

    Raises:
        ValueError: if a threshold is out of its range.
    """
    limits = BurstLimits(gap_ms, min_errors)
    refused = f"SELECT *, 'request_log' AS evidence, false AS is_own FROM {of_table(GROUP_REQUESTS)}"
    found = _found(limits, f"SELECT * FROM {{{REFUSED}}}" if is_told_beside else refused)
    judge = partial(_judge, limits, seen_until)
    return Search(ILLEGAL_GENERATION_BURSTS, reaching(found) if is_cut else found, _evidence(tables), judge)


def _judge(
    limits: BurstLimits, seen_until: float | None, evidence: Evidence, frame: dict[str, Any]
) -> list[IllegalGenerationBurstRow]:
    evidence.seen_until = seen_until
    return [burst_row(evidence.in_order(), limits, frame["source"])]


def _found(limits: BurstLimits, refused: str) -> str:
    """The refused requests that belong to a burst, each with the number of its burst within the group.

    With the time that is looked at, the burst's oldest generation, and its source; of each burst `is_one` is true of
    one request. What clients refused themselves beside a burst of what their coordinator refused is part of that.
    """
    gap_us = limits.gap_ms * 1000
    own_beside = f"""max(CASE WHEN is_own THEN 0 ELSE 1 END) OVER (
        PARTITION BY cluster, group_id ORDER BY at_us RANGE BETWEEN {gap_us} PRECEDING AND {gap_us} FOLLOWING)"""
    of_run = f"{_OF_ERROR}, burst"
    return f"""
        WITH refused AS (
            SELECT * EXCEPT (is_own), coalesce(is_own, false) AS is_own, unix_micros(answered_at) AS at_us
            FROM ({refused}) WHERE {IS_REFUSED}
        ),
        begun AS (
            SELECT *, CASE WHEN coalesce(
                at_us - lag(at_us) OVER ({_OF_ERROR} ORDER BY at_us) > {_of_error(limits, "gap_ms")} * 1000, true
            ) THEN 1 ELSE 0 END AS begins FROM refused
        ),
        parted AS (SELECT *, sum(begins) OVER ({_OF_ERROR} ORDER BY at_us) AS burst FROM begun),
        counted AS (SELECT *, count(*) OVER ({of_run}) AS length FROM parted),
        long AS (
            SELECT *, CASE WHEN is_own THEN {own_beside} ELSE 0 END AS beside
            FROM counted WHERE length >= {_of_error(limits, "min_errors")}
        ),
        told_once AS (SELECT * FROM (SELECT *, max(beside) OVER ({of_run}) AS is_beside FROM long) WHERE is_beside = 0),
        numbered AS (
            SELECT *, dense_rank() OVER (PARTITION BY cluster, group_id ORDER BY error, is_own, burst) AS finding
            FROM told_once
        )
        SELECT *, min(at_us) OVER ({_OF_BURST}) - {_BEFORE_US} AS since_us,
            max(at_us) OVER ({_OF_BURST}) + {_AFTER_US} AS until_us,
            min(CASE WHEN generation >= 0 THEN generation END) OVER ({_OF_BURST}) AS oldest,
            max(evidence) OVER ({_OF_BURST}) AS source,
            row_number() OVER ({_OF_BURST} ORDER BY at_us) = 1 AS is_one
        FROM numbered"""  # source is request_log, if any of it is


def _of_error(limits: BurstLimits, name: str) -> str:
    """Return a threshold of the error that a row has."""
    own = " ".join(f"WHEN {literal(error)} THEN {getattr(limits.of(error), name)}" for error in OF_THEIR_OWN)
    usual = str(getattr(limits, name))
    return f"CASE error {own} ELSE {usual} END" if own else usual


def _evidence(tables: Mapping[TableSpec, DataFrame]) -> str:
    """What is known of the bursts: of an hour before them, and some minutes after."""
    stays = near(MEMBER_SESSIONS, "joined_at", "ended_at", AT_END)
    with_stays = f"stays AS ({stays})," if MEMBER_SESSIONS in tables else ""
    with_generations = f"held AS ({_IN_TIME})," if GENERATIONS in tables else ""
    parts = "\nUNION ALL\n".join(_parts(tables))
    return f"""
        WITH spans AS (
            SELECT cluster, group_id, finding, since_us, until_us, oldest, source FROM {{{FOUND}}} WHERE is_one
        ),
        {with_stays}
        {with_generations}
        kept_out AS (
            SELECT cluster, group_id, finding, group_instance_id, at_us FROM {{{FOUND}}}
            WHERE error = {literal(NOT_LET_IN)}
        )
        {parts}"""


def _parts(tables: Mapping[TableSpec, DataFrame]) -> Iterator[str]:
    requests = fields_of(GROUP_REQUESTS, REQUEST)
    yield packing(FRAME, [T.StructField("source", T.StringType())], "SELECT * FROM spans")
    yield packing("refused", requests, f"SELECT * FROM {{{FOUND}}}")
    if GENERATIONS in tables:
        yield packing("generations", fields_of(GENERATIONS), "SELECT * FROM held")
        if GENERATION_MEMBERS in tables:
            yield packing("members", fields_of(GENERATION_MEMBERS), _MEMBERS)
    if MEMBER_SESSIONS in tables:
        yield packing("sessions", fields_of(MEMBER_SESSIONS), "SELECT * FROM stays")
        yield packing("heard", fields_of(GROUP_REQUESTS, Heard.__struct_fields__), _heard())
    if COORDINATORS in tables:
        yield packing("coordinators", fields_of(COORDINATORS), near(COORDINATORS, "from_at", "to_at"))
    waiting = f"SELECT * FROM {of_table(GROUP_REQUESTS)} WHERE error = 'REBALANCE_IN_PROGRESS' AND api <> 'Heartbeat'"
    names = [field.name for field in requests]
    yield packing("requests", requests, near(GROUP_REQUESTS, "answered_at", "answered_at", rows=waiting, names=names))
    if OFFSET_COMMITS in tables:
        yield packing("commits", fields_of(OFFSET_COMMITS, Commit.__struct_fields__), _commits())
    if COORDINATOR_EVENTS in tables:
        yield packing("printed", _PRINTED, _printed())


_IN_TIME = f"""
    SELECT told.* EXCEPT (begun_us, next_us), finding
    FROM (
        SELECT *, lead(begun_us) OVER (PARTITION BY cluster, group_id ORDER BY begun_us, life, generation) AS next_us
        FROM (SELECT *, unix_micros({BEGUN_AT}) AS begun_us FROM {of_table(GENERATIONS)}) WHERE begun_us IS NOT NULL
    ) told JOIN spans USING (cluster, group_id)
    WHERE begun_us <= until_us
        AND (coalesce(next_us >= since_us, true) OR generation BETWEEN oldest AND oldest + 1)"""
"""The generations of the time looked at, the one in force when it began, and those that old requests name."""

_MEMBERS = f"""
    SELECT * FROM {of_table(GENERATION_MEMBERS)}
    JOIN (SELECT cluster, group_id, finding, life, generation FROM held) USING (cluster, group_id, life, generation)
    JOIN (SELECT DISTINCT cluster, group_id, finding, client_id FROM {{{FOUND}}})
        USING (cluster, group_id, finding, client_id)"""
"""Who of these generations was refused."""


def _heard() -> str:
    """What those were granted who held instance ids, since others had not been let in under them."""
    granted = f"SELECT * FROM {of_table(GROUP_REQUESTS)} WHERE error = 'NONE'"
    times = """(
        SELECT cluster, group_id, finding, min(at_us) AS since_us, min(until_us) AS until_us
        FROM kept_out JOIN (SELECT cluster, group_id, finding, until_us FROM spans) USING (cluster, group_id, finding)
        GROUP BY cluster, group_id, finding)"""
    heard = near(GROUP_REQUESTS, "answered_at", "answered_at", rows=granted, spans=times, names=Heard.__struct_fields__)
    return f"""
        SELECT * FROM ({heard}) JOIN (
            SELECT DISTINCT cluster, group_id, finding, member_id FROM stays
            JOIN (SELECT DISTINCT cluster, group_id, finding, group_instance_id FROM kept_out)
                USING (cluster, group_id, finding, group_instance_id)
        ) USING (cluster, group_id, finding, member_id)"""


def _commits() -> str:
    """What was committed to the partitions of refused commits."""
    stored = f"SELECT * FROM {of_table(OFFSET_COMMITS)} WHERE NOT is_tombstone"
    made = near(OFFSET_COMMITS, "recorded_at", "recorded_at", rows=stored, names=Commit.__struct_fields__)
    return f"""
        SELECT * FROM ({made}) JOIN (
            SELECT DISTINCT cluster, group_id, finding, sent.topic AS topic, sent.`partition` AS `partition`
            FROM (SELECT cluster, group_id, finding, explode(sent_offsets) AS sent FROM {{{FOUND}}})
        ) USING (cluster, group_id, finding, topic, `partition`)"""


_PRINTED = (
    T.StructField("logged_at", T.TimestampType()),
    T.StructField("is_own", T.BooleanType()),
    T.StructField("session_timeout_ms", T.IntegerType()),
)


def _printed() -> str:
    """What brokers printed of the session timeout before a member was not let in: the last of each kind."""
    own = SESSION_SETTINGS["consumer"]
    return f"""
        SELECT * FROM (
            SELECT *, row_number() OVER (
                PARTITION BY cluster, group_id, finding, is_own ORDER BY logged_at DESC, session_timeout_ms DESC
            ) AS place
            FROM (
                SELECT cluster, logged_at, event = {literal(_GROUP_SETTINGS)} AS is_own,
                    CASE WHEN event = {literal(_GROUP_SETTINGS)} THEN attributes['group_id'] END AS named,
                    TRY_CAST(CASE WHEN event = {literal(_GROUP_SETTINGS)} THEN attributes[{literal(own)}]
                        ELSE attributes[{literal(f"group.{own}")}] END AS INT) AS session_timeout_ms
                FROM {of_table(COORDINATOR_EVENTS)} WHERE {among("event", SETTINGS)}
            ) JOIN (
                SELECT cluster, group_id, finding, min(at_us) AS first_us FROM kept_out
                GROUP BY cluster, group_id, finding
            ) USING (cluster)
            WHERE coalesce(named = group_id, true) AND unix_micros(logged_at) <= first_us
        ) WHERE place = 1"""
