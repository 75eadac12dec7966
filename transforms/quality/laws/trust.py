"""How far all of it can be trusted: times, the audit, what could not be read, and the brokers' logs and clocks."""

from __future__ import annotations

from transforms.quality.laws.law import GENERATION, LIFE, Law

_MOMENTS: dict[str, tuple[str, ...]] = {
    "generations": ("preparing_at", "completing_at", "stable_at", "emptied_at", "ended_at"),
    "assignments": ("valid_from", "valid_to"),
    "transitions": ("at",),
    "member_sessions": ("joined_at", "ended_at"),
}
"""By table, the moments that have passed when a row is written."""


def _no_future(table: str, moments: tuple[str, ...]) -> Law:
    latest = f"greatest({', '.join(moments)}, TIMESTAMP '0001-01-01')"
    return Law(
        f"no_future_in_{table}",
        table,
        "nothing has happened later than now",
        f"SELECT {LIFE}, {', '.join(moments)} FROM {{{table}}} WHERE {latest} > :now + :clock_slack",
    )


LAWS = (
    *(_no_future(table, moments) for table, moments in _MOMENTS.items()),
    Law(
        "audit_agrees",
        "audit_counts",
        "enough of the requests were answered as predicted; races, and answers used as evidence, aside",
        """SELECT cluster, agreed, differed, agreed / (agreed + differed) AS agreement, groups FROM (
                SELECT cluster, sum(agree_count - race_count - answer_used_count) AS agreed,
                    sum(differ_count) AS differed,
                    slice(array_sort(collect_set(IF(differ_count > 0, group_id, NULL))), 1, 5) AS groups
                FROM {audit_counts} WHERE NOT is_known GROUP BY cluster
            ) WHERE differed >= :few_requests AND agreed < :min_agreement * (agreed + differed)""",
        is_critical=False,
    ),
    Law(
        "audit_adds_up",
        "audit_counts",
        "each audited request was answered as predicted, or not, or could not be predicted",
        """SELECT cluster, group_id, api, hour_at, request_count, agree_count, differ_count, unpredicted_count,
                race_count, answer_used_count
            FROM {audit_counts}
            WHERE request_count <> agree_count + differ_count + unpredicted_count
                OR least(agree_count, differ_count, unpredicted_count, race_count, answer_used_count) < 0""",
    ),
    Law(
        "audit_verdicts_fit",
        "replay_audit",
        "an answer agrees where it is the one that was predicted; else, or if nothing could be, it is said why",
        """SELECT cluster, source_file, line_number, seq, group_id, api, agrees, why, observed_error, predicted_error,
                observed_generation, predicted_generation
            FROM {replay_audit}
            WHERE (agrees AND (NOT observed_error <=> predicted_error
                    OR observed_generation <> predicted_generation))
                OR (coalesce(NOT agrees, true) AND why IS NULL)""",
    ),
    Law(
        "group_in_its_partition",
        "coordinators",
        "a group is where its id says: else the offsets topic was expanded, and older commits are out of sight",
        """SELECT cluster, group_id, observed_partition, computed_partition FROM {coordinators} WHERE NOT agrees""",
        is_critical=False,
    ),
    Law(
        "little_is_rejected",
        "rejected",
        "nearly everything could be read",
        """SELECT cluster, rejected, rejected + taken + :left_out AS read, reasons FROM (
                SELECT cluster, count(*) AS rejected, slice(array_sort(collect_set(reason_code)), 1, 5) AS reasons
                FROM {rejected} GROUP BY cluster
            ) JOIN (
                SELECT cluster, count(*) AS taken FROM (
                    SELECT cluster FROM {offsets_records} UNION ALL SELECT cluster FROM {log_lines}
                ) GROUP BY cluster
            ) USING (cluster)
            WHERE rejected >= :few_rejected AND rejected > :max_rejected_share * (rejected + taken + :left_out)""",
        is_critical=False,
    ),
    Law(
        "lines_are_recognised",
        "coordinator_events",
        "nearly all lines of the coordinators are of a kind that is known: else the broker is of a version that is not",
        """SELECT * FROM (
                SELECT cluster, broker, count(*) AS lines, count_if(event = 'unrecognised') AS unrecognised,
                    min(attributes['text']) FILTER (WHERE event = 'unrecognised') AS example
                FROM {coordinator_events} GROUP BY cluster, broker
            ) WHERE unrecognised >= :few_lines AND unrecognised > :max_unrecognised_share * lines""",
        is_critical=False,
    ),
    Law(
        "sources_speak",
        "log_lines",
        "a source that used to speak still does",
        """SELECT * FROM (
                SELECT cluster, source, newest_at, max(newest_at) OVER (PARTITION BY cluster) AS others_at
                FROM {sources}
            ) WHERE newest_at < others_at - :silence""",
        is_critical=False,
    ),
    Law(
        "clocks_agree",
        "group_metadata",
        "whoever coordinates a partition has the time of whoever did before: its records do not go back in time",
        """SELECT * FROM (
                SELECT cluster, topic_partition_of_record, record_offset, group_id, recorded_at,
                    lag(recorded_at) OVER (PARTITION BY cluster, topic_partition_of_record ORDER BY record_offset)
                        AS recorded_before
                FROM {group_metadata}
            ) WHERE recorded_at < recorded_before - :clock_slack""",
        is_critical=False,
    ),
    Law(
        "told_in_its_generation",
        "generation_members",
        "a member is told its assignment once the generation is there",
        f"""SELECT {GENERATION}, member_id, told_at, g.completing_at FROM {{generation_members}}
            JOIN (
                SELECT {GENERATION}, IF(group_type = 'classic', coalesce(completing_at, stable_at), preparing_at)
                    AS completing_at FROM {{generations}}
            ) g USING ({GENERATION})
            WHERE told_at < g.completing_at - :clock_slack""",
    ),
)
