"""How generations follow each other, how they come out, and who is in them."""

from __future__ import annotations

from schemas.tables.gold import BEGINS
from transforms.quality.laws.law import CLOCK, GENERATION, LIFE, Law

_BEGIN = f"coalesce({', '.join(BEGINS)})"

_NEIGHBOURS = f"""
    SELECT {GENERATION}, trigger, missing_before, preparing_at, ended_at, {_BEGIN} AS begin_at, is_known,
        lag(life) OVER group AS life_before, lag(generation) OVER group AS generation_before,
        lag({_BEGIN}) OVER group AS begin_before, lag(ended_at) OVER group AS ended_before
    FROM {{generations}} WHERE group_type = 'classic'
    WINDOW group AS (PARTITION BY cluster, group_id ORDER BY life, generation)
"""

_NEWLY = f"SELECT * FROM ({_NEIGHBOURS}) WHERE NOT is_known"
"""Generations that no batch before had, each beside the one before."""

_MEMBERS = f"""
    SELECT g.{GENERATION.replace(", ", ", g.")}, g.is_known, g.outcome, g.member_count, g.leader_member_id,
        g.joined_member_ids, g.departed_member_ids, m.everyone, m.founding, m.leaders,
        array_except(m.everyone, m.replaced) AS final
    FROM {{generations}} g LEFT JOIN (
        SELECT {GENERATION}, array_sort(collect_list(member_id)) AS everyone,
            coalesce(array_sort(collect_list(IF(replaces_member_id IS NULL, member_id, NULL))), array()) AS founding,
            coalesce(collect_set(replaces_member_id), array()) AS replaced,
            collect_list(member_id) FILTER (WHERE is_leader) AS leaders
        FROM {{generation_members}} WHERE group_type = 'classic' GROUP BY {GENERATION}
    ) m USING ({GENERATION})
    WHERE g.group_type = 'classic'
"""
"""Each generation beside those that were in it when its join phase ended, and at its end."""

LAWS = (
    Law(
        "generation_steps",
        "generations",
        "within a life generations go up, and those that no evidence shows are counted",
        f"""SELECT * FROM ({_NEWLY}) WHERE life = life_before
                AND generation - generation_before - 1 <> missing_before
            UNION ALL
            SELECT * FROM ({_NEWLY}) WHERE life IS DISTINCT FROM life_before
                AND missing_before <> IF(trigger IN ('coordinator_failover', 'converted'), 0, generation - 1)""",
        needs_whole_evidence=True,
    ),
    Law(
        "lives_in_order",
        "generations",
        "lives of a group are numbered from 1 without a hole",
        f"""SELECT * FROM (
                SELECT {LIFE}, bool_or(is_known) AS is_known, lag(life) OVER (
                    PARTITION BY cluster, group_id ORDER BY life) AS life_before
                FROM {{generations}} GROUP BY {LIFE}
            ) WHERE NOT is_known AND life - coalesce(life_before, 0) <> 1""",
        needs_whole_evidence=True,
    ),
    Law(
        "generations_in_time",
        "generations",
        "a generation begins when the one before is over: neither earlier nor, where none is missing, later",
        f"""SELECT * FROM ({_NEWLY}) WHERE begin_at < begin_before - {CLOCK}
                OR preparing_at < ended_before - {CLOCK}
                OR (life = life_before AND missing_before = 0 AND preparing_at <> ended_before)""",
        needs_whole_evidence=True,
    ),
    Law(
        "outcome_fits",
        "generations",
        "a generation that came out stable has been so at a moment; one of a classic group that came out empty has no "
        "members, while a consumer group may have one whose regular expression is not resolved yet",
        f"""SELECT {GENERATION}, group_type, outcome, stable_at, emptied_at, member_count FROM {{generations}}
            WHERE (outcome <=> 'stable') <> (stable_at IS NOT NULL)
                OR (outcome <=> 'empty') <> (emptied_at IS NOT NULL)
                OR (outcome = 'empty' AND group_type = 'classic' AND member_count > 0)""",
    ),
    Law(
        "rebalance_measured",
        "generations",
        "rebalance_ms is the time from preparing_at to stable_at or emptied_at",
        f"""SELECT {GENERATION}, preparing_at, stable_at, emptied_at, rebalance_ms FROM {{generations}}
            WHERE group_type = 'classic' AND NOT rebalance_ms <=>
                unix_millis(coalesce(stable_at, emptied_at)) - unix_millis(preparing_at)""",
    ),
    Law(
        "members_counted",
        "generations",
        "a generation has as many members as it says",
        f"""SELECT {GENERATION}, outcome, member_count, founding FROM ({_MEMBERS})
            WHERE (outcome = 'empty' AND everyone IS NOT NULL)
                OR (NOT outcome <=> 'empty' AND founding IS NOT NULL AND NOT member_count <=> size(founding))""",
        needs_whole_evidence=True,
    ),
    Law(
        "members_of_joins_and_leaves",
        "generations",
        "the members of a generation are those of the last stable one, and who joined, less who left",
        f"""SELECT * FROM (
                SELECT *, coalesce(
                    last_value(IF(outcome = 'stable', final, NULL)) IGNORE NULLS OVER earlier, array()) AS before
                FROM ({_MEMBERS})
                WINDOW earlier AS (PARTITION BY {LIFE} ORDER BY generation
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            ) WHERE NOT is_known AND (everyone IS NOT NULL OR outcome = 'empty')
                AND (NOT array_sort(joined_member_ids) IN (
                        array_sort(array_except(coalesce(founding, array()), before)),
                        array_sort(array_except(coalesce(final, array()), before)))
                    OR NOT array_sort(departed_member_ids) IN (
                        array_sort(array_except(before, coalesce(founding, array()))),
                        array_sort(array_except(before, coalesce(final, array())))))""",
        needs_whole_evidence=True,
    ),
    Law(
        "leader_is_member",
        "generations",
        "who leads a generation is one of its members, and marked so",
        f"""SELECT {GENERATION}, leader_member_id, leaders FROM ({_MEMBERS})
            WHERE everyone IS NOT NULL AND NOT coalesce(array_contains(leaders, leader_member_id), false)""",
        needs_whole_evidence=True,
    ),
    Law(
        "partitions_counted",
        "generation_members",
        "a member of a stable generation has as many partitions as it is said to have been assigned",
        f"""SELECT m.{GENERATION.replace(", ", ", m.")}, m.member_id, m.partitions_assigned, coalesce(n, 0) AS found
            FROM {{generation_members}} m
            JOIN (SELECT {GENERATION} FROM {{generations}} WHERE outcome = 'stable' AND group_type = 'classic')
                USING ({GENERATION})
            LEFT JOIN (
                SELECT {GENERATION}, member_id, count(*) AS n FROM {{assignments}} GROUP BY {GENERATION}, member_id
            ) USING ({GENERATION}, member_id)
            WHERE m.partitions_assigned <> coalesce(n, 0)""",
    ),
)
