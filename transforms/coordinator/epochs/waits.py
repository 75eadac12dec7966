"""Who is to give partitions up, waits for some, and for whom, or is away: rows of `gold.reconciliations`."""

from __future__ import annotations

from schemas.rows import ReconciliationRow
from schemas.words import AWAY
from transforms.coordinator.epochs.holds import holders_of
from transforms.coordinator.epochs.protocol import Glimpse, Part
from transforms.coordinator.epochs.state import EpochState, Wait
from transforms.coordinator.epochs.teller import Teller


def follow(
    state: EpochState,
    teller: Teller,
    seen: Glimpse | None,
    now: Glimpse | None,
    target: tuple[Part, ...],
    at: float,
) -> None:
    """Take note of what a member is about after an operation, and tell of what it was about before.

    Args:
        state: the group, with what everybody has after the operation.
        teller: to tell.
        seen: the member as it was before; None = it was not there.
        now: as it is; None = it is gone.
        target: what it is to have.
        at: when.
    """
    member = now or seen
    if member is None:
        return
    wait = state.waits.get(member.member_id)
    parts = () if now is None or now.state is None else _parts(now, target)
    goes_on = wait is not None and now is not None and wait.state == now.state and _is_same(wait, now, parts)
    if wait is not None and not goes_on:
        del state.waits[member.member_id]
        tell(state, teller, wait, seen or member, at, None if now is None else now.epoch)
        wait = None
    if now is None or now.state is None:
        return
    if wait is None:
        state.wait_count += 1
        wait = state.waits[member.member_id] = Wait(state.wait_count, now.state, now.epoch, at, parts)
    if not now.revoking and now.state != AWAY:
        wait.holders |= holders_of(state, parts, now.member_id)


def _parts(member: Glimpse, target: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return what a member is to give up, else what it is to have and has not; of one that is away, what it keeps."""
    if member.state == AWAY:
        return member.owned
    if member.revoking:
        return member.revoking
    owned = set(member.owned)
    return tuple(part for part in target if part not in owned)


def _is_same(wait: Wait, now: Glimpse, parts: tuple[Part, ...]) -> bool:
    """Whether a member is about the same still: of what it waits for, some may have come."""
    return set(parts) == set(wait.parts) if now.revoking else now.epoch == wait.epoch


def tell(
    state: EpochState, teller: Teller, wait: Wait, member: Glimpse, until: float | None, epoch: int | None
) -> None:
    """Tell what a member was about until a moment, or is still (None)."""
    row = ReconciliationRow(
        cluster=teller.cluster,
        group_id=teller.group_id,
        life=state.life,
        member_id=member.member_id,
        seq=wait.seq,
        group_type=teller.group_type,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        state=wait.state,
        from_epoch=wait.epoch,
        to_epoch=epoch,
        from_at=int(wait.since),
        to_at=None if until is None else int(until),
        partitions=teller.partitions(wait.parts),
        waits_for_member_ids=sorted(wait.holders),
    )
    teller.sink.rows.reconciliations.append(teller.sink.stamped(row))
