"""Who has which partition, from when to when: rows of `gold.assignments`.

A row is of one epoch of the member: a member that goes on to the next with what it has gets a new row.
"""

from __future__ import annotations

from schemas.rows import AssignmentRow
from transforms.coordinator.epochs.protocol import Glimpse, Part
from transforms.coordinator.epochs.state import EpochState, Hold
from transforms.coordinator.epochs.teller import Teller

OWNED, REVOKING = "owned", "revoking"


def follow(
    state: EpochState, teller: Teller, member_id: str, seen: Glimpse | None, now: Glimpse | None, at: float
) -> None:
    """Take note of what a member has after an operation, and tell of what it had before.

    Args:
        state: the group; what the member has is changed.
        teller: to tell.
        member_id: the member.
        seen: as it was before; None = it was not there.
        now: as it is; None = it is gone.
        at: when.
    """
    has = _had_by(now)
    # Who left for a while keeps what it has, and so does who takes its own place again, with epoch 0 at first.
    epoch = None if now is None or now.epoch <= 0 else now.epoch
    kept: list[Hold] = []
    for hold in state.holds.pop(member_id, ()):
        is_had = (hold.part, hold.how) in has
        # 3.7 lets a member keep in the same epoch what it was to give up: that it still has it is all that is told.
        is_given_back = hold.how == REVOKING and hold.epoch == epoch and (hold.part, OWNED) in has
        if is_given_back or (is_had and epoch in (None, hold.epoch)):
            del has[hold.part, OWNED if is_given_back else hold.how]
            kept.append(hold)
            continue
        if hold.since < at:
            tell(state, teller, member_id, hold, seen or now, at)
    kept += [Hold(part, how, epoch or 0, at) for part, how in has]
    if kept:
        state.holds[member_id] = kept


def _had_by(member: Glimpse | None) -> dict[tuple[Part, str], None]:
    if member is None:
        return {}
    owned = dict.fromkeys((part, OWNED) for part in member.owned)
    return owned | dict.fromkeys((part, REVOKING) for part in member.revoking)


def tell(
    state: EpochState, teller: Teller, member_id: str, hold: Hold, member: Glimpse | None, until: float | None
) -> None:
    """Tell of what a member had until a moment, or has still (None)."""
    topic, partition, role = hold.part
    row = AssignmentRow(
        cluster=teller.cluster,
        group_id=teller.group_id,
        life=state.life,
        generation=hold.epoch,
        member_id=member_id,
        topic=teller.topic(topic),
        partition=partition,
        hold=hold.how,
        group_type=teller.group_type,
        role=role,
        group_instance_id=None if member is None else member.instance_id,
        client_id=None if member is None else member.client_id,
        client_host=None if member is None else member.client_host,
        valid_from=int(hold.since),
        valid_to=None if until is None else int(until),
    )
    teller.sink.rows.assignments.append(teller.sink.stamped(row))


def holders_of(state: EpochState, parts: tuple[Part, ...], but: str) -> set[str]:
    """Return the members that have some of these partitions, or did not give them back yet, but one."""
    sought = {(topic, partition) for topic, partition, _ in parts}
    return {
        member_id
        for member_id, holds in state.holds.items()
        if member_id != but and any(hold.part[:2] in sought for hold in holds)
    }
