"""Plays groups by seed, and finds in them what the product finds, at several depths of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from msgspec import convert
from msgspec.structs import asdict

from tests.support.incidents.ordinary import calm
from tests.support.incidents.paper import PARTITION_COUNT, Row
from tests.support.incidents.plots import KINDS
from tests.support.incidents.service import Group
from tests.unit.findings import pure
from transforms.coordinator.replay import replay_group
from transforms.findings.client_refusals import ClientLine, refusals
from transforms.findings.client_starts import returns
from transforms.findings.storms.limits import Thresholds

BEGIN = 1_800_000_000_000.0
"""First moment of every world."""

DEPTHS = {
    "all": ("records", "events", "requests"),
    "lines and clients": ("records", "events", "client_events"),
    "lines": ("records", "events"),
    "records": ("records",),
}
"""What there is of a group: the records and the brokers' INFO lines with the request log, with the clients' logs, or
alone; or the records alone."""

GAP_MS, MIN_ERRORS = 30_000, 5
"""Defaults of `bursts.gap_ms` and `bursts.min_errors`."""


@dataclass(frozen=True)
class Found:
    """What was found in one group: storms by pattern, with their severity and culprit, and causes of bursts."""

    storms: list[tuple[str, str, str | None]]
    causes: list[str]

    @property
    def names(self) -> set[str]:
        """Patterns and causes."""
        return {pattern for pattern, _, _ in self.storms} | set(self.causes)


def play(kind: str, number: int, seed: int) -> Group:
    """Play one group to its end; half of them ran long before the data begins."""
    random = Random(f"{seed}/{kind}/{number}")
    plot = KINDS.get(kind, calm)
    group = plot(number, random, BEGIN)
    group.world.run(group.until)
    if random.random() < 0.5:
        _cut(group, BEGIN + 45_000, random.uniform(1, 72) * 3_600_000)
    return group


def _cut(group: Group, since: float, ago_ms: float) -> None:
    """Take away what is older than the data; of the records compaction has left the last, written long ago."""
    paper = group.world.paper
    old = [row for row in paper.records if row["recorded_at"] < since][-1:]
    for row in old:
        row["recorded_at"] -= int(ago_ms)
        row["state_changed_at"] -= int(ago_ms)
    paper.records = old + [row for row in paper.records if row["recorded_at"] >= since]
    paper.events = [row for row in paper.events if row["logged_at"] >= since]
    paper.requests = [row for row in paper.requests if row["answered_at"] >= since]
    paper.client_events = [row for row in paper.client_events if row["logged_at"] >= since]
    group.world.rebalances = [at for at in group.world.rebalances if at >= since]


def find(group: Group, depth: str) -> Found:
    """Replay a group by the evidence of a depth, and judge it by the default thresholds."""
    tables = tables_of(group, depth)
    if "client_events" in DEPTHS[depth]:
        tables["group_requests"] = _told_by_clients(group)
    tables["group_requests"] = _with_lines_of_brokers(group, tables, depth)
    storms = pure.storms(tables, Thresholds(), group.until)
    bursts = pure.bursts(tables, GAP_MS, MIN_ERRORS, group.until)
    return Found(
        [(row["pattern"], row["severity"], row["main_client_id"]) for row in storms],
        [row["suspected_cause"] for row in bursts],
    )


def tables_of(group: Group, depth: str) -> dict[str, list[Row]]:
    """Return the tables of the replay, and the requests where they are known."""
    paper, has = group.world.paper, DEPTHS[depth]
    evidence = (getattr(paper, name) if name in has else [] for name in ("records", "events", "requests"))
    gold: dict[str, Any] = replay_group(
        "demo",
        paper.group_id,
        *evidence,
        PARTITION_COUNT,
        [paper.partition],
        paper.client_events if "client_events" in has else (),
    )
    requests = paper.requests if "requests" in has else []
    return {**gold, "group_requests": requests, "offset_commits": []}


def _with_lines_of_brokers(group: Group, tables: dict[str, list[Row]], depth: str) -> list[Row]:
    events = group.world.paper.events if "events" in DEPTHS[depth] else []
    return pure.with_broker_refusals(tables["group_requests"], events, tables["member_sessions"], GAP_MS)


def _told_by_clients(group: Group) -> list[Row]:
    by_file: dict[str, list[ClientLine]] = {}
    names = ClientLine.__struct_fields__
    for row in group.world.paper.client_events:
        line = convert({name: row[name] for name in names}, ClientLine)
        by_file.setdefault(row["source_file"], []).append(line)
    told = [one for lines in by_file.values() for one in (*refusals(lines), *returns(lines))]
    blank = dict.fromkeys(("client_host", "group_instance_id", "sent_offsets", "partition_errors", "connection"))
    return [{**blank, "cluster": "demo", "evidence": "client_log", **asdict(one)} for one in told]
