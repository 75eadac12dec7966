"""What targets give to members, and nobody has although the group is Stable: rows of `gold.orphaned_partitions`.

Stable says that all members have got to the targets' epoch, and nothing of what they hold: a member takes of its target
only what it subscribes to, and the coordinator may look for the target of another. Whatever is left over nobody reads,
until the next bump. Source: CurrentAssignmentBuilder, ConsumerGroup.targetAssignment (4.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.rows import OrphanedPartitionRow
from transforms.coordinator.epochs.protocol import EpochProtocol, Glimpse, Part
from transforms.coordinator.epochs.state import EpochState, Orphan
from transforms.coordinator.epochs.teller import Teller

_ROLES = (None, "active")
"""Roles in which somebody has to have a partition or task, for it to be read."""


def follow(
    state: EpochState, teller: Teller, protocol: EpochProtocol, group: Any, seen: Mapping[str, Glimpse], at: float
) -> None:
    """Take note of what nobody has after an operation, and tell of what was so before and is not any more.

    Args:
        state: the group, with what everybody has after the operation.
        teller: to tell.
        protocol: the protocol.
        group: the group after the operation.
        seen: members that the operation is about, as they were before.
        at: when.
    """
    if not state.orphans and not _can_have_some(state):
        return
    found = _found(state, protocol, group)
    kept = []
    for orphan in state.orphans:
        if found.get(orphan.part) == (orphan.member_id, orphan.epoch):
            del found[orphan.part]
            kept.append(orphan)
        else:
            member = seen.get(orphan.member_id) or protocol.glimpse(group, orphan.member_id)
            _tell_ended(state, teller, orphan, member, at)
    state.orphans = kept + [Orphan(part, member_id, epoch, at) for part, (member_id, epoch) in found.items()]


def end(state: EpochState, teller: Teller, members: Mapping[str, Glimpse], at: float) -> None:
    """Tell of all, as the group is gone.

    Args:
        state: the group.
        teller: to tell.
        members: the members as they were.
        at: when.
    """
    for orphan in state.orphans:
        _tell_ended(state, teller, orphan, members.get(orphan.member_id), at)
    state.orphans = []


def _can_have_some(state: EpochState) -> bool:
    """Whether the group was Stable in its present epoch; not where targets were missed, and older ones stand."""
    return state.open is not None and state.open.stable_at is not None and state.are_targets_known is True


def _found(state: EpochState, protocol: EpochProtocol, group: Any) -> dict[Part, tuple[str, int]]:
    """Return what nobody has, with the member that is to have it, the first of several, and its epoch."""
    if not _can_have_some(state) or not protocol.is_settled(group):
        return {}
    held = {hold.part for of_member in state.holds.values() for hold in of_member}
    found: dict[Part, tuple[str, int]] = {}
    for member_id in sorted(group.members):
        for part in protocol.target(group, member_id):
            if part not in held and part[2] in _ROLES:
                found.setdefault(part, (member_id, group.epoch))
    return found


def _tell_ended(state: EpochState, teller: Teller, orphan: Orphan, member: Glimpse | None, at: float) -> None:
    if orphan.since < at:
        tell(state, teller, orphan, member, at)


def tell(state: EpochState, teller: Teller, orphan: Orphan, member: Glimpse | None, until: float | None) -> None:
    """Tell of what nobody had until a moment, or has still (None)."""
    topic, partition, _ = orphan.part
    row = OrphanedPartitionRow(
        cluster=teller.cluster,
        group_id=teller.group_id,
        life=state.life,
        group_type=teller.group_type,
        topic=teller.topic(topic),
        partition=partition,
        generation=orphan.epoch,
        member_id=orphan.member_id,
        group_instance_id=None if member is None else member.instance_id,
        client_id=None if member is None else member.client_id,
        client_host=None if member is None else member.client_host,
        from_at=int(orphan.since),
        to_at=None if until is None else int(until),
    )
    teller.sink.rows.orphaned_partitions.append(teller.sink.stamped(row))
