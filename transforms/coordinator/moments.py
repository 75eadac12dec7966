"""Records of groups of epochs, read moment by moment: those to come, and those that were taken a moment ago."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from schemas.rows import ModernGroupRecordRow
from transforms.coordinator.consumer.taking import protocol as consumer
from transforms.coordinator.epochs.nearby import Operation
from transforms.coordinator.epochs.operations import read_operations
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.share.taking import protocol as share
from transforms.coordinator.streams.taking import protocol as streams

PROTOCOLS: dict[str, EpochProtocol] = {
    each.group_type: each for each in (consumer.PROTOCOL, share.PROTOCOL, streams.PROTOCOL)
}
"""By type of the group."""

_TYPE_OF_RECORD = {number: each.group_type for each in PROTOCOLS.values() for number in each.type_ids}


class Ahead(Struct, frozen=True, gc=False):
    """Records of one moment: when they were written, and their operations by type of the group."""

    at: float
    is_conversion: bool
    operations: dict[str, list[Operation]]


def operations_of(moments: Iterable[Ahead], group_type: str) -> list[Operation]:
    """What was written at some moments of a group of one type, in order."""
    return [operation for each in moments for operation in each.operations.get(group_type, ())]


def read_moment(item: Item, rows: Sequence[ModernGroupRecordRow]) -> Ahead:
    """Read the records of one moment, each group's type for itself."""
    is_conversion = item.record is not None and item.record.record_offset < rows[0].record_offset
    by_type: dict[str, list[ModernGroupRecordRow]] = {}
    for row in rows:
        if row.record_type in _TYPE_OF_RECORD:
            by_type.setdefault(_TYPE_OF_RECORD[row.record_type], []).append(row)
    at = rows[0].recorded_at or 0.0
    operations = {
        name: [
            Operation(at, place, records)
            for place, records in enumerate(read_operations(PROTOCOLS[name], own, is_conversion))
        ]
        for name, own in by_type.items()
    }
    return Ahead(at, is_conversion, operations)
