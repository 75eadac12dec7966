"""How far all of it can be trusted: what was seen, what was inferred, how the replay did, what could not be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transforms.report.charts import Chart
from transforms.report.rows import Row
from transforms.report.tables import Table, TableRow, table
from transforms.report.words import number, share, words

AUDIT = ("request_count", "agree_count", "differ_count", "unpredicted_count", "race_count", "answer_used_count")


@dataclass(frozen=True)
class QualityPage:
    """What the page on quality shows.

    Attributes:
        verdict: how far to trust it, in one sentence.
        figures: the numbers that matter, as (figure, of what).
        chart: requests by API and how they compare; None without a request log.
        tables: the rows behind that.
    """

    verdict: str
    figures: tuple[tuple[str, str], ...]
    chart: Chart | None
    tables: tuple[Table, ...]


def quality_page(
    audit: Sequence[Row], differing: Sequence[Row], evidence: Sequence[Row], totals: Row, rejected: Sequence[Row]
) -> QualityPage:
    """Return what the page on quality shows.

    Args:
        audit: sums of `gold.audit_counts` by api.
        differing: groups whose answers were predicted wrongly: group_id, differ_count, request_count.
        evidence: generations by what they rest on: evidence (list), generation_count.
        totals: generation_count, inferred_count, missing_count, homes_count, homes_differ_count, unsettled_count.
        rejected: `silver.rejected` counted by source and reason_code: row_count, detail (one of them).
    """
    sums = {name: sum(row[name] for row in audit) for name in AUDIT}
    proven = sums["agree_count"] - sums["race_count"] - sums["answer_used_count"]
    refused = sum(row["row_count"] for row in rejected)
    figures = (
        (share(proven, proven + sums["differ_count"]), "of the broker's answers as the replay predicts"),
        (share(totals["inferred_count"], totals["generation_count"]), "of generations inferred in part"),
        (number(totals["missing_count"]), "generations that no evidence shows"),
        (number(refused), "records and lines that could not be read"),
    )
    tables = (_audit(audit), _differing(differing), _evidence(evidence, totals), _homes(totals), _rejected(rejected))
    return QualityPage(
        _verdict(sums, proven, refused), figures, _chart(audit), tuple(each for each in tables if each.rows)
    )


def _verdict(sums: Row, proven: int, refused: int) -> str:
    unread = "Nothing was rejected." if not refused else f"{number(refused)} records or lines could not be read."
    if not sums["request_count"]:
        return f"There is no request log, so nothing to hold the replayed state machine against. {unread}"
    return (
        f"{number(proven)} of {number(proven + sums['differ_count'])} requests were answered as the replayed state "
        f"machine predicts. Apart from these, {number(sums['race_count'])} rest on one of two orders within a "
        f"millisecond, {number(sums['answer_used_count'])} needed the answer itself, and "
        f"{number(sums['unpredicted_count'])} could not be predicted. {unread}"
    )


def _chart(audit: Sequence[Row]) -> Chart | None:
    if not audit:
        return None
    ordered = sorted(audit, key=lambda row: -row["request_count"])
    proven = [row["agree_count"] - row["race_count"] - row["answer_used_count"] for row in ordered]
    series = {
        "as predicted": proven,
        "race": [row["race_count"] for row in ordered],
        "answer used": [row["answer_used_count"] for row in ordered],
        "not predicted": [row["unpredicted_count"] for row in ordered],
        "otherwise": [row["differ_count"] for row in ordered],
    }
    return {
        "apis": [row["api"] for row in ordered],
        "totals": [row["request_count"] for row in ordered],
        "series": [[name, f"audit-{place}", values] for place, (name, values) in enumerate(series.items())],
    }


def _audit(audit: Sequence[Row]) -> Table:
    columns = ("request", "in all #", "as predicted #", "otherwise #", "not predicted #", "races #", "answer used #")
    rows = [TableRow((row["api"], *(number(row[name]) for name in AUDIT))) for row in audit]
    return table("The broker's answers beside the replay's predictions", columns, rows)


def _differing(differing: Sequence[Row]) -> Table:
    rows = [
        TableRow((row["group_id"], number(row["differ_count"]), number(row["request_count"])), link=row["page"])
        for row in differing
    ]
    return table("Groups with answers other than predicted", ("group", "otherwise #", "in all #"), rows)


def _evidence(evidence: Sequence[Row], totals: Row) -> Table:
    rows = [
        TableRow(
            (
                " and ".join(words(kind) for kind in row["evidence"]) or "none",
                number(row["generation_count"]),
                share(row["generation_count"], totals["generation_count"]),
            )
        )
        for row in evidence
    ]
    return table("What the generations rest on", ("evidence", "generations #", "share #"), rows)


def _homes(totals: Row) -> Table:
    told = {
        "generations still open to late evidence": totals["unsettled_count"],
        "stretches of coordination known": totals["homes_count"],
        "of these, in another partition than the group's name gives": totals["homes_differ_count"],
    }
    rows = [TableRow((name, number(value))) for name, value in told.items()]
    return table("What else bears on it", ("what", "count #"), rows)


def _rejected(rejected: Sequence[Row]) -> Table:
    columns = ("source", "reason", "rows #", "for instance")
    rows = [
        TableRow((row["source"], words(row["reason_code"]), number(row["row_count"]), row["detail"] or ""))
        for row in rejected
    ]
    return table("What could not be read", columns, rows)
