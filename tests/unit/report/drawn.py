"""Rows of gold as a test needs them: what it does not name is not known."""

from __future__ import annotations

from typing import Any

from schemas.tables.gold import (
    ASSIGNMENTS,
    GENERATIONS,
    ILLEGAL_GENERATION_BURSTS,
    MEMBER_SESSIONS,
    ORPHANED_PARTITIONS,
    REBALANCE_STORMS,
    RECONCILIATIONS,
    SHARE_PARTITIONS,
    TRANSITIONS,
)
from transforms.report.rows import GroupRows

GROUP = {"cluster": "c", "group_id": "g", "life": 1}


def group(group_id: str = "g", counts: dict[str, int] | None = None, **tables: list[dict[str, Any]]) -> GroupRows:
    return GroupRows("c", group_id, tables, counts or {})


def generation(number: int, at: float | None, trigger: str = "member_joined", **more: Any) -> dict[str, Any]:
    known = {"generation": number, "preparing_at": at, "trigger": trigger, "is_inferred": False, "missing_before": 0}
    return dict.fromkeys(GENERATIONS.columns) | GROUP | known | {"evidence": ["offsets"]} | more


def step(seq: int, at: float | None, state: str, **more: Any) -> dict[str, Any]:
    known = {"seq": seq, "at": at, "to_state": state, "event": "join", "source": "broker_log", "is_inferred": False}
    return dict.fromkeys(TRANSITIONS.columns) | GROUP | known | {"generation": 1} | more


def stay(member_id: str, begin: float, end: float | None = None, **more: Any) -> dict[str, Any]:
    known = {"member_id": member_id, "joined_at": begin, "ended_at": end, "end_cause": "left" if end else None}
    return dict.fromkeys(MEMBER_SESSIONS.columns) | GROUP | known | more


def owned(partition: int, member_id: str, begin: float, end: float | None = None, **more: Any) -> dict[str, Any]:
    known = {"topic": "t", "partition": partition, "member_id": member_id, "valid_from": begin, "valid_to": end}
    return dict.fromkeys(ASSIGNMENTS.columns) | GROUP | {"generation": 1} | known | more


def wait(member_id: str, state: str, begin: float, end: float | None = None, **more: Any) -> dict[str, Any]:
    known = {"member_id": member_id, "state": state, "from_at": begin, "to_at": end, "from_epoch": 3}
    told = {"partitions": ["t-0", "t-1"], "waits_for_member_ids": []}
    return dict.fromkeys(RECONCILIATIONS.columns) | GROUP | known | told | more


def orphan(partition: int, member_id: str, begin: float, end: float | None = None, **more: Any) -> dict[str, Any]:
    known = {"topic": "t", "partition": partition, "member_id": member_id, "from_at": begin, "to_at": end}
    return dict.fromkeys(ORPHANED_PARTITIONS.columns) | GROUP | {"generation": 3} | known | more


def shared(partition: int, state: str, begin: float, end: float | None = None) -> dict[str, Any]:
    known = {"topic": "t", "partition": partition, "state": state, "from_at": begin, "to_at": end}
    return dict.fromkeys(SHARE_PARTITIONS.columns) | GROUP | known


def storm(begin: float, end: float, **more: Any) -> dict[str, Any]:
    known = {
        "started_at": begin,
        "ended_at": end,
        "rebalance_count": 7,
        "main_trigger": "member_left",
        "pattern": "flapping_member",
        "pattern_share": 0.9,
        "is_open": False,
        "severity": "warning",
        "advice": "Mend it; the price: it takes time.",
        "evidence": ["offsets"],
    }
    return dict.fromkeys(REBALANCE_STORMS.columns) | GROUP | known | more


def burst(begin: float, end: float, **more: Any) -> dict[str, Any]:
    known = {
        "started_at": begin,
        "ended_at": end,
        "error": "ILLEGAL_GENERATION",
        "error_count": 9,
        "lost_commit_count": 0,
        "is_open": False,
        "suspected_cause": "zombie",
        "advice": "Stop it.",
        "evidence": "request_log",
    }
    return dict.fromkeys(ILLEGAL_GENERATION_BURSTS.columns) | GROUP | known | more
