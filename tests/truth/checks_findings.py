"""Storms and bursts by their definitions, done again in plain Python, and against what the clients counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from tests.support.truth import Truth
from tests.truth.broker_lines import broker_lines
from tests.truth.timelines import Differences, Row, Tables, begin_of

WINDOW_MS = 60_000
MIN_REBALANCES = 5
GAP_MS = 5_000
MIN_ERRORS = 5

FENCING = {
    22: "ILLEGAL_GENERATION",
    25: "UNKNOWN_MEMBER_ID",
    82: "FENCED_INSTANCE_ID",
    110: "FENCED_MEMBER_EPOCH",
    111: "UNRELEASED_INSTANCE_ID",
    113: "STALE_MEMBER_EPOCH",
}


OWN_LIMITS = {"UNRELEASED_INSTANCE_ID": (45_000, 1)}
"""Gap and number of the error that clients do not survive once."""


@dataclass(frozen=True)
class Run:
    """A storm or a burst: first and last moment, and how many."""

    started_at: float
    ended_at: float
    count: int


def storms_of(moments: list[float], window_ms: int, min_rebalances: int) -> list[Run]:
    """Storms of one group, from the moments of its rebalances: the union of all stormy intervals."""
    moments = sorted(moments)
    stormy = [
        (first, last)
        for first, last in zip(moments, moments[min_rebalances - 1 :], strict=False)
        if last - first <= window_ms
    ]
    merged: list[list[float]] = []
    for first, last in stormy:
        if merged and first <= merged[-1][1]:
            merged[-1][1] = max(last, merged[-1][1])
        else:
            merged.append([first, last])
    return [Run(first, last, sum(first <= moment <= last for moment in moments)) for first, last in merged]


def bursts_of(moments: list[float], gap_ms: int, min_errors: int) -> list[Run]:
    """Bursts of one error in one group, from the moments of the answers."""
    runs: list[list[float]] = []
    for moment in sorted(moments):
        if runs and moment - runs[-1][-1] <= gap_ms:
            runs[-1].append(moment)
        else:
            runs.append([moment])
    return [Run(run[0], run[-1], len(run)) for run in runs if len(run) >= min_errors]


def bursts_by_error(moments: dict[tuple[str, str], list[float]]) -> dict[tuple[str, str], list[Run]]:
    """Group and error to the bursts, by the limits of each error; those without any are left out."""
    found = {key: bursts_of(of_key, *OWN_LIMITS.get(key[1], (GAP_MS, MIN_ERRORS))) for key, of_key in moments.items()}
    return {key: runs for key, runs in found.items() if runs}


def expected_storms(generations: list[Row]) -> dict[str, list[Run]]:
    """Group to its storms, from gold's generations."""
    moments: dict[str, list[float]] = defaultdict(list)
    for row in generations:
        is_none = row["trigger"] == "coordinator_failover" or row.get("bump_count") == 0
        begin = None if is_none else begin_of(row)
        if begin is not None:
            moments[row["group_id"]].append(begin)
    storms = {group: storms_of(of_group, WINDOW_MS, MIN_REBALANCES) for group, of_group in moments.items()}
    return {group: runs for group, runs in storms.items() if runs}


def expected_bursts(requests: list[Row]) -> dict[tuple[str, str], list[Run]]:
    """Group and error to the bursts, from silver's requests."""
    moments: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in requests:
        if row["error_code"] in FENCING:
            moments[(row["group_id"], FENCING[row["error_code"]])].append(row["answered_at"])
    return bursts_by_error(moments)


def _runs(rows: list[Row], count: str) -> list[Run]:
    return sorted((Run(row["started_at"], row["ended_at"], row[count]) for row in rows), key=lambda run: run.started_at)


def storms_found(truth: Truth, tables: Tables) -> Differences:
    """checkout-storm is a storm and billing-steady is none; the table holds exactly the storms of the definition.

    Gold's generations must give the storms that the broker's lines give.
    """
    found = Differences()
    storms = expected_storms(tables["generations"])
    logged: dict[str, list[float]] = defaultdict(list)
    for line in broker_lines(truth.folder).prepared:
        logged[line.group_id].append(line.at)
    for group, moments in logged.items():
        expected, given = storms_of(moments, WINDOW_MS, MIN_REBALANCES), storms.get(group, [])
        found.expect(expected == given, f"{group}: the lines show storms {expected}, gold's generations {given}")
    if "checkout-storm" in truth.raw_groups:
        found.expect(len(storms.get("checkout-storm", [])) == 1, "checkout-storm is not one storm")
        found.expect("billing-steady" not in storms, "billing-steady is a storm")
    if "rebalance_storms" in tables:
        rows: dict[str, list[Row]] = defaultdict(list)
        for row in tables["rebalance_storms"]:
            rows[row["group_id"]].append(row)
        for group in sorted(storms.keys() | rows.keys()):
            expected, given = storms.get(group, []), _runs(rows[group], "rebalance_count")
            found.expect(expected == given, f"{group}: storms {expected}, the table has {given}")
    return found


def bursts_found(truth: Truth, tables: Tables) -> Differences:
    """The bursts that the clients felt are found, with as many errors; the table holds exactly those of the definition.

    The broker's and the clients' clock readings differ by some ms, so the clients' bursts are compared by their counts.
    """
    found = Differences()
    bursts = expected_bursts(tables["group_requests"])
    felt: dict[tuple[str, str], list[float]] = defaultdict(list)
    for request in truth.requests:
        if request.error in FENCING:
            felt[(request.group_id, FENCING[request.error])].append(request.answered_at)
    for key in sorted(felt):
        counts = [run.count for run in bursts_by_error({key: felt[key]}).get(key, [])]
        given = [run.count for run in bursts.get(key, [])]
        found.expect(counts == given, f"{key}: clients felt bursts of {counts}, silver has {given}")
    found.extend(_zombie_bursts(found, truth, bursts))
    if "illegal_generation_bursts" in tables:
        rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in tables["illegal_generation_bursts"]:
            rows[(row["group_id"], row["error"])].append(row)
        for key in sorted(bursts.keys() | rows.keys()):
            expected, given = bursts.get(key, []), _runs(rows[key], "error_count")
            found.expect(expected == given, f"{key}: bursts {expected}, the table has {given}")
    return found


def _zombie_bursts(found: Differences, truth: Truth, bursts: dict[tuple[str, str], list[Run]]) -> list[str]:
    """The stale commits of fraud-zombie all lie in bursts, and these count nothing else but its stale heartbeats."""
    tags = Counter(
        request.tag for request in truth.requests if request.group_id == "fraud-zombie" and request.error == 22
    )
    if not tags:
        return []
    found.compared += 1
    counted = sum(run.count for run in bursts.get(("fraud-zombie", "ILLEGAL_GENERATION"), []))
    least, most = tags["stale_commit"], sum(tags.values())
    if least <= counted <= most:
        return []
    return [f"fraud-zombie: {least} stale commits refused, {counted} errors in bursts"]
