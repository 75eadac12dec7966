"""Rows of `gold.audit_counts`: how many requests were audited, hour by hour, whatever is kept of the audit itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from msgspec import Struct, field

from schemas.rows import AuditCountRow, GroupRequestRow, ReplayAuditRow
from transforms.coordinator.evidence.tolerances import SETTLING_MS
from transforms.coordinator.rows.tables import Sink, whole
from transforms.coordinator.timeline.audit import WHY_RACE, Verdict

HOUR_MS = 3_600_000


def over_at(now: float) -> float:
    """Return when the hour of a moment is over, and its counts can be told."""
    return now if now == inf else now // HOUR_MS * HOUR_MS + HOUR_MS + SETTLING_MS


class Count(Struct, array_like=True, gc=False):
    """The audited requests of one API in one hour."""

    requests: int = 0
    agree: int = 0
    differ: int = 0
    unpredicted: int = 0
    race: int = 0
    answer_used: int = 0


def say_audited(counts: AuditCounts, sink: Sink, row: ReplayAuditRow) -> None:
    """Tell of an audited request, and count it."""
    counts.add(row.api, row.at, row.agrees, row.is_answer_used, row.why)
    if sink.keeps_audit or _is_kept(row.agrees, row.is_answer_used, row.why):
        sink.rows.replay_audit.append(sink.stamped(row))


def say_verdict(counts: AuditCounts, sink: Sink, verdict: Verdict, cluster: str) -> None:
    """Likewise of a verdict, which becomes a row only if that is kept."""
    agrees, exchange = verdict.agrees, verdict.exchange
    is_answer_used = verdict.is_answer_used and verdict.predicted_error is not None
    counts.add(exchange.row.api, exchange.answered_at, agrees, is_answer_used, verdict.why)
    if sink.keeps_audit or _is_kept(agrees, is_answer_used, verdict.why):
        sink.rows.replay_audit.append(sink.stamped(verdict.row(cluster, agrees)))


def _is_kept(agrees: bool | None, is_answer_used: bool, why: str | None) -> bool:
    """Whether a row gives reason to doubt."""
    return not agrees or is_answer_used or why == WHY_RACE


class AuditCounts(Struct, array_like=True):
    """Counts of the hours that are not over.

    Attributes:
        hours: by begin of the hour and API.
        plain: by API, requests of the hour at hand that were answered as predicted, and nothing else is to be said of.
        plain_from: begin of that hour.
    """

    hours: dict[tuple[int, str], Count] = field(default_factory=dict)
    plain: dict[str, int] = field(default_factory=dict)
    plain_from: int = 0

    def add_plain(self, rows: Iterable[GroupRequestRow]) -> None:
        """Count requests that were answered as predicted, and nothing else is to be said of."""
        plain = self.plain
        for row in rows:
            if not 0 <= row.answered_at - self.plain_from < HOUR_MS:
                self._add_up()
                self.plain_from, plain = int(row.answered_at // HOUR_MS) * HOUR_MS, self.plain
            plain[row.api] = plain.get(row.api, 0) + 1

    def _add_up(self) -> None:
        for api, requests in self.plain.items():
            count = self._of(api, self.plain_from)
            count.requests += requests
            count.agree += requests
        self.plain = {}

    def add(self, api: str, at: float, agrees: bool | None, is_answer_used: bool, why: str | None) -> None:
        """Count an audited request; the columns of `gold.replay_audit`."""
        count = self._of(api, at)
        count.requests += 1
        if agrees:
            count.agree += 1
        elif agrees is None:
            count.unpredicted += 1
        else:
            count.differ += 1
        if why is not None:
            count.race += why == WHY_RACE
        if is_answer_used:
            count.answer_used += 1

    def settled(self, cluster: str, group_id: str, now: float) -> Iterator[AuditCountRow]:
        """Yield the hours that are over at a moment, and let go of them."""
        if self.plain and self.plain_from + HOUR_MS + SETTLING_MS <= now:
            self._add_up()
        over = [key for key in self.hours if key[0] + HOUR_MS + SETTLING_MS <= now]
        for hour_at, api in sorted(over):
            count = self.hours.pop((hour_at, api))
            yield AuditCountRow(
                cluster=cluster,
                group_id=group_id,
                api=api,
                hour_at=whole(hour_at) or 0,
                request_count=count.requests,
                agree_count=count.agree,
                differ_count=count.differ,
                unpredicted_count=count.unpredicted,
                race_count=count.race,
                answer_used_count=count.answer_used,
            )

    def _of(self, api: str, at: float) -> Count:
        key = (int(at // HOUR_MS) * HOUR_MS, api)
        count = self.hours.get(key)
        if count is None:
            count = self.hours[key] = Count()
        return count
