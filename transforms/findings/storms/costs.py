"""What a storm cost: time without a stable assignment, partitions without an owner, partitions moved for nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import fsum
from operator import attrgetter

from schemas.rows import GenerationRow
from transforms.findings.clients import Key, key_of
from transforms.findings.evidence import Evidence, dated_at, first_known
from transforms.holdings import Holding

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

Partition = str
"""As topic-partition."""

_VALID_FROM = attrgetter("valid_from")

_OWNING = (None, "active")
"""Roles in which a member owns a task of a streams group; in other groups there are none."""


def unstable_intervals(generations: list[GenerationRow], next_at: float | None) -> list[tuple[float, float]]:
    """Return from when to when the group had no stable assignment, for each rebalance whose start is known.

    An abandoned rebalance lasts until the next one, or to the end of the group. Where the end lies behind the data only
    the part up to `completing_at` counts. Records carry the time of the append, lines that of the logger, so that an
    end can seem to lie before its beginning: that counts 0.
    """
    starts = [dated_at(row) for row in generations]
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

    Members of a cooperative protocol keep what they keep: there only what changes hands is without an owner. In modern
    groups a partition has an owner until somebody has given it up, and in a share group as long as it has any.
    """
    if _types_held(evidence) - {"classic"}:
        return _without_any(evidence.holdings, since, until)
    cooperative = {(row.life, row.generation) for row in evidence.generations if "cooperative" in (row.protocol or "")}
    known = sorted((row for row in evidence.holdings if row.valid_from is not None), key=_VALID_FROM)
    # Exact, as partitions come in no order.
    return round(fsum(_gaps_ms(known, since, until, cooperative))) if known else None


def _gaps_ms(in_order: list[Holding], since: float, until: float, cooperative: set[tuple[int, int]]) -> Iterator[float]:
    """Yield for how long partitions had no owner, each time."""
    last: dict[Partition, Holding] = {}
    for row in in_order:
        before, gap_ms = None, 0.0
        for partition in row.partitions:
            if (had := last.get(partition)) is not before:  # of a member's partitions most were one other's
                before, gap_ms = had, 0.0 if had is None else _gap_ms(had, row, since, until, cooperative)
            yield gap_ms
            last[partition] = row
    for row in last.values():
        yield _gap_ms(row, None, since, until, cooperative)


def _gap_ms(
    row: Holding, following: Holding | None, since: float, until: float, cooperative: set[tuple[int, int]]
) -> float:
    """Return for how long a partition had no owner between two holdings, or after the last one."""
    if row.valid_to is None or (following is not None and _keeps(row, following, cooperative)):
        return 0.0
    end = until if following is None else following.valid_from or until
    return max(0.0, min(end, until) - max(row.valid_to, since))


def _types_held(evidence: Evidence) -> set[str]:
    """The types that the group had while somebody held something."""
    return {row.group_type for row in evidence.holdings}


def _without_any(holdings: list[Holding], since: float, until: float) -> int:
    held: dict[Partition, list[tuple[float, float]]] = defaultdict(list)
    for row in holdings:
        if row.valid_from is not None and row.role in _OWNING:
            span = (row.valid_from, until if row.valid_to is None else row.valid_to)
            for partition in row.partitions:
                held[partition].append(span)
    lengths = []
    for spans in held.values():
        begin = max(since, min(spans)[0])
        inside = [(max(begin, start), min(until, end)) for start, end in spans if end > begin and start < until]
        lengths.append(max(0.0, until - begin) - length_of_union(inside))
    return round(fsum(lengths))


def _keeps(row: Holding, following: Holding, cooperative: set[tuple[int, int]]) -> bool:
    is_cooperative = (following.life, following.generation) in cooperative
    return is_cooperative and row.member_id == following.member_id


def partitions_moved(evidence: Evidence) -> int | None:
    """Sum up the partitions that changed hands; null where that is known of no generation.

    In modern groups a target can be given up for the next before anybody got there: there it is what members held
    that counts, but in share groups, where a partition has several owners.
    """
    if _types_held(evidence) - {"classic", "share"}:
        return sum(1 for _ in _moves(evidence.holdings))
    counts = [row.partitions_moved for row in evidence.generations if row.partitions_moved is not None]
    return sum(counts) if counts else None


def partitions_moved_back(evidence: Evidence) -> int | None:
    """Count the moves of a partition to a client that had owned it before, since the storm began.

    In a share group, where a partition has several owners at once, nothing moves: null.
    """
    if not evidence.holdings or "share" in _types_held(evidence):
        return None
    return sum(_moves(evidence.holdings))


def _moves(holdings: list[Holding]) -> Iterator[bool]:
    """For each move of a partition, whether it came back to a client that had owned it before."""
    last: dict[Partition, Key] = {}
    earlier: dict[Partition, set[Key]] = defaultdict(set)
    owned = [row for row in holdings if row.hold == "owned" and row.role in _OWNING]
    for row in sorted(owned, key=_in_turn):
        client = key_of(row.client_id, row.client_host, row.group_instance_id)
        for partition in row.partitions:
            if (owner := last.get(partition)) == client:
                continue
            if owner is not None:
                yield client in earlier[partition]
            last[partition] = client
            earlier[partition].add(client)


def _in_turn(row: Holding) -> tuple[int, float, float]:
    """By generation; the epochs that members have are no order of what they do."""
    begun = row.valid_from or 0.0
    return (row.life, row.generation, begun) if row.group_type == "classic" else (row.life, begun, begun)


def refused_commit_count(evidence: Evidence, since: float, until: float) -> int | None:
    """Count the commits that were refused between two moments; null without a request log."""
    if not evidence.has_request_log():
        return None
    return sum(
        request.api in COMMITS and request.error in COMMIT_REFUSALS and since <= request.answered_at <= until
        for request in evidence.requests
    )
