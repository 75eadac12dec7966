"""Findings as cards: what happened, what it cost, by whom, what would help, and the rows that show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from schemas.kafka_errors import ERROR_CODES, ERROR_NAMES
from transforms.findings.evidence import are_of_epochs
from transforms.findings.storms.barrier import OFFER
from transforms.report.names import generation_anchor, page_name
from transforms.report.rows import GroupRows, Row, is_rebalance, rebalanced_at
from transforms.report.words import client, clock, count, duration, number, share, span, tally, words

MOST_EVIDENCE = 100
"""Rows of evidence that are written below one finding."""

_SEVERITIES = {"critical": 0, "warning": 1, "burst": 2, "slow": 3, "info": 4}


@dataclass(frozen=True)
class Evidence:
    """One row that shows a finding: its cells, and the anchor of the row on its group's page."""

    cells: tuple[str, ...]
    anchor: str = ""


@dataclass(frozen=True)
class Finding:
    """One storm, burst or slow revoker.

    Attributes:
        anchor: where it is on its group's page.
        kind: 'storm', 'burst' or 'revoker'.
        severity: 'critical', 'warning', 'info'; of a burst 'burst', of a slow revoker 'slow'.
        group_id: the group.
        page: file name of the group's page.
        title: what happened, in a few words.
        cause: why, in a few words.
        when: from when to when.
        begin: begin, epoch ms.
        end: end, epoch ms.
        is_open: still going on where the data ends.
        costs: what it cost, as (figure, of what).
        facts: what else is known, as (name, value).
        advice: what would help.
        price: what that costs; empty where the advice names no price.
        otherwise: another way, with its price; empty where there is none.
        shown_by: what the evidence is, in a word or some.
        evidence_columns: names of the cells of the evidence.
        evidence: rows that show it, the first ones only where there are very many.
        evidence_count: how many there are.
        rank: the greater, the worse, among findings of the same severity.
    """

    anchor: str
    kind: str
    severity: str
    group_id: str
    page: str
    title: str
    cause: str
    when: str
    begin: float
    end: float
    is_open: bool
    costs: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    advice: str
    price: str
    otherwise: str
    rank: float
    shown_by: str = "rebalances"
    evidence_columns: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = field(default=())
    evidence_count: int = 0


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in the order in which they are worth a look."""
    return sorted(
        findings,
        key=lambda each: (_SEVERITIES.get(each.severity, len(_SEVERITIES)), -each.rank, each.begin, each.group_id),
    )


def findings_of(rows: GroupRows) -> list[Finding]:
    """Return a group's findings with their evidence."""
    storms = [storm(row, rows.generations()) for row in rows.of("rebalance_storms")]
    bursts = [burst(row, rows.of("refused_requests")) for row in rows.of("illegal_generation_bursts")]
    return worst_first([*storms, *bursts, *map(revoker, rows.of("slow_revokers"))])


def storm(row: Row, generations: Sequence[Row] = ()) -> Finding:
    """Return a storm; its evidence are the generations whose rebalances it is made of."""
    parts = [each for each in generations if is_rebalance(each) and _is_within(row, rebalanced_at(each))]
    length = row["ended_at"] - row["started_at"]
    advice, price, otherwise = _advice(row["advice"])
    return Finding(
        anchor=f"storm-{row['started_at']:.0f}",
        kind="storm",
        severity=row["severity"],
        group_id=row["group_id"],
        page=page_name(row["cluster"], row["group_id"]),
        title=f"{count(row['rebalance_count'], 'rebalance')} in {duration(length)}",
        cause=words(row["pattern"]),
        when=span(row["started_at"], row["ended_at"]),
        begin=row["started_at"],
        end=row["ended_at"],
        is_open=row["is_open"],
        costs=(
            (duration(row["unstable_ms"]), f"without a stable assignment, {share(row['unstable_ratio'])} of the storm"),
            (_partition_time(row["unowned_ms"]), "partitions without an owner"),
            (number(row["partitions_moved"]), f"partitions moved, {number(row['partitions_moved_back'])} of them back"),
            (number(row["refused_commit_count"]), "refused commits"),
        ),
        facts=(
            ("culprit", client(row["main_client_id"], row["main_client_host"])),
            ("main trigger", words(row["main_trigger"])),
            ("triggers", tally(row["triggers"])),
            ("pattern", f"{words(row['pattern'])}, {share(row['pattern_share'])} of the rebalances fit"),
            ("at its peak", f"{number(row['peak_count'])} rebalances in one window"),
            ("evidence", ", ".join(words(each) for each in row["evidence"] or ()) or "none"),
        ),
        advice=advice,
        price=price,
        otherwise=otherwise,
        rank=float(row["unstable_ms"] or 0),
        evidence_columns=("generation", "began", "trigger", "client", "reason as logged", "took"),
        evidence=tuple(_generation(each) for each in parts[:MOST_EVIDENCE]),
        evidence_count=len(parts),
    )


def burst(row: Row, requests: Sequence[Row] = ()) -> Finding:
    """Return a burst; its evidence are the requests that were refused."""
    code = ERROR_CODES.get(row["error"])
    parts = [each for each in requests if each["observed_error"] == code and _is_within(row, each["at"])]
    advice, price, otherwise = _advice(row["advice"])
    stale = _sent(row)
    return Finding(
        anchor=f"burst-{row['error']}-{row['started_at']:.0f}",
        kind="burst",
        severity="burst",
        group_id=row["group_id"],
        page=page_name(row["cluster"], row["group_id"]),
        title=f"{number(row['error_count'])} × {row['error']}",
        cause=words(row["suspected_cause"]),
        when=span(row["started_at"], row["ended_at"]),
        begin=row["started_at"],
        end=row["ended_at"],
        is_open=row["is_open"],
        costs=(
            (number(row["lost_commit_count"]), "commits of partitions refused"),
            (number(row["reread_count"]), "offsets read twice"),
            (duration(row["zombie_ms"]), "went on after being shut out, the longest"),
        ),
        facts=(
            ("clients", ", ".join(row["client_ids"] or ()) or "not known"),
            ("requests", tally(row["apis"])),
            *((("sent", stale),) if stale else ()),
            ("shut out by", _shut_out_by(row)),
            ("evidence", words(row["evidence"])),
        ),
        advice=advice,
        price=price,
        otherwise=otherwise,
        rank=float((row["lost_commit_count"] or 0) + row["error_count"]),
        shown_by="refused requests that are kept",
        evidence_columns=("answered", "request", "member", "state", "answer", "line of the log"),
        evidence=tuple(Evidence(request_cells(each)) for each in parts[:MOST_EVIDENCE]),
        evidence_count=len(parts),
    )


def revoker(row: Row) -> Finding:
    """Return a slow revoker; who waited for it is among the ways of the members, on the group's page."""
    advice, price, otherwise = _advice(row["advice"])
    parts = row["partitions"] or ()
    end = row["started_at"] + row["held_up_ms"]
    return Finding(
        anchor=f"revoker-{row['member_id']}-{row['started_at']:.0f}",
        kind="revoker",
        severity="slow",
        group_id=row["group_id"],
        page=page_name(row["cluster"], row["group_id"]),
        title=f"{count(row['partition_count'], 'partition')} not given up for {duration(row['held_up_ms'])}",
        cause="slow revoker" if row["end_cause"] is None else f"slow revoker, {words(row['end_cause'])}",
        when=span(row["started_at"], end),
        begin=row["started_at"],
        end=end,
        is_open=row["is_open"],
        costs=(
            (_partition_time(row["partition_count"] * row["held_up_ms"]), "partitions stood still"),
            (number(len(row["waiting_member_ids"] or ())), "members waited for them"),
        ),
        facts=(
            ("culprit", client(row["client_id"], row["client_host"])),
            ("member", row["member_id"]),
            ("epoch", number(row["generation"])),
            ("rebalance timeout", duration(row["rebalance_timeout_ms"])),
        ),
        advice=advice,
        price=price,
        otherwise=otherwise,
        rank=float(row["partition_count"] * row["held_up_ms"]),
        shown_by="partitions",
        evidence_columns=("partition",),
        evidence=tuple(Evidence((name,)) for name in parts[:MOST_EVIDENCE]),
        evidence_count=len(parts),
    )


def request_cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a refused request."""
    answer = ERROR_NAMES.get(row["observed_error"], str(row["observed_error"]))
    where = f"{row['source_file']}:{row['line_number']}"
    return (clock(row["at"]), row["api"], row["member_id"] or "", row["state_before"] or "not known", answer, where)


def _generation(row: Row) -> Evidence:
    cells = (
        f"{row['generation']}",
        clock(rebalanced_at(row)),
        words(row["trigger"]),
        client(row["trigger_client_id"], row["trigger_client_host"]) if row["trigger_client_id"] else "",
        row["reason"] or "",
        duration(row["rebalance_ms"]),
    )
    return Evidence(cells, generation_anchor(row["life"], row["generation"]))


def _is_within(row: Row, at: float | None) -> bool:
    return at is not None and row["started_at"] <= at <= row["ended_at"]


def _advice(text: str) -> tuple[str, str, str]:
    """Part what would help from what it costs and from another way, where the advice names them as findings word it."""
    first, offer, rest = text.partition(f" {OFFER}")
    otherwise = f"{offer}{rest}".strip()
    advice, found, price = first.partition("; the price: ")
    return (f"{advice}.", price[:1].upper() + price[1:], otherwise) if found else (first, "", otherwise)


def _partition_time(ms: float | None) -> str:
    return duration(ms) if ms is None else f"{ms / 1000:,.0f} partition-seconds"


def _sent(row: Row) -> str:
    low, high, now = row["stale_generation_min"], row["stale_generation_max"], row["current_generation"]
    if low is None or now is None:
        return ""
    sent = f"{_step(row)} {low}" if low == high else f"{_step(row)}s {low} to {high}"
    return f"{sent} when it was {now}{' at first' if high >= now else ''}"


def _shut_out_by(row: Row) -> str:
    generation = row["fenced_by_generation"]
    return "not known" if generation is None else f"{_step(row)} {generation} of life {row['fenced_by_life']}"


def _step(row: Row) -> str:
    return "epoch" if are_of_epochs(row["error"], row["apis"] or ()) else "generation"
