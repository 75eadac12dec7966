"""Rows of `gold.coordinators`: who coordinated a group when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from schemas.rows import CoordinatorEventRow, CoordinatorRow
from transforms.coordinator.evidence.ownership import BROKER_LIFE, ENDS_A_REIGN
from transforms.coordinator.kafka.java_hashing import offsets_partition
from transforms.coordinator.rows.tables import whole

DEFAULT_PARTITION_COUNT = 50
"""offsets.topic.num.partitions unless set otherwise."""


class Reign(Struct, array_like=True):
    """A stretch of time in which a broker held a partition, from its load until it gave it up."""

    broker: str
    epoch: int | None
    from_at: float
    to_at: float | None = None


class Reigns(Struct, array_like=True):
    """Who held the partitions that a group was seen in, or should be in.

    Attributes:
        by_partition: reigns that were not told of yet, in order of time.
        told: partitions of which some were.
        observed: partitions that the group was seen in.
        partition_count: partitions of `__consumer_offsets` as a broker printed it.
    """

    by_partition: dict[int, list[Reign]] = field(default_factory=dict)
    told: set[int] = field(default_factory=set)
    observed: set[int] = field(default_factory=set)
    partition_count: int | None = None

    def notice(self, row: CoordinatorEventRow) -> None:
        """Take a line of a broker's log, in order of time.

        A broker that died says nothing any more: its time is up when the partition is loaded by the next.
        """
        partition, at = row.topic_partition_of_group, row.logged_at or 0.0
        if row.group_id is not None:
            if partition is not None:
                self.observed.add(partition)
            return
        if row.event == "broker_settings":
            text = (row.attributes or {}).get("offsets.topic.num.partitions", "")
            self.partition_count = int(text) if text.isdigit() else self.partition_count
        elif row.event in BROKER_LIFE:
            for reigns in self.by_partition.values():
                self._end(reigns, row.broker, at)
        elif partition is not None and row.event == "load_finished":
            reigns = self.by_partition.setdefault(partition, [])
            if reigns:
                self._end(reigns, reigns[-1].broker, at)
            epoch = (row.attributes or {}).get("epoch", "")
            reigns.append(Reign(row.broker, int(epoch) if epoch.isdigit() else None, at))
        elif partition is not None and row.event in ENDS_A_REIGN:
            self._end(self.by_partition.get(partition, []), row.broker, at)

    def _end(self, reigns: list[Reign], broker: str, at: float) -> None:
        if reigns and reigns[-1].to_at is None and reigns[-1].broker == broker:
            reigns[-1].to_at = at

    def settled(self, place: Place) -> Iterator[CoordinatorRow]:
        """Yield the reigns that are over, of partitions that the group was seen in, and let go of them."""
        for partition in sorted(self.observed):
            over = [reign for reign in self.by_partition.get(partition, ()) if reign.to_at is not None]
            if over:
                self.told.add(partition)
                self.by_partition[partition] = [reign for reign in self.by_partition[partition] if reign.to_at is None]
            yield from (place.row(partition, reign, self.partition_count) for reign in over)

    def open(self, place: Place) -> Iterator[CoordinatorRow]:
        """Yield the reigns that are not told of yet; a group of whose coordinators nothing is known has a row too."""
        partitions: Iterable[int | None] = sorted(self.observed) or (None,)
        for partition in partitions:
            sought = place.computed(self.partition_count) if partition is None else partition
            reigns = self.by_partition.get(sought, [])
            if not reigns and sought not in self.told:
                yield place.row(partition, None, self.partition_count)
            yield from (place.row(partition, reign, self.partition_count) for reign in reigns)


class Place(Struct, frozen=True, array_like=True):
    """A group, and the partitions of `__consumer_offsets`; None = as many as a broker prints, else the default."""

    cluster: str
    group_id: str
    partition_count: int | None

    def computed(self, printed: int | None) -> int:
        """Return the partition that the group should live in."""
        return offsets_partition(self.group_id, self.partition_count or printed or DEFAULT_PARTITION_COUNT)

    def row(self, partition: int | None, reign: Reign | None, printed: int | None) -> CoordinatorRow:
        """Row of one reign; None = nothing is known of any."""
        computed = self.computed(printed)
        return CoordinatorRow(
            cluster=self.cluster,
            group_id=self.group_id,
            observed_partition=partition,
            computed_partition=computed,
            agrees=None if partition is None else partition == computed,
            broker=None if reign is None else reign.broker,
            epoch=None if reign is None else reign.epoch,
            from_at=None if reign is None else whole(reign.from_at),
            to_at=None if reign is None else whole(reign.to_at),
        )
