"""Who moved a committed offset back, far forward, or away.

Records do not say who committed. The request log does, by the request that was handled when the record was written;
else the assignment does: a partition is committed by its owner. A group without members takes commits of generation -1
alone: somebody resets its offsets. A group that never has any is read by consumers with assign(), whose business it is.
"""

from __future__ import annotations

from msgspec import Struct

from schemas.rows import AssignmentRow, OffsetRewindRow
from transforms.findings.evidence import Evidence, Request, began_at, first_known

COMMITS = ("OffsetCommit", "TxnOffsetCommit")
DELETIONS = ("OffsetDelete", "DeleteGroups")

SLACK_MS = 100
"""A record's time is the coordinator's clock at the append; a request's is computed from when it was logged."""

DELETED_WITHIN_MS = 5_000
"""Tombstones follow the request that deletes within this time."""


class Step(Struct, kw_only=True):
    """A commit, or tombstone, and the commit of the partition before it.

    Attributes:
        topic_partition_of_record: partition of `__consumer_offsets` that holds the record.
        record_offset: its offset there.
        topic: of the partition that is committed.
        partition: of that topic.
        at: time of the record.
        from_at: time of the commit before.
        from_offset: what that committed.
        to_offset: what this one commits; null = it is a tombstone.
        kind: one of `schemas.words.OFFSET_STEPS`.
        is_aborted: the commit before was part of a transaction that was aborted.
        has_generations: the group has members at some time.
    """

    topic_partition_of_record: int
    record_offset: int
    topic: str
    partition: int
    at: float
    from_offset: int
    kind: str
    from_at: float | None = None
    to_offset: int | None = None
    is_aborted: bool = False
    has_generations: bool = False


def rewind_row(evidence: Evidence, step: Step, retention_ms: int) -> OffsetRewindRow:
    """Judge one step.

    Args:
        evidence: of the time from the commit before to this one: generations, the partition's assignments, and the
            commits and deletions that were taken.
        step: the step.
        retention_ms: after how long without a commit offsets expire.
    """
    owner = _owner(evidence, step)
    request = _request(evidence, step, owner)
    origin = _origin(evidence, step, owner, request, retention_ms)
    row = OffsetRewindRow(
        cluster=evidence.cluster,
        topic_partition_of_record=step.topic_partition_of_record,
        record_offset=step.record_offset,
        group_id=evidence.group_id,
        topic=step.topic,
        partition=step.partition,
        at=step.at,
        from_offset=step.from_offset,
        to_offset=step.to_offset,
        kind=step.kind,
        origin=origin,
        is_at_rebalance=_is_at_rebalance(evidence, step),
    )
    if request is not None:
        row.member_id, row.client_id, row.generation = request.member_id or None, request.client_id, request.generation
    elif owner is not None and origin in ("member", "transaction_aborted"):
        row.member_id, row.client_id, row.generation = owner.member_id, owner.client_id, owner.generation
    return row


def _owner(evidence: Evidence, step: Step) -> AssignmentRow | None:
    """The member that owned the partition then."""
    owners = [
        row
        for row in evidence.assignments
        if row.valid_from is not None
        and row.valid_from - SLACK_MS <= step.at
        and (row.valid_to is None or step.at <= row.valid_to + SLACK_MS)
    ]
    return max(owners, key=lambda row: row.valid_from or 0.0, default=None)


def _request(evidence: Evidence, step: Step, owner: AssignmentRow | None) -> Request | None:
    """The request that made the record: the owner's, if several were under way; none, if that does not tell either."""
    apis, slack = (COMMITS, SLACK_MS) if step.to_offset is not None else (DELETIONS, DELETED_WITHIN_MS)
    under_way = [
        request
        for request in evidence.requests
        if request.api in apis
        and request.error == "NONE"
        and (request.handled_at or request.answered_at) - SLACK_MS <= step.at <= request.answered_at + slack
    ]
    if len(under_way) < 2:
        return under_way[0] if under_way else None
    own = [request for request in under_way if owner is not None and request.member_id == owner.member_id]
    senders = {(request.member_id, request.client_id) for request in own or under_way}
    return (own or under_way)[0] if len(senders) == 1 else None


def _origin(
    evidence: Evidence, step: Step, owner: AssignmentRow | None, request: Request | None, retention_ms: int
) -> str:
    if step.to_offset is None:
        if request is not None:
            return "admin"
        has_expired = step.from_at is not None and step.at - step.from_at >= retention_ms
        return "expired" if has_expired else "unknown"
    if step.is_aborted:
        return "transaction_aborted"
    if request is not None:
        if request.member_id or (request.generation is not None and request.generation >= 0):
            return "member"
        return "admin" if step.has_generations else "unknown"
    if owner is not None:
        return "member"
    return "admin" if _is_empty(evidence, step) else "unknown"


def _is_empty(evidence: Evidence, step: Step) -> bool:
    """Whether the group had no members then."""
    known = [row for row in evidence.generations if (began_at(row) or 0.0) <= step.at]
    last = max(known, key=lambda row: (row.life, row.generation), default=None)
    return last is not None and last.outcome == "empty" and (last.ended_at is None or step.at <= last.ended_at)


def _is_at_rebalance(evidence: Evidence, step: Step) -> bool | None:
    """Whether a rebalance began since the commit before; null where nothing is known of the group's rebalances."""
    if not step.has_generations:
        return None
    since = first_known(step.from_at, step.at)
    begun = (began_at(row) for row in evidence.generations)
    return any(at is not None and (since or 0.0) < at <= step.at for at in begun)
