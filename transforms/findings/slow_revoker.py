"""One member that held a rebalance up: what stood still meanwhile, who waited for it, and how it ended."""

from __future__ import annotations

from math import inf

from schemas.rows import ReconciliationRow, SlowRevokerRow
from schemas.words import AWAY, UNREVOKED
from transforms.findings.evidence import SLACK_MS, Evidence, dated_at
from transforms.findings.giving_up import how_to_give_up_sooner
from transforms.findings.sentences import counted, duration, listed, who


def slow_revoker_row(evidence: Evidence, which: tuple[int, int], held_up_ms: int) -> SlowRevokerRow:
    """Judge one stretch of time in which a member did not give up what was taken from it.

    Args:
        evidence: of the stretch; the members and sessions are those of its member, the reconciliations anybody's.
        which: life and seq of the reconciliation that it is.
        held_up_ms: how long it lasted, or has lasted where the data end.
    """
    held = next(row for row in evidence.reconciliations if (row.life, row.seq) == which)
    row = SlowRevokerRow(
        cluster=evidence.cluster,
        group_id=evidence.group_id,
        life=held.life,
        generation=_epoch_at(evidence, held),
        group_type=held.group_type,
        member_id=held.member_id,
        group_instance_id=held.group_instance_id,
        client_id=held.client_id,
        client_host=held.client_host,
        started_at=held.from_at or 0.0,
        ended_at=held.to_at,
        held_up_ms=held_up_ms,
        rebalance_timeout_ms=_timeout(evidence, held),
        partition_count=len(held.partitions or ()),
        partitions=held.partitions,
        waiting_member_ids=_waiting(evidence, held),
        end_cause=_end_cause(evidence, held),
        is_open=held.to_at is None,
        advice="",
    )
    row.advice = _advice(row)
    return row


def _epoch_at(evidence: Evidence, held: ReconciliationRow) -> int | None:
    """Return the epoch of the group when the member was to give something up."""
    since = (held.from_at or 0.0) + SLACK_MS
    begun = [r for r in evidence.generations if r.life == held.life and (at := dated_at(r)) is not None and at <= since]
    return max((row.generation for row in begun), default=None)


def _timeout(evidence: Evidence, held: ReconciliationRow) -> int | None:
    """Return the rebalance timeout that the member named last by then."""
    known = [row for row in evidence.members if row.rebalance_timeout_ms is not None]
    since = held.from_epoch if held.from_epoch is not None else -1
    before = [row for row in known if row.generation <= since]
    return max(before or known, key=lambda row: row.generation).rebalance_timeout_ms if known else None


def _waiting(evidence: Evidence, held: ReconciliationRow) -> list[str]:
    """Return who waited for the member meanwhile."""
    until = float("inf") if held.to_at is None else held.to_at
    others = (row for row in evidence.reconciliations if row.state not in (*UNREVOKED, AWAY) and row.life == held.life)
    return sorted(
        {
            row.member_id
            for row in others
            if held.member_id in (row.waits_for_member_ids or ())
            and (row.from_at or 0.0) < until
            and (row.to_at is None or row.to_at >= (held.from_at or 0.0))
        }
    )


def _end_cause(evidence: Evidence, held: ReconciliationRow) -> str | None:
    """Return how the membership ended that ended the wait; null where the member went on to another epoch, or waits."""
    if held.to_at is None or held.to_epoch is not None:
        return None
    over = ((stay, stay.ended_at) for stay in evidence.sessions if stay.ended_at is not None)
    ends = ((abs(ended_at - held.to_at), stay.life, stay.stay, stay.end_cause) for stay, ended_at in over)
    apart, *_, cause = min(ends, default=(inf, 0, 0, None))
    return cause if apart <= SLACK_MS else "unknown"


def _advice(row: SlowRevokerRow) -> str:
    what = counted(row.partition_count, "partition", "partitions") if row.group_type != "streams" else _tasks(row)
    named = listed(row.partitions or [])
    after = "has not given" if row.is_open else "gave" if row.end_cause is None else "never gave"
    lasted = {"has not given": "for", "gave": "after", "never gave": "in"}[after]
    said = (
        f"{who(row.client_id, row.client_host)} {after} {what} up ({named}) {lasted} {duration(row.held_up_ms)}, while "
        "they stood still"
    )
    said += f", and {counted(len(row.waiting_member_ids or ()), 'member', 'members')} waited for them"
    if row.end_cause == "rebalance_timeout":
        said += "; it was fenced for that"
    return f"{said}. {how_to_give_up_sooner(row.group_type, row.rebalance_timeout_ms)}"


def _tasks(row: SlowRevokerRow) -> str:
    return counted(row.partition_count, "task", "tasks")
