"""The first page: all groups at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transforms.report.charts import Chart
from transforms.report.findings import Finding, burst, revoker, storm, worst_first
from transforms.report.names import page_name
from transforms.report.rows import Row, step_words
from transforms.report.words import duration, moment, number, span

BINS = 48
"""Columns of the heat map."""

BUSIEST = 20
"""Rows of the heat map: the groups with most rebalances."""

FIRST_FINDINGS = 10
"""Findings on the first page; all of them are on a page of their own."""

_NICE_MS = tuple(
    unit * step
    for unit, steps in (
        (1000, (1, 2, 5, 10, 15, 30)),
        (60_000, (1, 2, 5, 10, 15, 30)),
        (3_600_000, (1, 2, 3, 6, 12)),
        (86_400_000, (1, 2, 7, 14, 28, 56, 112)),
    )
    for step in steps
)


@dataclass(frozen=True)
class GroupLine:
    """One group in the list of all."""

    group_id: str
    page: str
    state: str
    generations: int
    unstable: str
    unstable_ms: int
    members: str
    storms: int
    bursts: int
    last_at: str
    last_ms: float


@dataclass(frozen=True)
class Fleet:
    """What the first page shows.

    Attributes:
        figures: the numbers that matter, as (figure, of what).
        steps: what the groups' rebalances lead to, in the words of their protocols.
        span: the time that the data covers.
        findings: the findings, the worst first; of very many the worst of each kind.
        finding_count: how many there are.
        groups: all groups, those with most rebalances first.
        chart: where the rebalances were; None if there was none.
    """

    figures: tuple[tuple[str, str], ...]
    steps: str
    span: str
    findings: tuple[Finding, ...]
    finding_count: int
    groups: tuple[GroupLine, ...]
    chart: Chart | None


_COUNTED = ("storms", "bursts", "revokers")


def group_rows(row_counts: Mapping[str, Mapping[str, int]], lines: Sequence[Row], states: Sequence[Row]) -> list[Row]:
    """Return a row for each group of which there is a row in any table.

    Args:
        row_counts: for each group how many rows it has, by table.
        lines: what the generations of a group come to: group_id, group_types, unstable_ms, member_count, last_at.
        states: group_id, state.
    """
    unknown: Row = {"group_types": [], "unstable_ms": None, "member_count": None, "last_at": None}
    line_of = {row["group_id"]: row for row in lines}
    state_of = {row["group_id"]: row["state"] for row in states}
    return [
        {
            **unknown,
            **line_of.get(group_id, {}),
            "group_id": group_id,
            "state": state_of.get(group_id),
            "generations": counts.get("generations", 0),
            "storms": counts.get("rebalance_storms", 0),
            "bursts": counts.get("illegal_generation_bursts", 0),
            "revokers": counts.get("slow_revokers", 0),
        }
        for group_id, counts in row_counts.items()
    ]


def bin_width_ms(since: float, until: float) -> int:
    """Return the width of a column of the heat map: a length that one can name, and about as many as fit."""
    return next((width for width in _NICE_MS if (until - since) / width <= BINS), _NICE_MS[-1])


def fleet(
    cluster: str,
    groups: Sequence[Row],
    storms: Sequence[Row],
    bursts: Sequence[Row],
    bins: Mapping[tuple[str, int], int],
    width_ms: int,
    since: float | None,
    until: float | None,
    revokers: Sequence[Row] = (),
) -> Fleet:
    """Return what the first page shows.

    Args:
        cluster: Kafka cluster.
        groups: a row for each group: group_id, group_types, generations, unstable_ms, member_count, state, last_at, and
            how many findings of each kind there are (`_COUNTED`).
        storms: `gold.rebalance_storms`; of very many the worst. So it is with the other findings.
        bursts: `gold.illegal_generation_bursts`.
        bins: rebalances by group and column of the heat map, the number of whole widths since the epoch.
        width_ms: width of a column.
        since: first moment of the data.
        until: last one.
        revokers: `gold.slow_revokers`.
    """
    findings = worst_first([*(storm(row) for row in storms), *map(burst, bursts), *map(revoker, revokers)])
    lines = [_line(cluster, row) for row in groups]
    lines.sort(key=lambda each: (-each.generations, each.group_id))
    unstable = sum(row["unstable_ms"] or 0 for row in groups)
    steps = step_words(sorted({name for row in groups for name in row["group_types"]}), is_many=True)
    storm_count, burst_count, revoker_count = (sum(row[kind] for row in groups) for kind in _COUNTED)
    figures = (
        (number(len(groups)), "groups"),
        (number(sum(row["generations"] for row in groups)), steps),
        (duration(unstable), "in rebalances, over all groups"),
        (number(storm_count), "storms"),
        (number(burst_count), "bursts of fencing errors"),
        *(((number(revoker_count), "slow revokers"),) if revoker_count else ()),
    )
    chart = _heat(cluster, lines, bins, width_ms)
    time = span(since, until) if groups else "no data"
    count = storm_count + burst_count + revoker_count
    return Fleet(figures, steps, time, tuple(findings), count, tuple(lines), chart)


def _line(cluster: str, row: Row) -> GroupLine:
    group_id = row["group_id"]
    return GroupLine(
        group_id=group_id,
        page=page_name(cluster, group_id),
        state=row["state"] or "not known",
        generations=row["generations"],
        unstable=duration(row["unstable_ms"]) if row["unstable_ms"] is not None else "not known",
        unstable_ms=row["unstable_ms"] or 0,
        members=number(row["member_count"]),
        storms=row["storms"],
        bursts=row["bursts"],
        last_at=moment(row["last_at"]),
        last_ms=row["last_at"] or 0,
    )


def _heat(cluster: str, lines: Sequence[GroupLine], bins: Mapping[tuple[str, int], int], width_ms: int) -> Chart | None:
    if not bins:
        return None
    busiest = [each.group_id for each in lines[:BUSIEST] if each.generations]
    first, last = min(at for _, at in bins), max(at for _, at in bins)
    cells = [
        [column, busiest.index(group_id), rebalances]
        for (group_id, at), rebalances in sorted(bins.items())
        if (column := at - first) >= 0 and group_id in busiest
    ]
    return {
        "groups": busiest,
        "pages": [f"groups/{page_name(cluster, group_id)}" for group_id in busiest],
        "columns": [(first + place) * width_ms for place in range(last - first + 1)],
        "width": duration(width_ms),
        "cells": cells,
    }
