"""Replays one group: rows of the silver tables in, rows of the gold tables out."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from transforms.coordinator.brokers import Brokers, coordinator_rows
from transforms.coordinator.evidence import MODERN_HEARTBEATS, Row, in_order
from transforms.coordinator.machine import Machine
from transforms.coordinator.tables import TableRows, rows_of
from transforms.coordinator.walk import Replay


def replay_group(
    cluster: str,
    group_id: str,
    records: Iterable[Row],
    events: Iterable[Row],
    requests: Iterable[Row],
    partition_count: int | None = None,
    partitions: Iterable[int] = (),
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

    Returns:
        Rows by table (`schemas.tables.gold.REPLAYED`), times as epoch ms. A group that is not a classic one has a
        coordinator, and nothing else.
    """
    record_rows, event_rows, request_rows = list(records), list(events), list(requests)
    tables: TableRows = {}
    if is_classic(record_rows, request_rows):
        tables = rows_of(replay(group_id, record_rows, event_rows, request_rows))
    tables["coordinators"] = coordinator_rows(group_id, record_rows, event_rows, partitions, partition_count)
    for rows in tables.values():
        for row in rows:
            row["cluster"] = cluster
    return tables


def replay(group_id: str, records: list[Row], events: list[Row], requests: list[Row]) -> Replay:
    """Walk a classic group's evidence through the state machine."""
    brokers = Brokers.of(group_id, records, events, requests)
    walk = Replay(Machine(group_id, brokers.settings), brokers)
    walk.heard_from = min((row["handled_at"] or row["answered_at"] for row in requests), default=inf)
    walk.has_other_evidence = any(row["members"] for row in records) or any(
        row["group_id"] == group_id for row in events
    )
    walk.run(in_order(records, events, requests))
    return walk


def is_classic(records: list[Row], requests: list[Row]) -> bool:
    """Whether a group speaks the classic protocol; one that only ever spoke a newer one does not."""
    apis = {row["api"] for row in requests}
    return not apis & MODERN_HEARTBEATS or "JoinGroup" in apis or any(row["members"] for row in records)
