"""What becomes of the share state of a share group's partitions, over time: rows of `gold.share_partitions`.

Before a partition is given to members, the coordinator has its share state made by another one, which keeps it; a group
without any new member can wait for that. Source: GroupMetadataManager.maybeCreateInitializeShareGroupStateRequest,
initializeShareGroupState, uninitializeShareGroupState, ShareGroupPartitionMetadata (4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from schemas.rows import SharePartitionRow
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.epochs.state import EpochState, ShareState
from transforms.coordinator.epochs.teller import Teller
from transforms.coordinator.modern.records import Record


def follow(
    state: EpochState,
    teller: Teller,
    protocol: EpochProtocol,
    group: Any,
    operation: Sequence[Record[Struct]],
    at: float,
) -> None:
    """Take note of what an operation says of share states, and tell of what was so before and is not any more.

    Args:
        state: the group; its share states are changed.
        teller: to tell.
        protocol: the protocol.
        group: the group after the operation.
        operation: the operation.
        at: when.
    """
    if not any(record.type_id == protocol.share_state_type for record in operation):
        return
    found = dict(protocol.share_states(group, {(each.topic, each.partition) for each in state.share_states}))
    kept = []
    for share in state.share_states:
        part = share.topic, share.partition
        if found.get(part) == share.state:
            del found[part]
            kept.append(share)
        else:
            _tell_ended(state, teller, share, at)
    state.share_states = kept + [ShareState(*part, word, at) for part, word in found.items()]


def end(state: EpochState, teller: Teller, at: float) -> None:
    """Tell of all, as the group is gone."""
    for share in state.share_states:
        _tell_ended(state, teller, share, at)
    state.share_states = []


def tell(state: EpochState, teller: Teller, share: ShareState, until: float | None) -> None:
    """Tell of what was so until a moment, or is still (None)."""
    row = SharePartitionRow(
        cluster=teller.cluster,
        group_id=teller.group_id,
        life=state.life,
        group_type=teller.group_type,
        topic=share.topic,
        partition=share.partition,
        state=share.state,
        from_at=int(share.since),
        to_at=None if until is None else int(until),
    )
    teller.sink.rows.share_partitions.append(teller.sink.stamped(row))


def _tell_ended(state: EpochState, teller: Teller, share: ShareState, at: float) -> None:
    if share.since < at:
        tell(state, teller, share, at)
