"""Bursts of fencing errors: a group's coordinator refuses requests, several in a row, by one and the same error.

The requests of one group that were answered with one error of `schemas.words.FENCING_ERRORS` are ordered by
`answered_at` and split where the gap is longer than allowed; a run that is long enough is a burst: which gap and how
many is set, but for errors that have limits of their own (`transforms.findings.bursts.limits`). Any API counts.
Commits that clients refused themselves, which no coordinator was asked about, make bursts of their own where the group
has no other at the time.

Statements find the bursts and what belongs to each; what is to be said of one is `transforms.findings.bursts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pyspark.sql import DataFrame

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
from transforms.findings.evidence import Evidence
from transforms.gold.broker_refusals import fencings, may_tell, with_broker_refusals
from transforms.gold.client_refusals import with_client_refusals
from transforms.gold.findings.around_bursts import evidence_of_bursts
from transforms.gold.findings.kernel import ASKED
from transforms.gold.findings.search import Search, reaching
from transforms.question import of_table
from transforms.sql import among, literal, quoted

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

_BY_REQUEST_LOG = "'request_log' AS evidence, false AS is_own"

_ASKED = ", ".join(map(quoted, (*ASKED, "evidence", "is_own")))

_BEFORE_US = 3_600_000_000
"""What went on for so long before a burst is looked at; of the generations also the one that was in force then."""

_AFTER_US = 600_000_000
"""And for so long after it: who was slow comes back when the batch is done."""


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
        gap_ms: longest gap between two errors of a burst, in milliseconds.
    """
    clients = tables.get(CLIENT_EVENTS)
    lines, sessions = of_cluster.get(COORDINATOR_EVENTS), of_cluster.get(MEMBER_SESSIONS)
    told = None
    if lines is not None and sessions is not None and may_tell(lines):
        told = fencings(lines, sessions)
    if clients is None and told is None:
        return None
    known = with_client_refusals(requests, clients, gap_ms, sessions, has_own=True)
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
        gap_ms: longest gap between two errors of a burst, in milliseconds; some errors have a longer one of their own.
        min_errors: fewest errors of a burst; likewise fewer.
        seen_until: end of the data (epoch ms); null = not known.
        is_cut: bursts that lie before the cut of their group are left out.

    Raises:
        ValueError: if a threshold is out of its range.
    """
    limits = BurstLimits(gap_ms, min_errors)
    told = f"{{{REFUSED}}}" if is_told_beside else f"(SELECT *, {_BY_REQUEST_LOG} FROM {of_table(GROUP_REQUESTS)})"
    found = _found(limits, f"SELECT {_ASKED} FROM {told}")
    return Search(
        ILLEGAL_GENERATION_BURSTS,
        reaching(found) if is_cut else found,
        evidence_of_bursts(tables),
        partial(_judge, limits, seen_until),
        breadth=4,
    )


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
        WITH sent AS (
            SELECT * EXCEPT (is_own), coalesce(is_own, false) AS is_own, unix_micros(answered_at) AS at_us
            FROM ({refused}) WHERE {IS_REFUSED}
        ),
        begun AS (
            SELECT *, CASE WHEN coalesce(
                at_us - lag(at_us) OVER ({_OF_ERROR} ORDER BY at_us) > {_of_error(limits, "gap_ms")} * 1000, true
            ) THEN 1 ELSE 0 END AS begins FROM sent
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
