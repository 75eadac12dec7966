"""Storms and bursts judged without Spark: found by the oracle, the evidence of each picked by plain loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from schemas.kafka_errors import error_name
from tests.unit.findings.oracle import bumps_of, rebalanced_at, runs, storm_intervals
from transforms.findings.bursts.judge import burst_row
from transforms.findings.bursts.limits import BurstLimits
from transforms.findings.evidence import KINDS, Evidence
from transforms.findings.storms.judge import storm_row
from transforms.findings.storms.limits import StormLimits, Thresholds
from transforms.gold.broker_refusals import API_OF_OPERATION, ERROR, EVENT
from transforms.holdings import holdings_of

Row = dict[str, Any]

TABLES = {
    "generations": "generations",
    "members": "generation_members",
    "sessions": "member_sessions",
    "assignments": "assignments",
    "reconciliations": "reconciliations",
    "requests": "group_requests",
    "coordinators": "coordinators",
}
"""By list of the evidence: the table that its rows are of."""


TABLES_OF_BURSTS = {
    "requests": "group_requests",
    "generations": "generations",
    "members": "generation_members",
    "sessions": "member_sessions",
    "coordinators": "coordinators",
    "commits": "offset_commits",
}
"""Likewise, for bursts."""

HOUR_MS = 3_600_000


def storms(
    tables: Mapping[str, Iterable[Row]], thresholds: Thresholds, seen_until: float | None = None
) -> list[dict[str, Any]]:
    """The storms of all groups."""
    found = evidence_of_storms(tables, thresholds, seen_until)
    return [msgspec.structs.asdict(storm_row(evidence, limits)) for evidence, limits in found]


def evidence_of_storms(
    tables: Mapping[str, Iterable[Row]], thresholds: Thresholds, seen_until: float | None = None
) -> Iterator[tuple[Evidence, StormLimits]]:
    """The storms of all groups, each as what it is judged by."""
    by_group: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for kind, table in TABLES.items():
        for row in tables.get(table, ()):
            by_group.setdefault((row["cluster"], row["group_id"]), {}).setdefault(kind, []).append(row)
    for (cluster, group_id), rows in sorted(by_group.items()):
        limits = thresholds.of(group_id)
        dated = [(at, row["life"], row["generation"], row) for row in rows.get("generations", ()) if (at := _at(row))]
        dated.sort(key=lambda entry: entry[:3])
        moments = [entry[0][0] for entry in dated]
        for first, last in storm_intervals(moments, limits.window_ms, limits.min_rebalances):
            inside = [entry for entry in dated if first <= entry[0][0] <= last]
            after = [at for at in moments if at > last]
            before = [entry for entry in dated if entry[0][0] < first][-1:]
            own, held = ({entry[1:3] for entry in of} for of in (inside, [*before, *inside]))
            taken = _taken_over(rows.get("generations", ()), first, last + limits.window_ms)
            bumps = bumps_of(rows.get("generations", ()), own)
            since, until = first - limits.window_ms, last + limits.window_ms
            picked = {
                "generations": [*(entry[3] for entry in inside), *bumps],
                "members": [
                    r
                    for r in rows.get("members", ())
                    if (r["life"], r["generation"]) in own | {(b["life"], b["generation"]) for b in bumps}
                ],
                "assignments": [
                    *(r for r in _held(rows, True) if (r["life"], r["generation"]) in held | taken),
                    *_around(_held(rows, False), "valid_from", "valid_to", first, until),
                ],
                "reconciliations": _around(rows.get("reconciliations", ()), "from_at", "to_at", since, until),
                "sessions": _around(rows.get("sessions", ()), "joined_at", "ended_at", since, until),
                "coordinators": _around(rows.get("coordinators", ()), "from_at", "to_at", since, until),
                "requests": _around(map(_named, rows.get("requests", ())), "answered_at", "answered_at", since, until),
            }
            evidence = msgspec.structs.replace(
                Evidence(cluster=cluster, group_id=group_id, next_at=min(after, default=None), seen_until=seen_until),
                **{kind: [typed(row, kind) for row in of_kind] for kind, of_kind in picked.items()},
            )
            evidence.holdings, evidence.assignments = holdings_of(evidence.assignments), []
            yield evidence.in_order(), limits


def bursts(
    tables: Mapping[str, Iterable[Row]], gap_ms: int, min_errors: int, seen_until: float | None = None
) -> list[dict[str, Any]]:
    """The bursts of all groups."""
    named = [_named(row) for row in tables.get("group_requests", ())]
    found = []
    for cluster, group_id, run in runs(named, gap_ms, min_errors):
        since, until = run[0]["answered_at"] - HOUR_MS, run[-1]["answered_at"] + HOUR_MS / 6
        rows = {
            kind: [r for r in tables.get(table, ()) if (r["cluster"], r["group_id"]) == (cluster, group_id)]
            for kind, table in TABLES_OF_BURSTS.items()
        }
        clients = {row["client_id"] for row in run}
        waiting = [r for r in named if r["group_id"] == group_id and r["error"] == "REBALANCE_IN_PROGRESS"]
        picked = {
            "refused": run,
            "requests": [
                r for r in _around(waiting, "answered_at", "answered_at", since, until) if r["api"] != "Heartbeat"
            ],
            "generations": rows["generations"],
            "members": [row for row in rows["members"] if row["client_id"] in clients],
            "sessions": _around(rows["sessions"], "joined_at", "ended_at", since, until),
            "coordinators": _around(rows["coordinators"], "from_at", "to_at", since, until),
            "commits": [row for row in rows["commits"] if not row["is_tombstone"]],
            "heard": _heard(run, named, rows["sessions"], until),
            "printed": [*_printed(tables.get("coordinator_events", ()), group_id)] if run else [],
        }
        evidence = msgspec.structs.replace(
            Evidence(cluster=cluster, group_id=group_id, seen_until=seen_until),
            **{kind: [typed(row, kind) for row in of_kind] for kind, of_kind in picked.items()},
        )
        found.append(msgspec.structs.asdict(burst_row(evidence.in_order(), BurstLimits(gap_ms, min_errors))))
    return found


def with_broker_refusals(requests: list[Row], events: Iterable[Row], sessions: Iterable[Row], gap_ms: int) -> list[Row]:
    """The requests, and what brokers' lines tell of fenced instances where nothing else does."""
    homes = {row["member_id"]: row for row in sessions}
    known = [row["answered_at"] for row in requests if row["error"] == ERROR]
    blank = dict.fromkeys(("handled_at", "answered_member_id", "generation", "reason"))
    told = [
        {
            **blank,
            "cluster": "demo",
            **{name: homes[row["member_id"]][name] for name in ("group_id", "client_id", "client_host")},
            "member_id": row["member_id"],
            "group_instance_id": row["group_instance_id"],
            "api": API_OF_OPERATION.get(row["attributes"].get("operation"), "unknown"),
            "error": ERROR,
            "answered_at": row["logged_at"],
            "evidence": "broker_log",
        }
        for row in events
        if row["event"] == EVENT and row["member_id"] in homes
    ]
    return [*requests, *(row for row in told if all(abs(row["answered_at"] - at) > gap_ms for at in known))]


def _heard(run: list[Row], named: list[Row], sessions: list[Row], until: float) -> list[Row]:
    """What who held an instance id was granted after another was not let in under it."""
    asked_for = {row["group_instance_id"] for row in run if row["error"] == "UNRELEASED_INSTANCE_ID"}
    holders = {
        (row["group_id"], row["member_id"]) for row in sessions if row["group_instance_id"] in asked_for - {None}
    }
    since = run[0]["answered_at"]
    return [
        {name: row[name] for name in ("member_id", "answered_at")}
        for row in named
        if (row["group_id"], row["member_id"]) in holders
        and row["error"] == "NONE"
        and since <= row["answered_at"] <= until
    ]


def _printed(events: Iterable[Row], group_id: str) -> Iterator[Row]:
    """What brokers printed of the session timeout of a consumer group."""
    for row in events:
        is_own, said = row["event"] == "group_settings", row["attributes"] or {}
        if row["event"] == "broker_settings" or (is_own and said["group_id"] == group_id):
            name = "consumer.session.timeout.ms" if is_own else "group.consumer.session.timeout.ms"
            yield {"logged_at": row["logged_at"], "is_own": is_own, "session_timeout_ms": said.get(name)}


def _taken_over(generations: Iterable[Row], first: float, until: float) -> set[tuple[int, int]]:
    """The generations that a coordinator merely took over in a stretch of time."""
    found = set()
    for row in generations:
        at = next((row[name] for name in ("completing_at", "stable_at", "emptied_at") if row[name] is not None), None)
        is_taken = row["trigger"] == "coordinator_failover" and row["preparing_at"] is None
        if is_taken and at is not None and first <= at <= until:
            found.add((row["life"], row["generation"]))
    return found


def _held(rows: Mapping[str, list[Row]], is_classic: bool) -> list[Row]:
    """Assignments of classic members, or of all others."""
    return [row for row in rows.get("assignments", ()) if (row["group_type"] == "classic") == is_classic]


def typed(row: Row, kind: str) -> Any:
    """A row as findings handle it."""
    known = {name: value for name, value in row.items() if value is not None}
    return msgspec.convert(known, KINDS[kind], strict=False, from_attributes=True)


def _at(row: Row) -> tuple[float] | None:
    """The moment of a rebalance, in a tuple: midnight is a moment as well."""
    at = rebalanced_at(row)
    return None if at is None else (at,)


def _named(row: Row) -> Row:
    return row if row.get("error") else {**row, "error": error_name(row["error_code"])}


def _around(rows: Iterable[Row], begin: str, end: str, since: float, until: float) -> list[Row]:
    return [
        row for row in rows if (row[begin] is None or row[begin] <= until) and (row[end] is None or row[end] >= since)
    ]
