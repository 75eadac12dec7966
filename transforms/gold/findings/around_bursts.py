"""What belongs to a burst of fencing errors: what tables have on the time around it, and on who was refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pyspark.sql import types as T

from schemas.table import TableSpec
from schemas.tables.gold import COORDINATORS, GENERATION_MEMBERS, GENERATIONS, MEMBER_SESSIONS
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_REQUESTS, OFFSET_COMMITS
from transforms.findings.evidence import Commit, Heard
from transforms.findings.sentences import SESSION_SETTINGS
from transforms.gold.broker_refusals import NOT_LET_IN
from transforms.gold.findings.kernel import AT_END, FRAME, REQUEST
from transforms.gold.findings.search import FOUND, fields_of, near, packing
from transforms.gold.rebalances import BEGUN_AT
from transforms.question import of_table
from transforms.sql import among, literal

_BROKER_SETTINGS, _GROUP_SETTINGS = "broker_settings", "group_settings"

SETTINGS = (_BROKER_SETTINGS, _GROUP_SETTINGS)
"""Events that tell of settings as brokers print them: such a line counts for all that comes after it, however late."""


def evidence_of_bursts(tables: Collection[TableSpec]) -> str:
    """Return the statement for what is known of the bursts: of an hour before them, and some minutes after.

    Args:
        tables: those that there are; the requests are.
    """
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


def _parts(tables: Collection[TableSpec]) -> Iterator[str]:
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
