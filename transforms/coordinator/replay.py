"""Replays one group at one go: rows of the silver tables in, rows of the gold tables out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from schemas.rows import (
    ClientEventRow,
    CoordinatorEventRow,
    GroupMetadataRow,
    GroupRequestRow,
    ModernGroupRecordRow,
)
from transforms.coordinator.evidence.sequence import in_order
from transforms.coordinator.fold import advance, begin, finish
from transforms.coordinator.rows.clients import take_clients
from transforms.coordinator.rows.tables import Rows

Row = Mapping[str, Any]
TableRows = dict[str, list[dict[str, Any]]]
RowType = TypeVar("RowType")


def replay_group(
    cluster: str,
    group_id: str,
    records: Iterable[Row],
    events: Iterable[Row],
    requests: Iterable[Row],
    partition_count: int | None = None,
    partitions: Iterable[int] = (),
    client_events: Iterable[Row] = (),
    modern_records: Iterable[Row] = (),
    topic_names: Mapping[str, str] | None = None,
) -> TableRows:
    """Replay one group; a pure function of its rows, in whatever order they come.

    Args:
        cluster: name of the cluster.
        group_id: the group.
        records: its rows of `silver.group_metadata`, times as epoch ms.
        events: its rows of `silver.coordinator_events`, and those of its coordinator as a whole (group_id null).
        requests: its rows of `silver.group_requests`.
        partition_count: partitions of `__consumer_offsets`; None = as the brokers printed it, else Kafka's default.
        partitions: partitions of `__consumer_offsets` that hold records of the group of whatever kind.
        client_events: its rows of `silver.client_events`.
        modern_records: its rows of `silver.modern_group_records`.
        topic_names: names of topics by their ids, as far as they are known.

    Returns:
        Rows by table (`schemas.tables.gold.REPLAYED`), times as epoch ms.
    """
    of_classic, lines, asked = typed_evidence(records, events, requests)
    stored: list[GroupMetadataRow | ModernGroupRecordRow] = [*of_classic, *typed_records(modern_records)]
    rows = replay(cluster, group_id, stored, lines, asked, partition_count, partitions, topic_names)
    take_clients(rows, cluster, typed(client_events, ClientEventRow))
    return {table: [msgspec.structs.asdict(row) for row in getattr(rows, table)] for table in Rows.__struct_fields__}


def replay(
    cluster: str,
    group_id: str,
    records: Iterable[GroupMetadataRow | ModernGroupRecordRow],
    events: Iterable[CoordinatorEventRow],
    requests: Iterable[GroupRequestRow],
    partition_count: int | None = None,
    partitions: Iterable[int] = (),
    topic_names: Mapping[str, str] | None = None,
) -> Rows:
    """Replay one group's whole evidence."""
    state = begin(cluster, group_id, partition_count)
    evidence = in_order(state.connections, records, events, requests)
    state, rows = advance(state, evidence, partitions, topic_names=topic_names)
    rows.extend(finish(state, topic_names=topic_names))
    rows.member_sessions = list({(row.life, row.member_id, row.stay): row for row in rows.member_sessions}.values())
    return rows


def typed_evidence(
    records: Iterable[Row], events: Iterable[Row], requests: Iterable[Row]
) -> tuple[list[GroupMetadataRow], list[CoordinatorEventRow], list[GroupRequestRow]]:
    """Return rows of the silver tables as the replay handles them; arguments as for `replay_group`."""
    return typed(records, GroupMetadataRow), typed(events, CoordinatorEventRow), typed(requests, GroupRequestRow)


def typed_records(rows: Iterable[Row]) -> list[ModernGroupRecordRow]:
    """Return rows of `silver.modern_group_records` as the replay handles them."""
    return typed(rows, ModernGroupRecordRow)


def typed(rows: Iterable[Row], row_type: type[RowType]) -> list[RowType]:
    """Return rows as typed structs; columns that these do not have are passed over."""
    names = row_type.__struct_fields__  # type: ignore[attr-defined]
    return [msgspec.convert({name: row.get(name) for name in names}, row_type) for row in rows]
