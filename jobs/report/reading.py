"""The one reader of the report: what it asks of gold, and the answers as plain values.

It reads through Spark, as all jobs do. A reader without it would start sooner, but would have to know partitions,
deletion vectors and the credentials of every object store by itself, and the sums over a lake of many groups are
Spark's work in any case.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame

from jobs.lake.lake import Lake
from schemas.table import TableSpec
from schemas.tables.gold import (
    ASSIGNMENTS,
    AUDIT_COUNTS,
    COMMIT_GAPS,
    COORDINATORS,
    GENERATIONS,
    ILLEGAL_GENERATION_BURSTS,
    MEMBER_SESSIONS,
    OFFSET_REWINDS,
    ORPHANED_PARTITIONS,
    REBALANCE_STORMS,
    RECONCILIATIONS,
    REPLAY_AUDIT,
    SHARE_PARTITIONS,
    SLOW_REVOKERS,
    TRANSITIONS,
)
from schemas.tables.silver import REJECTED
from transforms.gold.report import answer, digests, extent, joined, lines, of_groups, quality, refused_requests
from transforms.report.fleet import bin_width_ms
from transforms.report.rows import GroupRows

MOST = {
    "generations": 1_000,
    "transitions": 4_000,
    "assignments": 4_000,
    "member_sessions": 1_000,
    "reconciliations": 2_000,
    "orphaned_partitions": 500,
    "share_partitions": 2_000,
    "refused_requests": 500,
    "offset_rewinds": 300,
    "commit_gaps": 300,
    "coordinators": 100,
    "rebalance_storms": 200,
    "illegal_generation_bursts": 200,
    "slow_revokers": 200,
    "audit_counts": 5_000,
}
"""Rows of one group that its page can show: the newest, by table."""

ROWS_AT_ONCE = 200_000
"""Rows that the driver holds at a time."""

MOST_FINDINGS = 2_000
"""Findings of one kind that the first pages know of, the worst."""

_SHOWN = (
    GENERATIONS,
    TRANSITIONS,
    ASSIGNMENTS,
    MEMBER_SESSIONS,
    RECONCILIATIONS,
    ORPHANED_PARTITIONS,
    SHARE_PARTITIONS,
    OFFSET_REWINDS,
    COMMIT_GAPS,
    COORDINATORS,
    REBALANCE_STORMS,
    ILLEGAL_GENERATION_BURSTS,
    SLOW_REVOKERS,
    AUDIT_COUNTS,
)

READ: tuple[TableSpec, ...] = (*_SHOWN, REPLAY_AUDIT, REJECTED)
"""Tables that the report is made of."""


@dataclass(frozen=True)
class Standing:
    """What there is to tell of.

    Attributes:
        digests: for each group a text that changes with its rows.
        row_counts: for each group how many rows it has, by table.
        since: first moment of the data, epoch ms; None without data.
        until: last one.
    """

    digests: Mapping[str, str]
    row_counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    since: float | None = None
    until: float | None = None


class GoldReader:
    """What the report asks of one cluster's tables.

    Args:
        lake: the tables.
    """

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._tables = {spec.name: lake.read(spec) for spec in _SHOWN}
        self._audit = lake.read(REPLAY_AUDIT)
        self._tables["refused_requests"] = refused_requests(self._audit)

    def standing(self) -> Standing:
        """Ask which groups there are, and what their rows come to; one pass over the columns that are shown."""
        whole = extent(self._tables["generations"], self._tables["transitions"], self._audit)
        found = _answers(joined([digests(self._tables), whole]))
        parts: dict[str, list[str]] = defaultdict(list)
        counts: dict[str, dict[str, int]] = defaultdict(dict)
        for row in found["digest"]:
            parts[row["group_id"]].append(f"{row['table']}:{row['row_count']}:{row['digest']:x}")
            counts[row["group_id"]][row["table"]] = row["row_count"]
        of_group = {
            group_id: hashlib.blake2b(" ".join(sorted(texts)).encode(), digest_size=16).hexdigest()
            for group_id, texts in parts.items()
        }
        return Standing(of_group, counts, **found["extent"][0])

    def groups(self, group_ids: Sequence[str], standing: Standing) -> Iterator[GroupRows]:
        """Read the rows of groups, some groups at a time."""
        for some in _batches(group_ids, standing):
            wanted = None if len(some) == len(standing.digests) else some
            tables: dict[str, dict[str, list[Any]]] = {group_id: defaultdict(list) for group_id in some}
            for name, rows in _answers(of_groups(self._tables, wanted, MOST)).items():
                for row in rows:
                    tables[row["group_id"]][name].append(row)
            for group_id, of_group in tables.items():
                yield GroupRows(self._lake.cluster, group_id, of_group, standing.row_counts[group_id])

    def overview(self, standing: Standing) -> tuple[dict[str, list[dict[str, Any]]], int]:
        """Ask what the pages about all groups show.

        Returns:
            Rows by kind, as `transforms.gold.report` describes them, the findings among them, and the width of a column
            of the heat map.
        """
        width_ms = bin_width_ms(standing.since or 0, standing.until or 0)
        generations = self._tables["generations"]
        worst = {
            "rebalance_storms": "unstable_ms",
            "illegal_generation_bursts": "error_count",
            "slow_revokers": "held_up_ms",
        }
        found = [
            answer(name, self._tables[name].orderBy(by, ascending=False).limit(MOST_FINDINGS))
            for name, by in worst.items()
        ]
        asked = joined(
            [
                lines(generations, self._tables["transitions"], width_ms),
                quality(
                    generations, self._tables["audit_counts"], self._tables["coordinators"], self._lake.read(REJECTED)
                ),
                *found,
            ]
        )
        return _answers(asked), width_ms


def _batches(group_ids: Sequence[str], standing: Standing) -> Iterator[list[str]]:
    """Part groups so that the driver holds no more rows than it should, whatever their sizes."""
    some: list[str] = []
    held = 0
    for group_id in group_ids:
        rows = sum(min(count, MOST[name]) for name, count in standing.row_counts[group_id].items())
        if some and held + rows > ROWS_AT_ONCE:
            yield some
            some, held = [], 0
        some.append(group_id)
        held += rows
    if some:
        yield some


def _answers(asked: DataFrame) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for kind, body in asked.collect():
        found[kind].append(json.loads(body))
    return found
