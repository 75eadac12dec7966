"""The door: the evidence of one burst in, its row out."""

from __future__ import annotations

from collections import Counter

from schemas.rows import IllegalGenerationBurstRow
from transforms.findings.bursts import price
from transforms.findings.bursts.advice import advice_for
from transforms.findings.bursts.causes import behind_counts, cause_of
from transforms.findings.bursts.course import Course
from transforms.findings.bursts.holders import Holders
from transforms.findings.bursts.limits import BurstLimits
from transforms.findings.bursts.senders import senders_of
from transforms.findings.evidence import Evidence


def burst_row(evidence: Evidence, limits: BurstLimits, source: str = "request_log") -> IllegalGenerationBurstRow:
    """Judge one burst.

    `current_generation` is the group's at the burst's first answer: the latest that had completed its join phase (or
    ended it without members) by then, over all lives. A request sent without a generation (null, below 0,
    or to join) has no part in `stale_generation_min`, `stale_generation_max` and `behind_count`.

    Args:
        evidence: of the burst; `refused` are its requests.
        limits: the thresholds that are set.
        source: what the refusals were seen in, one of `schemas.words.EVIDENCE`.
    """
    refused = evidence.refused
    course = Course(evidence.generations)
    senders = senders_of(evidence)
    error = refused[0].error
    first, last = refused[0].answered_at, refused[-1].answered_at
    sent = [held for r in refused if (held := r.held_generation) is not None]
    now, change = course.at(first), price.fenced_by(senders, course)
    holders = Holders(evidence)
    kept_out = (sender for sender in senders if sender.is_kept_out)
    awaited = [holder.due_at for holder in holders.of(kept_out) if holder.is_awaited]
    open_until = max([last + limits.of(error).gap_ms, *awaited])
    row = IllegalGenerationBurstRow(
        cluster=evidence.cluster,
        group_id=evidence.group_id,
        error=error,
        started_at=first,
        ended_at=last,
        error_count=len(refused),
        apis=dict(Counter(request.api for request in refused)),
        member_ids=sorted({request.member_id for request in refused if request.member_id}),
        client_ids=sorted({sender.client.client_id for sender in senders if sender.client.client_id}),
        stale_generation_min=min(sent, default=None),
        stale_generation_max=max(sent, default=None),
        current_generation=now.generation if now else None,
        fenced_by_life=change.life if change else None,
        fenced_by_generation=change.generation if change else None,
        behind_count=max(behind_counts(senders, course), default=None),
        zombie_ms=price.zombie_ms(senders, course),
        lost_commit_count=price.lost_commit_count(refused),
        reread_count=price.reread_count(evidence, senders, course),
        is_open=evidence.ends_by(open_until),
        open_until=None if awaited else open_until,
        suspected_cause=cause_of(evidence, senders, course, holders),
        advice="",
        evidence=source,
    )
    row.advice = advice_for(row, evidence, senders)
    return row
