"""What one table says exists, another one has: members, generations, assignments, sessions, findings."""

from __future__ import annotations

from schemas.tables.gold import BEGINS
from transforms.quality.laws.law import GENERATION, KNOWN_FROM, LIFE, Law, is_past

_BEGIN = f"coalesce({', '.join(f'g.{name}' for name in BEGINS)})"
_STORM = "cluster, group_id, started_at, ended_at, first_generation, last_generation, rebalance_count"

LAWS = (
    Law(
        "generation_of_member",
        "generation_members",
        "each member is in a generation that there is",
        f"""SELECT {GENERATION}, member_id FROM {{generation_members}}
            LEFT ANTI JOIN {{generations}} USING ({GENERATION})""",
    ),
    Law(
        "member_of_assignment",
        "assignments",
        "in a classic group whoever is assigned a partition is a member of that generation",
        f"""SELECT {GENERATION}, member_id, topic, partition FROM (
                SELECT * FROM {{assignments}} WHERE group_type = 'classic'
            ) LEFT ANTI JOIN {{generation_members}} USING ({GENERATION}, member_id)""",
    ),
    Law(
        "session_of_member",
        "generation_members",
        "each member has a session, which lasts from its first generation to its last",
        f"""SELECT {LIFE}, member_id, m.first, m.last, s.first_generation, s.last_generation
            FROM (SELECT {LIFE}, member_id, min(generation) AS first, max(generation) AS last
                FROM {{generation_members}} WHERE group_type = 'classic' GROUP BY {LIFE}, member_id) m
            LEFT JOIN {{member_sessions}} s USING ({LIFE}, member_id)
            LEFT JOIN ({KNOWN_FROM}) USING (cluster, group_id)
            WHERE NOT m.last <=> s.last_generation OR (NOT m.first <=> s.first_generation
                AND NOT {is_past("s.first_generation")})""",
        needs_whole_evidence=True,
    ),
    Law(
        "member_of_session",
        "member_sessions",
        "a session that has been in a generation is that of one of its members",
        f"""SELECT {LIFE}, member_id, first_generation, last_generation FROM {{member_sessions}}
            LEFT ANTI JOIN {{generation_members}} USING ({LIFE}, member_id)
            LEFT JOIN ({KNOWN_FROM}) USING (cluster, group_id)
            WHERE first_generation IS NOT NULL
                AND NOT {is_past("last_generation")}""",
        needs_whole_evidence=True,
    ),
    Law(
        "end_has_cause",
        "member_sessions",
        "a session that has ended did so for a cause, if only an unknown one",
        f"SELECT {LIFE}, member_id, ended_at FROM {{member_sessions}} WHERE ended_at IS NOT NULL AND end_cause IS NULL",
    ),
    Law(
        "storm_of_generations",
        "rebalance_storms",
        "a storm lies within its group's generations, and has no more rebalances than they began",
        f"""SELECT {_STORM}, found FROM (
                SELECT {", ".join(f"s.{name}" for name in _STORM.split(", "))}, count(g.generation) AS found,
                    coalesce(bool_or(g.generation = s.first_generation), false) AS has_first,
                    coalesce(bool_or(g.generation = s.last_generation), false) AS has_last
                FROM {{rebalance_storms}} s LEFT JOIN {{generations}} g ON s.cluster = g.cluster
                    AND s.group_id = g.group_id
                    AND {_BEGIN}
                        BETWEEN s.started_at AND s.ended_at
                WHERE NOT s.is_known
                GROUP BY ALL
            ) WHERE found < rebalance_count OR NOT (has_first AND has_last)""",
    ),
    Law(
        "storms_apart",
        "rebalance_storms",
        "storms of one group do not overlap: they would be one",
        """SELECT * FROM (
                SELECT cluster, group_id, started_at, ended_at,
                    lead(started_at) OVER (PARTITION BY cluster, group_id ORDER BY started_at) AS next_at
                FROM {rebalance_storms}
            ) WHERE next_at <= ended_at""",
    ),
    Law(
        "burst_of_generation",
        "illegal_generation_bursts",
        "the change that a burst was fenced by is a generation of its group",
        """SELECT cluster, group_id, error, started_at, fenced_by_life, fenced_by_generation
            FROM {illegal_generation_bursts} b
            WHERE fenced_by_generation IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM {generations} g WHERE g.cluster = b.cluster AND g.group_id = b.group_id
                    AND g.life = b.fenced_by_life AND g.generation = b.fenced_by_generation)""",
    ),
    Law(
        "gap_of_assignment",
        "commit_gaps",
        "a partition that misses commits was assigned to the owner that is named",
        f"""SELECT {GENERATION}, topic, partition, member_id FROM {{commit_gaps}}
            LEFT ANTI JOIN {{assignments}} USING ({GENERATION}, topic, partition, member_id)""",
    ),
    Law(
        "rewind_moves",
        "offset_rewinds",
        "a rewind goes back, a jump goes forward, and what is deleted is gone",
        """SELECT cluster, topic_partition_of_record, record_offset, group_id, kind, from_offset, to_offset
            FROM {offset_rewinds}
            WHERE NOT coalesce(CASE kind WHEN 'rewind' THEN to_offset < from_offset
                WHEN 'jump' THEN to_offset > from_offset WHEN 'deleted' THEN to_offset IS NULL END, false)""",
    ),
)
