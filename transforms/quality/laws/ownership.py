"""Who owns what, from when until when."""

from __future__ import annotations

from transforms.quality.laws.law import CLOCK, FOR_EVER, GENERATION, Law

KAFKAS_ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
"""Client-side assignors that come with Kafka, as members vote for them; none gives a partition twice."""

_OWN = ", ".join(f"'{name}'" for name in KAFKAS_ASSIGNORS)

_OWNED = "hold = 'owned' AND coalesce(role, 'active') = 'active'"
"""Rows of assignments that say who works on a partition: not what is being given up, nor a copy of a streams task."""


def _two_owners(of_generations: str) -> str:
    """Return the query for who has a partition while somebody else gets it in the same generation.

    Args:
        of_generations: which of the assignments are looked at: what they are joined with.
    """
    return f"""
        SELECT * FROM (
            SELECT {GENERATION}, topic, partition, member_id, valid_from, valid_to,
                lead(member_id) OVER one AS next_member_id, lead(valid_from) OVER one AS next_from
            FROM {{assignments}} {of_generations} WHERE group_type <> 'share' AND {_OWNED}
            WINDOW one AS (PARTITION BY {GENERATION}, topic, partition ORDER BY valid_from, valid_to, member_id)
        ) WHERE next_member_id <> member_id AND coalesce(next_from < coalesce(valid_to, {FOR_EVER}), true)"""


_BY_OWN_ASSIGNOR = f"""(
    SELECT {GENERATION} FROM {{generations}} WHERE protocol NOT IN ({_OWN})
) by_own_assignor USING ({GENERATION})"""

LAWS = (
    Law(
        "one_open_interval",
        "assignments",
        "what a member owns it owns since one moment: no two intervals of the same assignment are open",
        f"""SELECT cluster, group_id, member_id, topic, partition, count(*) AS open_count,
                collect_list(concat(life, '/', generation)) AS generations
            FROM {{assignments}} WHERE valid_to IS NULL AND {_OWNED}
            GROUP BY cluster, group_id, member_id, topic, partition HAVING count(*) > 1""",
        needs_whole_evidence=True,
    ),
    Law(
        "one_owner",
        "assignments",
        "a partition has one owner at a time within a generation, but in share groups",
        _two_owners(f"LEFT ANTI JOIN {_BY_OWN_ASSIGNOR}"),
    ),
    Law(
        "one_owner_by_own_assignor",
        "assignments",
        "an assignor of one's own gives no partition to two members: Kafka would not object",
        _two_owners(f"LEFT SEMI JOIN {_BY_OWN_ASSIGNOR}"),
        is_critical=False,
    ),
    Law(
        "owners_in_turn",
        "assignments",
        "where the records tell of both generations, nobody owns a partition any more when the next one gets it",
        f"""SELECT * FROM (
                SELECT {GENERATION}, topic, partition, member_id, valid_from, valid_to,
                    lead(generation) OVER one AS next_generation, lead(life) OVER one AS next_life,
                    lead(valid_from) OVER one AS next_from
                FROM {{assignments}} LEFT SEMI JOIN (
                    SELECT {GENERATION} FROM {{generations}} WHERE array_contains(evidence, 'offsets')
                ) USING ({GENERATION})
                WHERE group_type <> 'share' AND {_OWNED} AND valid_from IS NOT NULL
                WINDOW one AS (PARTITION BY cluster, group_id, topic, partition
                    ORDER BY valid_from, coalesce(valid_to, {FOR_EVER}), life, generation)
            ) WHERE (next_life, next_generation) <> (life, generation)
                AND next_from < coalesce(valid_to, {FOR_EVER})""",
        needs_whole_evidence=True,
    ),
    Law(
        "intervals_without_gaps",
        "assignments",
        "within a generation of a classic group a partition that has an owner has one from its beginning to its end",
        f"""SELECT a.*, g.stable_at, g.ended_at FROM (
                SELECT {GENERATION}, topic, partition, member_id, valid_from, valid_to,
                    lag(valid_to) OVER one AS left_at, lead(valid_from) OVER one AS next_from
                FROM {{assignments}} WHERE group_type = 'classic'
                WINDOW one AS (PARTITION BY {GENERATION}, topic, partition
                    ORDER BY valid_from, coalesce(valid_to, {FOR_EVER}))
            ) a JOIN {{generations}} g USING ({GENERATION})
            WHERE coalesce(left_at, g.stable_at) < valid_from
                OR (next_from IS NULL AND valid_to < g.ended_at)
                OR (next_from IS NULL AND g.ended_at IS NULL AND valid_to IS NOT NULL)""",
        needs_whole_evidence=True,
    ),
    Law(
        "interval_inside_generation",
        "assignments",
        "what is assigned in a generation of a classic group is owned while it lasts, neither before nor after",
        f"""SELECT a.{GENERATION.replace(", ", ", a.")}, topic, partition, member_id, valid_from, valid_to,
                g.stable_at, g.ended_at
            FROM {{assignments}} a JOIN {{generations}} g USING ({GENERATION})
            WHERE a.group_type = 'classic' AND (valid_from < g.stable_at - {CLOCK}
                OR coalesce(valid_to, {FOR_EVER}) > coalesce(g.ended_at, {FOR_EVER}) + {CLOCK})""",
        needs_whole_evidence=True,
    ),
)
