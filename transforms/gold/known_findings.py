"""What each finding is called from run to run, and which ones no run has seen before.

A finding that is new is named after its table's key. While it stands its key may change: evidence that comes late moves
a storm's begin, or shows that two storms are one. So a finding that lasts takes the id of a known one of its kind,
group and error that it overlaps. An id goes first of all to the finding whose key made it. Of the others each goes to
one finding, the earliest that overlaps; and each finding takes one, that of the one seen first.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from schemas.spark import struct_type
from schemas.tables.gold import KNOWN_FINDINGS
from transforms.findings.handover.kinds import KINDS, Kind
from transforms.question import Question
from transforms.sql import literal, truth

OWN_ID = "own_id"
"""Column that findings have beside those of their tables: the id that their key makes."""

IS_CHANGED = "is_changed"
"""Column that says of a known finding whether it is another one than the known row says."""

NEWS = f"first_seen_at IS NULL OR {IS_CHANGED}"
"""Condition of findings that are new, or that have grown."""

_ID_DIGITS = 16


def with_own_id(kind: Kind, rows: DataFrame) -> DataFrame:
    """Add the id that the key makes."""
    return rows.withColumn(OWN_ID, F.expr(_own_id(kind)))


def identified(of_late: str = truth(False)) -> Question:
    """Ask for the ids of findings: of those that are new or have grown, and of all that are told of nevertheless.

    Args:
        of_late: condition of the latter, in Spark's SQL: of the columns of `gold.known_findings` and `is_open`, as the
            findings' own tables have it.

    Returns:
        The question for one row for each of them: the columns of `gold.known_findings`, `first_seen_at` null for one
        that is new, `own_id`, and `is_changed`.
    """
    told = ", ".join(KNOWN_FINDINGS.columns)
    statement = f"""
        WITH found AS ({" UNION ALL ".join(map(_outline, KINDS))}),
        old AS (
            SELECT cluster, finding_kind, group_id, about, finding_id, first_seen_at,
                unix_micros(started_at) AS k_begin, unix_micros(ended_at) AS k_end
            FROM {{{KNOWN_FINDINGS.name}}}
        ),
        exact AS (
            SELECT found.cluster, {OWN_ID}, begin_us, finding_id, first_seen_at, k_begin, k_end
            FROM found JOIN old ON {OWN_ID} = finding_id
        ),
        overlapping AS (
            SELECT cluster, {OWN_ID}, begin_us, finding_id, first_seen_at, k_begin, k_end
            FROM (SELECT * FROM found WHERE is_span AND {OWN_ID} NOT IN (SELECT {OWN_ID} FROM exact))
            JOIN (SELECT * FROM old WHERE finding_id NOT IN (SELECT finding_id FROM exact))
                USING (cluster, finding_kind, group_id, about)
            WHERE begin_us <= k_end AND k_begin <= end_us
        ),
        pairs AS (
            SELECT *, row_number() OVER (PARTITION BY cluster, finding_id ORDER BY begin_us, {OWN_ID}) AS place
            FROM (SELECT * FROM exact UNION ALL SELECT * FROM overlapping)
        ),
        taken AS (
            SELECT cluster, {OWN_ID}, finding_id AS known_id, first_seen_at, k_begin, k_end FROM (
                SELECT *, row_number() OVER (
                    PARTITION BY cluster, {OWN_ID} ORDER BY first_seen_at, k_begin, finding_id
                ) AS choice
                FROM pairs WHERE place = 1
            ) WHERE choice = 1
        ),
        named AS (
            SELECT cluster, coalesce(known_id, {OWN_ID}) AS finding_id, finding_kind, group_id, about,
                timestamp_micros(begin_us) AS started_at, timestamp_micros(end_us) AS ended_at, first_seen_at,
                is_open, {OWN_ID}, NOT (begin_us <=> k_begin AND end_us <=> k_end) AS {IS_CHANGED}
            FROM found LEFT JOIN taken USING (cluster, {OWN_ID})
        )
        SELECT {told}, {OWN_ID}, {IS_CHANGED} FROM named WHERE {NEWS} OR coalesce({of_late}, true)"""
    more = (T.StructField(OWN_ID, T.StringType()), T.StructField(IS_CHANGED, T.BooleanType()))
    columns = T.StructType([*struct_type(KNOWN_FINDINGS).toNullable(), *more])
    return Question(statement, (*(kind.spec for kind in KINDS), KNOWN_FINDINGS), columns)


def _outline(kind: Kind) -> str:
    """What findings of all kinds have alike."""
    about = ", ".join(["'-'", "CAST(NULL AS STRING)", *(f"CAST({name} AS STRING)" for name in kind.about)])
    is_open = "is_open" if "is_open" in kind.spec.columns else truth(False)
    return f"""
        SELECT cluster, {_own_id(kind)} AS {OWN_ID}, {literal(kind.name)} AS finding_kind, group_id,
            concat_ws({about}) AS about, {truth(kind.is_span)} AS is_span, {is_open} AS is_open,
            unix_micros({_first_known(kind.begins)}) AS begin_us, unix_micros({_first_known(kind.ends)}) AS end_us
        FROM {{{kind.spec.name}}}"""


def _own_id(kind: Kind) -> str:
    """The id that the key makes: 64 bits of a hash, in hexadecimal; times count as microseconds of the epoch."""
    columns = struct_type(kind.spec)
    cells = []
    for name in kind.spec.key:
        is_time = isinstance(columns[name].dataType, T.TimestampType)
        text = f"CAST({f'unix_micros({name})' if is_time else name} AS STRING)"
        cells.append(f"sha2(coalesce({text}, ''), 256)")
    return f"left(sha2(concat({', '.join([literal(kind.name), *cells])}), 256), {_ID_DIGITS})"


def _first_known(columns: tuple[str, ...]) -> str:
    return f"coalesce({', '.join(columns)})"
