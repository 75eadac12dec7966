"""Replays one group: rows of the silver tables in, rows of the gold tables out."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from transforms.coordinator.brokers import Brokers, coordinator_rows
from transforms.coordinator.client_rows import take_clients
from transforms.coordinator.evidence import MODERN_HEARTBEATS, Kind, Row, in_order
from transforms.coordinator.holds import HOLD_MS
from transforms.coordinator.machine import Machine
from transforms.coordinator.removals import Removals
from transforms.coordinator.replaying import Replay
from transforms.coordinator.tables import TableRows, rows_of
from transforms.coordinator.unnamed import name_joiners
from transforms.coordinator.walk import walk


def replay_group(
    cluster: str,
    group_id: str,
    records: Iterable[Row],
    events: Iterable[Row],
    requests: Iterable[Row],
    partition_count: int | None = None,
    partitions: Iterable[int] = (),
    client_events: Iterable[Row] = (),
) -> TableRows:
    """Replay one group; a pure function of its rows, in whatever order they come.

    Args:
        cluster: name of the cluster.
        group_id: the group.
        records: its rows of `silver.group_metadata`.
        events: its rows of `silver.coordinator_events`, and those of its coordinator as a whole (group_id null).
        requests: its rows of `silver.group_requests`.
        partition_count: partitions of `__consumer_offsets`; None = as the brokers printed it, else Kafka's default.
        partitions: partitions of `__consumer_offsets` that hold records of the group of whatever kind.
        client_events: its rows of `silver.client_events`.

    Returns:
        Rows by table (`schemas.tables.gold.REPLAYED`), times as epoch ms. A group that is not a classic one has a
        coordinator and what its clients say, and nothing else.
    """
    record_rows, event_rows, request_rows = list(records), list(events), list(requests)
    tables: TableRows = {}
    if is_classic(record_rows, request_rows):
        tables = rows_of(replay(group_id, record_rows, event_rows, request_rows))
    take_clients(tables, client_events)
    tables["coordinators"] = coordinator_rows(group_id, record_rows, event_rows, partitions, partition_count)
    for rows in tables.values():
        for row in rows:
            row["cluster"] = cluster
    return tables


def replay(group_id: str, records: list[Row], events: list[Row], requests: list[Row]) -> Replay:
    """Walk a classic group's evidence through the state machine."""
    brokers = Brokers.of(group_id, records, events, requests)
    course = Replay(Machine(group_id, brokers.settings), brokers, removals=Removals.of(group_id, events))
    course.is_absence_known = brokers.begins_empty
    # What the first request brings about can look a few ms older than it.
    course.heard_from = min((row["handled_at"] or row["answered_at"] for row in requests), default=inf) - HOLD_MS
    course.has_other_evidence = any(row["members"] for row in records) or any(
        row["group_id"] == group_id for row in events
    )
    items = in_order(records, events, requests)
    name_joiners([item.exchange for item in items if item.kind is Kind.REQUEST and item.exchange is not None], events)
    walk(course, items)
    return course


def is_classic(records: list[Row], requests: list[Row]) -> bool:
    """Whether a group speaks the classic protocol; one that only ever spoke a newer one does not."""
    apis = {row["api"] for row in requests}
    return not apis & MODERN_HEARTBEATS or "JoinGroup" in apis or any(row["members"] for row in records)
