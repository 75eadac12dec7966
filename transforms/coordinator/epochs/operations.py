"""The records of one moment, operation by operation.

What one request or timer writes is appended at once, under one time; two of them in one millisecond are told apart by
the order in which every operation writes: who goes, who a member is, the epoch, the targets and their epoch, where a
member stands. A record that could not follow in one operation begins the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import MsgspecError, Struct

from schemas.rows import ModernGroupRecordRow
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.modern.records import CLASSIC_GROUP, Record, Types

AnyRecord = Record[Any]


def operations(records: Sequence[AnyRecord], types: Types, ranks: Mapping[int, int]) -> list[list[AnyRecord]]:
    """Return the operations that wrote some records.

    Args:
        records: the records, in the order of the log.
        types: numbers of the record types that all protocols have.
        ranks: place of further record types, between 1 (who a member is) and 7 (where it stands).
    """
    usual = {types.member: 1, types.epoch: 3, types.target: 5, types.target_epoch: 6, types.current: 7, **ranks}
    of_removals = {types.member, types.target, types.target_epoch, types.current}
    found: list[list[AnyRecord]] = []
    reached = 0
    for record in records:
        is_removal = record.value is None and record.type_id in of_removals
        rank = 0 if is_removal else usual.get(record.type_id, reached)
        is_next = rank < reached or (rank == reached and found and _is_of_another(record, found[-1], types))
        if not found or is_next or _is_removal(found[-1], types):
            found.append([])
        found[-1].append(record)
        reached = rank
    return found


def read_operations(
    protocol: EpochProtocol, rows: Iterable[ModernGroupRecordRow], is_conversion: bool = False
) -> list[list[Record[Struct]]]:
    """Read records that were written at one moment, operation by operation; what cannot be read says nothing.

    Args:
        protocol: whose records they are.
        rows: the records, in the order of the log.
        is_conversion: a record of the classic group that it was stands before them.
    """
    records: list[Record[Struct]] = [Record(CLASSIC_GROUP)] if is_conversion else []
    for row in rows:
        if row.body is None and not row.is_tombstone:
            continue
        name = row.member_id or row.regular_expression or ""
        with suppress(MsgspecError):  # a layout that is not known
            records.append(protocol.read(row.record_type, name, None if row.is_tombstone else row.body))
    return operations(records, protocol.types, protocol.ranks)


def _is_removal(operation: Sequence[AnyRecord], types: Types) -> bool:
    """Whether an operation has removed members and told the epoch: that is its last record, as it plans nothing."""
    last = operation[-1]
    is_bump = last.type_id == types.epoch and last.value is not None
    is_of_gone = operation[0].value is None and operation[0].type_id in (types.current, types.target, types.member)
    return is_bump and is_of_gone and not any(each.type_id == types.member and each.value for each in operation)


def _is_of_another(record: AnyRecord, operation: Sequence[AnyRecord], types: Types) -> bool:
    """Whether a record tells once more what an operation tells once; only a conversion tells of several members."""
    if record.value is None or record.type_id == types.target or operation[-1].type_id != record.type_id:
        return False
    is_told_once = record.type_id in types.numbers
    return is_told_once and operation[-1].value is not None and operation[0].type_id != CLASSIC_GROUP
