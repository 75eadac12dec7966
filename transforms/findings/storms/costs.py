"""What a storm cost: time without a stable assignment, partitions without an owner, partitions moved for nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from schemas.rows import AssignmentRow, GenerationRow
from transforms.findings.evidence import Evidence, first_known
from transforms.findings.stays import Client

COMMITS = ("OffsetCommit", "TxnOffsetCommit")

COMMIT_REFUSALS = (
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR",
    "ILLEGAL_GENERATION",
    "UNKNOWN_MEMBER_ID",
    "REBALANCE_IN_PROGRESS",
    "FENCED_INSTANCE_ID",
    "FENCED_MEMBER_EPOCH",
    "STALE_MEMBER_EPOCH",
)
"""Errors by which a coordinator refuses a commit as a whole, and not some partition in it."""

Partition = tuple[str, int]


def unstable_intervals(generations: list[GenerationRow], next_at: float | None) -> list[tuple[float, float]]:
    """Return from when to when the group had no stable assignment, for each rebalance whose start is known.

    An abandoned rebalance lasts until the next one, or to the end of the group. Where the end lies behind the data only
    the part up to `completing_at` counts. Records carry the time of the append, lines that of the logger, so that an
    end can seem to lie before its beginning: that counts 0.
    """
    starts = [first_known(g.preparing_at, g.completing_at, g.stable_at, g.emptied_at) for g in generations]
    found = []
    for row, following in zip(generations, [*starts[1:], next_at], strict=True):
        if row.preparing_at is None:
            continue
        left = [moment for moment in (row.ended_at, following) if moment is not None]
        end = first_known(row.stable_at, row.emptied_at, min(left, default=None), row.completing_at, row.preparing_at)
        found.append((row.preparing_at, max(row.preparing_at, end or row.preparing_at)))
    return found


def length_of_union(intervals: list[tuple[float, float]]) -> float:
    """Return the length that intervals cover together."""
    total, covered = 0.0, float("-inf")
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, covered))
        covered = max(covered, end)
    return total


def unowned_ms(evidence: Evidence, since: float, until: float) -> int | None:
    """Sum up for how long partitions had no owner between two moments; a partition counts once it had one.

    Members of a cooperative protocol keep what they keep: there only what changes hands is without an owner.
    """
    cooperative = {(row.life, row.generation) for row in evidence.generations if "cooperative" in (row.protocol or "")}
    held: dict[Partition, list[AssignmentRow]] = defaultdict(list)
    for row in evidence.assignments:
        if row.valid_from is not None:
            held[row.topic, row.partition].append(row)
    if not held:
        return None
    total = 0.0
    for rows in held.values():
        rows.sort(key=lambda row: row.valid_from or 0.0)
        for row, following in zip(rows, [*rows[1:], None], strict=True):
            if row.valid_to is None or (following is not None and _keeps(row, following, cooperative)):
                continue
            end = until if following is None else following.valid_from or until
            total += max(0.0, min(end, until) - max(row.valid_to, since))
    return round(total)


def _keeps(row: AssignmentRow, following: AssignmentRow, cooperative: set[tuple[int, int]]) -> bool:
    is_cooperative = (following.life, following.generation) in cooperative
    return is_cooperative and row.member_id == following.member_id


def partitions_moved(evidence: Evidence) -> int | None:
    """Sum up the partitions that changed hands; null where that is known of no generation."""
    counts = [row.partitions_moved for row in evidence.generations if row.partitions_moved is not None]
    return sum(counts) if counts else None


def partitions_moved_back(evidence: Evidence) -> int | None:
    """Count the moves of a partition to a client that had owned it before, since the storm began."""
    if not evidence.assignments:
        return None
    return sum(1 for _ in _moves_back(evidence.assignments))


def _moves_back(assignments: list[AssignmentRow]) -> Iterator[AssignmentRow]:
    owners: dict[Partition, list[tuple[str | None, ...]]] = defaultdict(list)
    for row in sorted(assignments, key=lambda row: (row.life, row.generation, row.valid_from or 0.0)):
        client = Client(row.client_id, row.client_host, row.group_instance_id).key
        earlier = owners[row.topic, row.partition]
        if earlier and earlier[-1] != client:
            if client in earlier:
                yield row
            earlier.append(client)
        elif not earlier:
            earlier.append(client)


def refused_commit_count(evidence: Evidence, since: float, until: float) -> int | None:
    """Count the commits that were refused between two moments; null without a request log."""
    if not evidence.has_request_log():
        return None
    return sum(
        request.api in COMMITS and request.error in COMMIT_REFUSALS and since <= request.answered_at <= until
        for request in evidence.requests
    )
