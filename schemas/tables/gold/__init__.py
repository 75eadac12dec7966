"""Gold: what happened to each group, what the replay is worth, and what was found."""

from __future__ import annotations

from schemas.tables.gold.audit import AUDIT_COUNTS, REPLAY_AUDIT
from schemas.tables.gold.findings import (
    COMMIT_GAPS,
    ILLEGAL_GENERATION_BURSTS,
    OFFSET_REWINDS,
    REBALANCE_STORMS,
    SLOW_REVOKERS,
    STANDING_COMMITS,
)
from schemas.tables.gold.health import GROUP_HEALTH
from schemas.tables.gold.known_findings import KNOWN_FINDINGS
from schemas.tables.gold.reconciling import ORPHANED_PARTITIONS, RECONCILIATIONS
from schemas.tables.gold.timelines import (
    ASSIGNMENTS,
    BEGINS,
    CLIENT_TIMELINE,
    COORDINATORS,
    GENERATION_MEMBERS,
    GENERATIONS,
    MEMBER_SESSIONS,
    REPLAY_SNAPSHOTS,
    TRANSITIONS,
)

__all__ = [
    "ASSIGNMENTS",
    "AUDIT_COUNTS",
    "BEGINS",
    "CLIENT_TIMELINE",
    "COMMIT_GAPS",
    "COORDINATORS",
    "FINDINGS",
    "GENERATIONS",
    "GENERATION_MEMBERS",
    "GROUP_HEALTH",
    "ILLEGAL_GENERATION_BURSTS",
    "KNOWN_FINDINGS",
    "MEMBER_SESSIONS",
    "OFFSET_REWINDS",
    "ORPHANED_PARTITIONS",
    "REBALANCE_STORMS",
    "RECONCILIATIONS",
    "REPLAYED",
    "REPLAY_AUDIT",
    "REPLAY_SNAPSHOTS",
    "SLOW_REVOKERS",
    "STANDING_COMMITS",
    "TABLES",
    "TRANSITIONS",
]

REPLAYED = (
    GENERATIONS,
    GENERATION_MEMBERS,
    ASSIGNMENTS,
    RECONCILIATIONS,
    ORPHANED_PARTITIONS,
    TRANSITIONS,
    MEMBER_SESSIONS,
    REPLAY_AUDIT,
    AUDIT_COUNTS,
    COORDINATORS,
    CLIENT_TIMELINE,
)
"""Tables that one replay of a group's evidence yields."""

FINDINGS = (REBALANCE_STORMS, ILLEGAL_GENERATION_BURSTS, OFFSET_REWINDS, COMMIT_GAPS, SLOW_REVOKERS)

TABLES = (*REPLAYED, REPLAY_SNAPSHOTS, *FINDINGS, STANDING_COMMITS, GROUP_HEALTH, KNOWN_FINDINGS)
