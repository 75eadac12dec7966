"""Epochs of a group and who was in them: rows of `gold.generations` and `gold.generation_members`."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.rows import GenerationMemberRow, GenerationRow
from transforms.coordinator.epochs.protocol import Glimpse, Part
from transforms.coordinator.epochs.state import EpochState, OpenEpoch
from transforms.coordinator.epochs.teller import Teller
from transforms.coordinator.rows.tables import whole

Members = Mapping[str, Glimpse]
Targets = Mapping[str, tuple[Part, ...]]
Owners = dict[tuple[str, int], set[tuple[str | None, ...]]]


def superseded(state: EpochState, teller: Teller, members: Members, targets: Targets, at: float) -> None:
    """Tell of the present epoch, which ended.

    The row of one that began a rebalance waits until that is over, for only then its bumps are counted.

    Args:
        state: the group.
        teller: to tell.
        members: who was in it when it ended.
        targets: what each was to have.
        at: when it ended.
    """
    opened = state.open
    if opened is None:
        return
    tell_members(state, teller, opened, members, targets)
    row = generation_row(state, teller, opened, members, at, is_over=True)
    state.last_epoch = opened.epoch
    if opened.stable_at is not None:
        state.stable_members = {name: member.topics for name, member in members.items()}
    if opened.bump_count is None:
        state.began = row
    else:
        row.bump_count = opened.bump_count
        teller.sink.rows.generations.append(teller.sink.stamped(row))
    state.open = None


def settled(state: EpochState, teller: Teller) -> None:
    """Take note that no rebalance is under way any more, and tell of the epoch that began it."""
    if state.open is not None and state.open.bump_count is None:
        state.open.bump_count = state.bumps
    if state.began is not None:
        tell_began(state, teller)
        state.began = None
    state.bumps = 0


def tell_began(state: EpochState, teller: Teller) -> None:
    """Tell of the epoch that began the rebalance under way, if that was superseded."""
    row = state.began
    if row is not None:
        row.bump_count = state.bumps
        row.preparing_at, row.completing_at = whole(row.preparing_at), whole(row.completing_at)
        row.ended_at = whole(row.ended_at)  # a state that was put down has them as floats
        teller.sink.rows.generations.append(teller.sink.stamped(row))


def tell_open(state: EpochState, teller: Teller, members: Members, targets: Targets) -> None:
    """Tell of what is not over, as far as it has come."""
    tell_began(state, teller)
    opened = state.open
    if opened is None:
        return
    tell_members(state, teller, opened, members, targets)
    row = generation_row(state, teller, opened, members, None, is_over=False)
    row.bump_count = state.bumps if opened.bump_count is None else opened.bump_count
    teller.sink.rows.generations.append(teller.sink.stamped(row))


# --- gold.generations ----------------------------------------------------------------------------------------------


def generation_row(
    state: EpochState, teller: Teller, opened: OpenEpoch, members: Members, ended_at: float | None, is_over: bool
) -> GenerationRow:
    """Return the row of an epoch, but for its count of bumps."""
    began, reached = opened.preparing_at, opened.stable_at if opened.stable_at is not None else opened.emptied_at
    outcome = _outcome(opened, is_over)
    is_known = state.stable_members is not None or state.is_from_start
    before = state.stable_members or {}
    both = [(member.topics, before[name]) for name, member in members.items() if name in before]
    return GenerationRow(
        cluster=teller.cluster,
        group_id=teller.group_id,
        life=state.life,
        generation=opened.epoch,
        group_type=teller.group_type,
        protocol_type=teller.group_type,
        protocol=opened.protocol,
        preparing_at=whole(began),
        completing_at=whole(opened.completing_at),
        stable_at=whole(opened.stable_at),
        emptied_at=whole(opened.emptied_at),
        ended_at=whole(ended_at),
        outcome=outcome,
        rebalance_ms=None if began is None or reached is None else int(reached) - int(began),
        trigger=opened.trigger,
        trigger_member_id=opened.member_id,
        trigger_client_id=opened.client_id,
        trigger_client_host=opened.client_host,
        reason=opened.reason,
        client_reason=opened.client_reason,
        is_subscription_changed=any(now != then for now, then in both) if is_known and before else None,
        member_count=len(members),
        joined_member_ids=sorted(members.keys() - before.keys()) if is_known else None,
        departed_member_ids=sorted(before.keys() - members.keys()) if is_known else None,
        partitions_total=0 if outcome == "empty" else opened.partitions_total,
        partitions_moved=opened.partitions_moved,
        assignor=opened.assignor,
        evidence=["offsets", "broker_log"] if opened.is_logged else ["offsets"],
        is_inferred=opened.is_inferred,
        missing_before=opened.missing_before,
    )


def _outcome(opened: OpenEpoch, is_over: bool) -> str | None:
    if opened.emptied_at is not None:
        return "empty"
    if opened.stable_at is not None:
        return "stable"
    return "abandoned" if is_over else None


# --- gold.generation_members ---------------------------------------------------------------------------------------


def tell_members(state: EpochState, teller: Teller, opened: OpenEpoch, members: Members, targets: Targets) -> None:
    """Tell of those who were in an epoch."""
    for member in members.values():
        is_known = opened.completing_at is not None
        row = GenerationMemberRow(
            cluster=teller.cluster,
            group_id=teller.group_id,
            life=state.life,
            generation=opened.epoch,
            member_id=member.member_id,
            group_type=teller.group_type,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            topics=None if member.topics is None else list(member.topics),
            session_timeout_ms=member.session_timeout_ms,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            partitions_assigned=len(targets.get(member.member_id, ())) if is_known else None,
            joined_at=whole(state.joined_at.get(member.member_id)),
            told_at=whole(opened.told.get(member.member_id)),
            replaces_member_id=opened.replaced.get(member.member_id),
            member_epoch=member.epoch,
            member_protocol=member.protocol,
            subscribed_regex=member.regex,
            rack_id=member.rack_id,
            topology_epoch=member.topology_epoch,
            process_id=member.process_id,
            user_endpoint=member.user_endpoint,
            client_tags=None if member.client_tags is None else dict(member.client_tags),
            changed_at=whole(opened.changed.get(member.member_id)),
        )
        teller.sink.rows.generation_members.append(teller.sink.stamped(row))


# --- the targets ---------------------------------------------------------------------------------------------------


def owners_of(members: Members, targets: Targets) -> Owners:
    """Return who is to have each partition, or task; several in a share group, and the standbys of a task."""
    owners: Owners = {}
    for name, parts in targets.items():
        member = members.get(name)
        for topic, partition, _ in parts:
            owners.setdefault((topic, partition), set()).add((None,) if member is None else member.owner)
    return owners


def take_target(state: EpochState, before: Owners, after: Owners, at: float) -> None:
    """Take note of the targets of the present epoch.

    Args:
        state: the group.
        before: who was to have what, before the targets were computed, but for those who had gone by then.
        after: who is to have what.
        at: when.
    """
    for owner, parts in state.gone_targets:
        for topic, partition, _ in parts:
            before.setdefault((topic, partition), set()).add(owner)
    opened = state.open
    if opened is not None:
        opened.completing_at = at if opened.completing_at is None else opened.completing_at
        opened.partitions_total = len(after)
        if state.has_target:
            opened.partitions_moved = sum(before.get(key) != after.get(key) for key in before.keys() | after.keys())
    state.gone_targets, state.has_target = [], True
