"""What findings are held against: of the timelines, the rows that they name or lie among, and no others."""

from __future__ import annotations

from pyspark.sql import DataFrame

from schemas.spark import struct_type
from schemas.tables.gold import ASSIGNMENTS, GENERATIONS
from transforms.gold.rebalances import BEGUN_AT
from transforms.gold.timelines.looking_back import IS_KNOWN
from transforms.question import Question
from transforms.sql import truth

_KEY_OF_ASSIGNMENT = "cluster, group_id, life, generation, member_id, topic, partition"


def generations(near: DataFrame, storms: DataFrame, bursts: DataFrame) -> Question:
    """Ask for the generations since the first new storm of their group, and those that its bursts were fenced by.

    Args:
        near: generations, those of the findings' groups at least.
        storms: what was found, and what was known, if it says so (`looking_back.IS_KNOWN`).
        bursts: what was found.
    """
    is_new = f"NOT {IS_KNOWN}" if IS_KNOWN in storms.columns else truth(True)
    columns = ", ".join(f"near.{name}" for name in GENERATIONS.columns)
    statement = f"""
        SELECT {columns} FROM {{near}} near LEFT JOIN (
            SELECT cluster, group_id, min(started_at) AS since FROM {{storms}} WHERE {is_new} GROUP BY cluster, group_id
        ) first ON near.cluster = first.cluster AND near.group_id = first.group_id
        LEFT JOIN (
            SELECT DISTINCT cluster, group_id, fenced_by_life, fenced_by_generation FROM {{bursts}}
        ) fence ON near.cluster = fence.cluster AND near.group_id = fence.group_id
            AND near.life = fence.fenced_by_life AND near.generation = fence.fenced_by_generation
        WHERE {BEGUN_AT} >= since OR fenced_by_generation IS NOT NULL"""
    beside = {"near": near, "storms": storms, "bursts": bursts}
    return Question(statement, (), struct_type(GENERATIONS).toNullable(), beside)


def assignments(near: DataFrame, gaps: DataFrame) -> Question:
    """Ask for the assignments that gaps of commits are of.

    Args:
        near: assignments, those of the findings' groups at least.
        gaps: what was found.
    """
    columns = ", ".join(ASSIGNMENTS.columns)
    statement = f"SELECT {columns} FROM {{near}} LEFT SEMI JOIN {{gaps}} USING ({_KEY_OF_ASSIGNMENT})"
    return Question(statement, (), struct_type(ASSIGNMENTS).toNullable(), {"near": near, "gaps": gaps})
