"""Up to when each source of evidence has spoken: the offsets topic, each broker by its logs; and what brokers print."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import types as T

from schemas.table import TableSpec
from schemas.tables.bronze import LOG_LINES, OFFSETS_RECORDS
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_REQUESTS
from transforms.loads import loaded_after
from transforms.question import Question, of_table
from transforms.sql import literal

OFFSETS_TOPIC = "__consumer_offsets"

_TOLD_BY_BROKERS = (COORDINATOR_EVENTS, GROUP_REQUESTS)
"""Tables of silver that brokers' lines give rows of; clients' lines do not count, whose clocks are their own."""

_READ = (OFFSETS_RECORDS, LOG_LINES, *_TOLD_BY_BROKERS)


def newest(load: Callable[[TableSpec], str | None]) -> Question:
    """Ask for the newest moment of each source among new rows.

    Args:
        load: gives the newest `loaded_at` of a table that is known, ISO 8601 in UTC; None = nothing is.

    Returns:
        The question for source, newest DOUBLE (epoch ms; null = none of the rows has a time), is_broker (its lines told
        of groups).
    """
    of_brokers = "\n".join(
        f"UNION ALL SELECT broker, CAST(NULL AS DOUBLE), true FROM {of_table(spec)}" for spec in _TOLD_BY_BROKERS
    )
    return Question(
        f"""
        SELECT source, max(at) AS newest, bool_or(is_broker) AS is_broker FROM (
            SELECT {literal(OFFSETS_TOPIC)} AS source, unix_micros(recorded_at) / 1000.0D AS at, true AS is_broker
            FROM {of_table(OFFSETS_RECORDS)}
            UNION ALL SELECT broker, unix_micros(logged_at) / 1000.0D, false FROM {of_table(LOG_LINES)}
            {of_brokers}
        ) GROUP BY source""",
        _READ,
        T.StructType().add("source", "string").add("newest", "double").add("is_broker", "boolean"),
        wanted={spec: loaded_after(load(spec)) for spec in _READ},
        is_narrow=True,
    )


def printed_partition_count(load: Callable[[TableSpec], str | None]) -> Question:
    """Ask how many partitions of `__consumer_offsets` brokers print in new lines, the last word.

    Args:
        load: as for `newest`.

    Returns:
        The question for one row with count INT; null = none does.
    """
    return Question(
        f"""
        SELECT max_by(count, coalesce(logged_at, timestamp_micros(0))) AS count FROM (
            SELECT TRY_CAST(attributes['offsets.topic.num.partitions'] AS INT) AS count, logged_at
            FROM {of_table(COORDINATOR_EVENTS)} WHERE event = 'broker_settings'
        ) WHERE count IS NOT NULL""",
        (COORDINATOR_EVENTS,),
        T.StructType().add("count", "integer"),
        wanted={COORDINATOR_EVENTS: loaded_after(load(COORDINATOR_EVENTS))},
        is_narrow=True,
    )
