"""The door: the evidence of one storm in, its row out."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from schemas.rows import RebalanceStormRow
from schemas.words import EVIDENCE, SEVERITIES
from transforms.findings.client_settings import NOT_TOLD
from transforms.findings.clients import Client
from transforms.findings.evidence import Evidence, began_at, first_known
from transforms.findings.rebalances import whole_rebalances
from transforms.findings.stays import stays_of
from transforms.findings.storms import costs
from transforms.findings.storms.advice import advice_for
from transforms.findings.storms.causes import Cause, causes_of
from transforms.findings.storms.limits import StormLimits
from transforms.findings.storms.patterns import HARMLESS, Pattern, clients_of, pattern_of

T = TypeVar("T")

_WHOLE_STORY = 2 / 3
"""Share of a storm's rebalances from which on a pattern explains what it cost."""


def storm_row(evidence: Evidence, limits: StormLimits) -> RebalanceStormRow:
    """Judge one storm.

    `unstable_ms` is a lower bound (`transforms.findings.storms.costs.unstable_intervals`), null if no start is known.
    The last rebalance may outlast `ended_at`, which is its start: the storm's length, of which `unstable_ratio` is the
    share, is therefore measured to the end of the last rebalance. Of triggers and clients that are equally frequent the
    one seen first is the main one.

    Args:
        evidence: of the storm; its generations are the storm's rebalances, and the bumps that are part of them.
        limits: thresholds for the group.
    """
    evidence.generations = whole_rebalances(evidence.generations)
    times = [at for row in evidence.generations if (at := began_at(row)) is not None]
    first, last = times[0], times[-1]
    open_until = _open_until(times, limits)
    intervals = costs.unstable_intervals(evidence.generations, evidence.next_at)
    until = max([last, *(end for _, end in intervals)])
    unstable_ms = costs.length_of_union(intervals) if intervals else None
    ratio = None if unstable_ms is None or until <= first else unstable_ms / (until - first)
    stays = stays_of(evidence)
    causes = causes_of(evidence, stays)
    pattern = pattern_of(evidence, causes, stays)
    client = most_frequent(client for clients in clients_of(pattern) for client in clients)
    mean_gap_ms = (last - first) / (len(times) - 1) if len(times) > 1 else None
    row = RebalanceStormRow(
        cluster=evidence.cluster,
        group_id=evidence.group_id,
        started_at=first,
        ended_at=last,
        rebalance_count=len(times),
        first_generation=evidence.generations[0].generation,
        last_generation=evidence.generations[-1].generation,
        peak_count=max(bisect_right(times, at + limits.window_ms) - place for place, at in enumerate(times)),
        unstable_ms=None if unstable_ms is None else round(unstable_ms),
        unstable_ratio=ratio,
        triggers=dict(Counter(row.trigger for row in evidence.generations)),
        main_trigger=most_frequent(_words(causes, pattern)) or "unknown",
        main_client_id=client.client_id if client else None,
        main_client_host=client.client_host if client else None,
        main_client_software=_software(evidence, client) if client else None,
        pattern=pattern.name,
        pattern_share=pattern.share,
        is_open=open_until is not None and evidence.ends_by(open_until),
        open_until=open_until,
        unowned_ms=costs.unowned_ms(evidence, first, until),
        partitions_moved=costs.partitions_moved(evidence),
        partitions_moved_back=costs.partitions_moved_back(evidence),
        refused_commit_count=costs.refused_commit_count(evidence, first, until),
        severity=_severity(pattern, limits.severity(ratio, mean_gap_ms)),
        advice="",
        evidence=[name for name in EVIDENCE if any(name in row.evidence for row in evidence.generations)],
    )
    row.advice = advice_for(row, evidence, pattern, causes)
    return row


def _severity(pattern: Pattern, by_limits: str) -> str:
    """What is harmless is for information, unless it cost most of the time and is not the whole story."""
    is_all = pattern.name in HARMLESS and (pattern.share or 0) >= _WHOLE_STORY
    if pattern.is_harmless and (is_all or by_limits != SEVERITIES[-1]):
        return SEVERITIES[0]
    return by_limits


def _words(causes: list[list[Cause]], pattern: Pattern) -> list[str]:
    """What each rebalance is put down to: the cause that fits the storm's pattern before its main one."""
    return [(of[0] if of else each[0]).trigger for each, of in zip(causes, pattern.fitting, strict=True)]


def most_frequent(values: Iterable[T]) -> T | None:
    """Return the most frequent value, of equally frequent ones the first; null if there is none."""
    counts = Counter(values)
    return counts.most_common(1)[0][0] if counts else None


def _software(evidence: Evidence, client: Client) -> str | None:
    """What the client said it was, the last time."""
    said = [
        request.client_software
        for request in evidence.requests
        if (request.client_id, request.client_host) == (client.client_id, client.client_host)
        and request.client_software != NOT_TOLD
    ]
    return first_known(*reversed(said))


def _open_until(times: list[float], limits: StormLimits) -> float | None:
    """Until when one more rebalance would still belong to the storm; None where it would not."""
    needed = max(limits.min_rebalances - 1, 1)
    return times[-needed] + limits.window_ms if len(times) >= needed else None
