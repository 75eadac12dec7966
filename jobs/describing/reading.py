"""Reads where the epochs of a group stood at a moment, and who keeps its offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.lake.rows import collected, typed
from schemas.rows import AssignmentRow, GenerationMemberRow, GenerationRow, OrphanedPartitionRow, ReconciliationRow
from schemas.table import TableSpec
from schemas.tables.gold import (
    ASSIGNMENTS,
    GENERATION_MEMBERS,
    GENERATIONS,
    MEMBER_SESSIONS,
    ORPHANED_PARTITIONS,
    RECONCILIATIONS,
)
from schemas.tables.silver import GROUP_REQUESTS, MODERN_GROUP_RECORDS, OFFSET_COMMITS, TOPIC_NAMES
from transforms.findings.description.epochs import Rows, epochs_at, members_at
from transforms.findings.description.standing import Orphan, Part, Standing
from transforms.findings.description.stored import TARGETS, TOLD_BY, share_partitions, targets, topology
from transforms.findings.evidence import Commit, Request
from transforms.findings.offsets.keeping import OffsetUse, use_of
from transforms.gold.epochs_as_of import (
    assignments_at,
    generations_at,
    members_of,
    orphans_at,
    reconciliations_at,
    stored_at,
    targets_at,
)
from transforms.gold.offset_use import commits_until, empty_until, owners_until, requests_until

_WITHOUT_EPOCHS = (None, "classic")
_WITHOUT_COMMITS = "share"
"""Groups of this type keep their offsets with the brokers that share the partitions out, in a topic of their own."""


@dataclass(frozen=True)
class Asked:
    """What is asked for.

    Attributes:
        read: gives the rows of a table.
        group_id: the group.
        at: the moment.
        at_ms: the same (epoch ms); infinite = the end of the data.
    """

    read: Callable[[TableSpec], DataFrame]
    group_id: str
    at: Column
    at_ms: float


def standing_of(asked: Asked, state: Mapping[str, Any], members: Sequence[Mapping[str, Any]]) -> Standing | None:
    """Return where a group of epochs stood; None if it is a classic one, or no epoch of it is known.

    Args:
        asked: what is asked for.
        state: as `transforms.gold.as_of.state_at` has it.
        members: as `members_at` has them.
    """
    if state.get("group_type") in _WITHOUT_EPOCHS:
        return None
    read, whose = asked.read, (asked.group_id, state["life"])
    epochs = epochs_at(typed(generations_at(read(GENERATIONS), *whose, asked.at), GenerationRow), asked.at_ms)
    if epochs is None:
        return None
    newest = epochs.assignment_epoch
    rows = Rows(
        members=typed(members_of(read(GENERATION_MEMBERS), *whose, epochs.told_of), GenerationMemberRow),
        assignments=typed(assignments_at(read(ASSIGNMENTS), *whose, newest, asked.at), AssignmentRow),
        reconciliations=typed(reconciliations_at(read(RECONCILIATIONS), *whose, newest, asked.at), ReconciliationRow),
        targets=_targets(asked, state["group_type"]),
    )
    told = members_at(rows, epochs, [member["member_id"] for member in members], asked.at_ms)
    left = typed(orphans_at(read(ORPHANED_PARTITIONS), *whose, asked.at), OrphanedPartitionRow)
    role = "active" if state["group_type"] == "streams" else ""
    orphans = (Orphan(row.from_at, row.member_id, Part(row.topic, row.partition, role)) for row in left)
    bodies = _stored(asked, state["group_type"])
    return Standing(epochs, told, tuple(sorted(orphans)), share_partitions(bodies), topology(bodies))


def _stored(asked: Asked, group_type: str) -> dict[int, str | None]:
    """Return what the newest records of a group said that gold has not."""
    types = TOLD_BY.get(group_type)
    if types is None:
        return {}
    rows = collected(stored_at(asked.read(MODERN_GROUP_RECORDS), asked.group_id, types, asked.at))
    return {row["record_type"]: row["body"] for row in rows}


def _targets(asked: Asked, group_type: str) -> dict[str, tuple[Part, ...]]:
    """Return what members are to have, by the newest record of each."""
    record_type = TARGETS.get(group_type)
    if record_type is None:
        return {}
    rows = collected(targets_at(asked.read(MODERN_GROUP_RECORDS), asked.group_id, record_type, asked.at))
    names = collected(asked.read(TOPIC_NAMES).select("topic_id", "topic")) if group_type != "streams" else []
    return targets({row["member_id"]: row["body"] for row in rows}, {row["topic_id"]: row["topic"] for row in names})


def offset_use_of(asked: Asked, group_type: str | None) -> OffsetUse | None:
    """Return what is known of a group's commits; None if groups of its type commit none."""
    if group_type == _WITHOUT_COMMITS:
        return None
    read, group_id, at = asked.read, asked.group_id, asked.at
    assignments, generations = read(ASSIGNMENTS), read(GENERATIONS)
    requests = requests_until(read(GROUP_REQUESTS), group_id, at)
    sessions = read(MEMBER_SESSIONS).where(F.col("group_id") == group_id).select("client_id").distinct()
    return use_of(
        typed(owners_until(assignments, group_id, at), AssignmentRow),
        typed(empty_until(generations, group_id, at), GenerationRow),
        typed(commits_until(read(OFFSET_COMMITS), assignments, generations, group_id, at), Commit),
        _each(requests),
        [row["client_id"] for row in collected(sessions)],
    )


def _each(counted: DataFrame) -> Iterator[Request]:
    """Collect requests that are counted, and yield each as often as it was sent."""
    for row in collected(counted):
        count = row.pop("times")
        yield from repeat(msgspec.convert(row, Request, strict=False), count)
