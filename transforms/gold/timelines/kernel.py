"""The grouped map in which groups are replayed: evidence of many groups in, their gold rows and snapshots out.

One call takes a bucket of groups, one after the other, each with its evidence in order of its moments, in batches: so a
group may be as large as it likes, and small ones cost no call of their own. What is done with the evidence is
`transforms.coordinator.batch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, isfinite
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from schemas.rows import (
    CoordinatorEventRow,
    GroupMetadataRow,
    GroupRequestRow,
    ModernGroupRecordRow,
    ReplaySnapshotRow,
)
from schemas.tables.gold import REPLAY_SNAPSHOTS
from transforms.coordinator.batch import Batch, Snapshot
from transforms.coordinator.evidence.sequence import EvidenceRow
from transforms.coordinator.fold import begin, load
from transforms.coordinator.rows.tables import Rows
from transforms.gold.timelines.columns import REPLAY, SUPERSEDED, TABLES, Part
from transforms.gold.timelines.evidence import GROUP, LINE, MODERN, PLACE, RECORD, REQUEST, STATE
from transforms.gold.timelines.snapshots import stops_between

BUCKETS = 256
"""Groups are replayed in this many calls, so that no task waits for one that has most of them."""

IN_ORDER = (*GROUP, "at")
"""Columns by which evidence is ordered: group by group, and of each by its moments."""

_REPLAYED = tuple(spec.name for spec in TABLES if spec is not REPLAY_SNAPSHOTS)

_ROWS_AT_ONCE = 60_000
"""Rows are handed on when there are so many: where many of a table lie together, a query for others leaves them out."""


class Replay(msgspec.Struct, frozen=True):
    """How groups are replayed.

    Attributes:
        horizon: moment before which evidence is final (epoch ms).
        partition_count: partitions of `__consumer_offsets`; None = as the brokers printed it.
        keeps_audit: give a row for every audited request, and not only for those that give reason to doubt.
        topic_names: names of topics by their ids, as far as they are known.
        records_until: newest record of any group that was read (epoch ms); infinite = it does not matter.
    """

    horizon: float
    partition_count: int | None = None
    keeps_audit: bool = True
    topic_names: dict[str, str] = {}
    records_until: float = inf


def replayed(evidence: DataFrame, how: Replay, partitions: int) -> DataFrame:
    """Replay groups.

    Args:
        evidence: EVIDENCE, as `transforms.gold.timelines.gathering` asks for it.
        how: how.
        partitions: tasks in which it is done.

    Returns:
        One struct column for each table, one of them filled in each row.
    """
    parted = evidence.withColumn("bucket", bucket(F.col("group_id"))).repartition(partitions, "bucket")
    ordered = parted.sortWithinPartitions("bucket", *IN_ORDER)
    return ordered.groupBy("bucket").applyInArrow(_bound(how), REPLAY.result_type)


def replayed_here(evidence: pa.Table, how: Replay) -> pa.Table:
    """Replay groups with little evidence in this process: none other has to be started for them.

    Args:
        evidence: as for `replayed`.
        how: how.

    Returns:
        As `replayed`.
    """
    ordered = evidence.sort_by([(name, "ascending") for name in IN_ORDER])
    schema = to_arrow_schema(REPLAY.result_type.toNullable())
    told = [batch.cast(schema) for batch in REPLAY.wide(replay_groups(iter(ordered.to_batches()), how))]
    return pa.Table.from_batches(told, schema)


def bucket(group_id: Column) -> Column:
    """Return the bucket of a group, from 0 to BUCKETS - 1."""
    return F.pmod(F.crc32(group_id.cast("binary")), F.lit(BUCKETS)).cast("int")


def _bound(how: Replay) -> Callable[..., Any]:
    def replay_bucket(batches_in: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return REPLAY.wide(replay_groups(batches_in, how))

    return replay_bucket


def replay_groups(evidence: Iterator[pa.RecordBatch], how: Replay) -> Iterator[Part]:
    """Replay groups, one after the other; a function of this module, so that workers import it and its decoders."""
    told = _Told()
    group: _Group | None = None
    for batch in evidence:
        columns = [batch.column(batch.schema.get_field_index(name)).to_pylist() for name in (*GROUP, "kind", "row")]
        for cluster, group_id, kind, row in zip(*columns, strict=True):
            if group is None or group.key != (cluster, group_id):
                if group is not None:
                    group.end(told)
                group = _Group((cluster, group_id), how)
            group.take(kind, row)
        if group is not None:
            group.hand_over(told)
        yield from told.if_many()
    if group is not None:
        group.end(told)
    yield from told.all()


class Superseded(msgspec.Struct, kw_only=True):
    """Key of a settled row of `member_sessions` in whose place another stands now."""

    cluster: str
    group_id: str
    life: int
    member_id: str
    settled_at: float


class _Told:
    """Rows on their way out."""

    def __init__(self) -> None:
        self._rows = Rows()
        self._superseded: list[Superseded] = []
        self._snapshots: list[ReplaySnapshotRow] = []

    def add(self, key: tuple[str, str], batch: Batch) -> None:
        self._rows.extend(batch.told())
        self._superseded += [
            Superseded(cluster=key[0], group_id=key[1], life=life, member_id=member_id, settled_at=settled_at)
            for life, member_id, settled_at in batch.superseded()
        ]

    def add_snapshot(self, key: tuple[str, str], snapshot: Snapshot) -> None:
        row = ReplaySnapshotRow(
            cluster=key[0],
            group_id=key[1],
            at=snapshot.at,
            version=snapshot.version,
            state=snapshot.state,
            size_bytes=len(snapshot.state),
            taken_until=_finite(snapshot.taken_until),
            seen_until=_finite(snapshot.seen_until),
            awaits_records=snapshot.awaits_records,
        )
        self._snapshots.append(row)

    def if_many(self) -> Iterator[Part]:
        if sum(len(getattr(self._rows, name)) for name in _REPLAYED) >= _ROWS_AT_ONCE:
            yield from self.all()

    def all(self) -> Iterator[Part]:
        parts: dict[str, Any] = {name: getattr(self._rows, name) for name in _REPLAYED}
        parts |= {REPLAY_SNAPSHOTS.name: self._snapshots, SUPERSEDED: self._superseded}
        self._rows, self._snapshots, self._superseded = Rows(), [], []
        yield from REPLAY.batches(parts)


def _finite(at: float) -> float | None:
    return at if isfinite(at) else None


class _Group:
    """One group's batch under way; what it begins with comes first."""

    def __init__(self, key: tuple[str, str], how: Replay) -> None:
        self.key = key
        self._how = how
        self._state: bytes | None = None
        self._places: list[int] = []
        self._batch: Batch | None = None
        self._rows: list[EvidenceRow] = []

    def take(self, kind: str, row: bytes) -> None:
        if kind == STATE:
            self._state = row
        elif kind == PLACE:
            self._places.append(int(row))
        else:
            self._rows.append(_DECODERS[kind].decode(row))

    def hand_over(self, told: _Told) -> None:
        """Take in what has come, and tell what has come of it.

        A batch of rows may end amid what a group begins with: its state may be in the next.
        """
        if not self._rows:
            return
        batch = self._begun()
        batch.add(self._rows)
        self._rows = []
        told.add(self.key, batch)

    def end(self, told: _Told) -> None:
        batch = self._begun()
        batch.add(self._rows)
        for snapshot in batch.end():
            if isfinite(snapshot.at):
                told.add_snapshot(self.key, snapshot)
        told.add(self.key, batch)

    def _begun(self) -> Batch:
        if self._batch is None:
            how = self._how
            state = begin(*self.key, how.partition_count) if self._state is None else load(self._state)
            stops = stops_between(state.connections.until, how.horizon)
            told = (how.keeps_audit, how.topic_names, stops, how.records_until)
            self._batch = Batch(state, how.horizon, self._places, *told)
        return self._batch


_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    RECORD: msgspec.json.Decoder(GroupMetadataRow),
    MODERN: msgspec.json.Decoder(ModernGroupRecordRow),
    LINE: msgspec.json.Decoder(CoordinatorEventRow),
    REQUEST: msgspec.json.Decoder(GroupRequestRow),
}
