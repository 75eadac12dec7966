"""Storms and bursts a second time, straight from their definitions and with no regard to cost.

Every pair of rebalances is tried as an interval, every millisecond of a storm is looked at. Times are milliseconds
and, for the unstable time, whole ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import groupby
from typing import Any

Row = dict[str, Any]

FENCING = {
    "ILLEGAL_GENERATION",
    "UNKNOWN_MEMBER_ID",
    "FENCED_INSTANCE_ID",
    "STALE_MEMBER_EPOCH",
    "FENCED_MEMBER_EPOCH",
    "UNRELEASED_INSTANCE_ID",
}

WIDENED = {"UNRELEASED_INSTANCE_ID": (45_000, 1)}
"""Errors with a gap and a number of their own, where what is given is narrower: clients do not survive the first."""

_KEY = {"cluster", "group_id", "started_at", "ended_at"}
STORM_COLUMNS = _KEY | {
    "rebalance_count",
    "first_generation",
    "last_generation",
    "peak_count",
    "unstable_ms",
    "unstable_ratio",
    "triggers",
}
BURST_COLUMNS = _KEY | {
    "error",
    "error_count",
    "apis",
    "member_ids",
    "client_ids",
    "stale_generation_min",
    "stale_generation_max",
    "current_generation",
}
"""What the oracle finds: all but the judgements (pattern, causes, culprits, severity, advice)."""


def rebalanced_at(generation: Row) -> float | None:
    """When the group entered PreparingRebalance, as far as known; never, where a coordinator only took it over."""
    if generation.get("bump_count") == 0:
        return None
    if generation.get("trigger") == "coordinator_failover" and generation.get("preparing_at") is None:
        return None
    for name in ("preparing_at", "completing_at", "stable_at", "emptied_at"):
        if generation.get(name) is not None:
            return float(generation[name])
    return None


def bumps_of(generations: Iterable[Row], own: set[tuple[int, int]]) -> list[Row]:
    """The bumps that came while one of some rebalances was under way: each is of the last rebalance before it."""
    found, owner = [], None
    for row in sorted(generations, key=lambda row: (row["life"], row["generation"])):
        key = (row["life"], row["generation"])
        if row.get("bump_count") != 0:
            owner = key
        elif row["trigger"] != "converted" and owner in own and owner is not None and owner[0] == row["life"]:
            found.append(row)
    return found


def _to_its_end(row: Row, generations: list[Row]) -> Row:
    """A rebalance with the end of the last bump that is part of it."""
    bumps = bumps_of(generations, {(row["life"], row["generation"])})
    if row.get("bump_count") == 0 or not bumps:
        return row
    completing_at = next((bump["completing_at"] for bump in [row, *bumps] if bump["completing_at"] is not None), None)
    return {**bumps[-1], **{k: row[k] for k in _BEGIN if k in row}, "completing_at": completing_at}


_BEGIN = ("generation", "life", "preparing_at", "trigger", "bump_count")


def storms(generations: Iterable[Row], window_ms: int, min_rebalances: int) -> list[Row]:
    """All storms of all groups, in order of group and time."""
    found = []
    for key, rows in _by(generations, lambda row: (row["cluster"], row["group_id"])):
        whole = [_to_its_end(row, rows) for row in rows]
        dated = [(at, row["life"], row["generation"], row) for row in whole if (at := rebalanced_at(row)) is not None]
        dated.sort(key=lambda entry: entry[:3])
        for first, last in storm_intervals([entry[0] for entry in dated], window_ms, min_rebalances):
            found.append({"cluster": key[0], "group_id": key[1], **_storm(dated, first, last, window_ms)})
    return found


def storm_intervals(times: list[float], window_ms: int, min_rebalances: int) -> list[tuple[float, float]]:
    """Every stormy interval there is, then joined for as long as two of them share a moment."""
    intervals = {
        (times[j], times[k])
        for j in range(len(times))
        for k in range(j, len(times))
        if k - j + 1 >= min_rebalances and times[k] - times[j] <= window_ms
    }
    joined: list[tuple[float, float]] = []
    for first, last in sorted(intervals):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def _storm(dated: list[tuple[float, int, int, Row]], first: float, last: float, window_ms: int) -> Row:
    inside = [entry for entry in dated if first <= entry[0] <= last]
    times = [entry[0] for entry in inside]
    triggers = [entry[3]["trigger"] for entry in inside]
    unstable = _unstable_intervals(dated, first, last)
    until = max([last, *(end for _, end in unstable)])
    unstable_ms = len({ms for start, end in unstable for ms in range(int(start), int(end))}) if unstable else None
    return {
        "started_at": first,
        "ended_at": last,
        "rebalance_count": len(inside),
        "first_generation": inside[0][2],
        "last_generation": inside[-1][2],
        "peak_count": max(sum(start <= at <= start + window_ms for at in times) for start in times),
        "unstable_ms": unstable_ms,
        "unstable_ratio": None if unstable_ms is None or until == first else unstable_ms / (until - first),
        "triggers": dict(Counter(triggers)),
    }


def _unstable_intervals(
    dated: list[tuple[float, int, int, Row]], first: float, last: float
) -> list[tuple[float, float]]:
    intervals = []
    for place, (at, _, _, row) in enumerate(dated):
        if not first <= at <= last or row.get("preparing_at") is None:
            continue
        following = dated[place + 1][0] if place + 1 < len(dated) else None
        left = [moment for moment in (row.get("ended_at"), following) if moment is not None]
        candidates = [row.get("stable_at"), row.get("emptied_at"), min(left, default=None), row.get("completing_at")]
        end = next((moment for moment in candidates if moment is not None), at)
        intervals.append((at, max(at, float(end))))
    return intervals


def bursts(requests: Iterable[Row], generations: Iterable[Row], gap_ms: int, min_errors: int) -> list[Row]:
    """All bursts of all groups, without cause and advice."""
    generations = list(generations)
    found = []
    for cluster, group_id, run in runs(requests, gap_ms, min_errors):
        of_group = [row for row in generations if (row["cluster"], row["group_id"]) == (cluster, group_id)]
        key = {"cluster": cluster, "group_id": group_id, "error": run[0]["error"]}
        found.append({**key, **_burst(run, of_group)})
    return found


def runs(requests: Iterable[Row], gap_ms: int, min_errors: int) -> Iterable[tuple[str, str, list[Row]]]:
    """Cluster, group and requests of every burst."""
    refused = [row for row in requests if row["error"] in FENCING]
    for key, rows in _by(refused, lambda row: (row["cluster"], row["group_id"], row["error"])):
        found: list[list[Row]] = []
        own_gap_ms, own_errors = WIDENED.get(str(key[2]), (gap_ms, min_errors))
        for row in sorted(rows, key=lambda row: row["answered_at"]):
            if not found or row["answered_at"] - found[-1][-1]["answered_at"] > max(gap_ms, own_gap_ms):
                found.append([])
            found[-1].append(row)
        fewest = min(min_errors, own_errors)
        yield from ((str(key[0]), str(key[1]), run) for run in found if len(run) >= fewest)


def _burst(run: list[Row], generations: list[Row]) -> Row:
    started_at = run[0]["answered_at"]
    sent = [row["generation"] for row in run if row.get("generation") is not None and row["generation"] >= _least(row)]
    return {
        "started_at": started_at,
        "ended_at": run[-1]["answered_at"],
        "error_count": len(run),
        "apis": dict(Counter(row["api"] for row in run)),
        "member_ids": sorted({row["member_id"] for row in run if row.get("member_id")}),
        "client_ids": sorted({row["client_id"] for row in run if row.get("client_id")}),
        "stale_generation_min": min(sent, default=None),
        "stale_generation_max": max(sent, default=None),
        "current_generation": _generation_at(generations, started_at),
    }


def _least(request: Row) -> int:
    """The least number that says of a request in what its sender believed to be: by epoch 0 it asks to join."""
    return 1 if request["api"].endswith("GroupHeartbeat") else 0


def _generation_at(generations: list[Row], moment: float) -> int | None:
    in_force = []
    for row in generations:
        begins = [row.get(name) for name in ("completing_at", "stable_at", "emptied_at")]
        begin = next((at for at in begins if at is not None), None)
        if begin is not None and begin <= moment:
            in_force.append((begin, row["life"], row["generation"]))
    return max(in_force)[2] if in_force else None


def _by(rows: Iterable[Row], key: Any) -> Iterable[tuple[tuple[Hashable, ...], list[Row]]]:
    return ((name, list(group)) for name, group in groupby(sorted(rows, key=key), key=key))
