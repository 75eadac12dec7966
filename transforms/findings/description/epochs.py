"""Where a group of epochs stood at one moment: consumer (KIP-848), share and streams groups as brokers describe them.

A broker answers ConsumerGroupDescribe, ShareGroupDescribe and StreamsGroupDescribe from what it holds in memory. Here
the same is read off rows of gold, of one life of one group, and what they cannot tell is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct

from schemas.rows import AssignmentRow, GenerationMemberRow, GenerationRow, ReconciliationRow
from schemas.words import AWAY as LEFT
from transforms.findings.description.standing import AWAY, GIVES_UP, Epochs, Member, Part, Subscription, Wait
from transforms.findings.evidence import dated_at

_REVOKING = "revoking"

_Told = Mapping[tuple[int, str], GenerationMemberRow]


class Rows(Struct, kw_only=True, frozen=True):
    """Rows of one life of a group; those that do not matter at the moment may be among them.

    Attributes:
        members: those of `Epochs.told_of`.
        assignments: those in force at the moment, and all of the assignment epoch.
        reconciliations: likewise.
        targets: by member, what the newest record of its target has, where records are at hand.
    """

    members: Sequence[GenerationMemberRow] = ()
    assignments: Sequence[AssignmentRow] = ()
    reconciliations: Sequence[ReconciliationRow] = ()
    targets: Mapping[str, tuple[Part, ...]] = {}


def epochs_at(generations: Iterable[GenerationRow], at: float) -> Epochs | None:
    """Return how far a group's epochs have come.

    Args:
        generations: of one life; those up to the moment from the assignment epoch on, and the one before, at least.
        at: the moment (epoch ms).

    Returns:
        None if the group has no epoch by then.
    """
    begun = sorted((row for row in generations if _is_by(dated_at(row), at)), key=attrgetter("generation"))
    if not begun:
        return None
    group_epoch, before = begun[-1].generation, begun[-2].generation if len(begun) > 1 else None
    planned = [row for row in begun if _is_by(row.completing_at, at)]
    if not planned:
        return Epochs(group_epoch, before=before)
    newest = planned[-1]
    is_reached = _is_by(newest.stable_at, at)
    return Epochs(group_epoch, newest.generation, newest.completing_at, newest.protocol, before, is_reached)


def members_at(rows: Rows, epochs: Epochs, names: Iterable[str], at: float) -> dict[str, Member]:
    """Return where each member stood.

    Args:
        rows: what is known of the life.
        epochs: as `epochs_at` has them.
        names: ids of the members that were there.
        at: the moment (epoch ms).
    """
    held = [row for row in rows.assignments if _covers(row.valid_from, row.valid_to, at)]
    waits = {row.member_id: row for row in rows.reconciliations if _covers(row.from_at, row.to_at, at)}
    told = {(row.generation, row.member_id): row for row in rows.members}
    found = {}
    for name in names:
        mine = [row for row in held if row.member_id == name]
        epoch = _epoch(told, epochs, name, (mine, waits.get(name)), at)
        row = told.get((epochs.assignment_epoch, name))
        count = None if row is None else row.partitions_assigned
        found[name] = Member(
            epoch=epoch,
            owned=_owned(mine),
            revoking=_parts(row for row in mine if row.hold == _REVOKING),
            target_count=count,
            target=_target(rows, epochs, name, count, waits.get(name), mine),
            wait=_wait(waits[name], mine, held) if name in waits and waits[name].state != LEFT else None,
            subscription=_subscription(told, epochs, name, at),
        )
    return found


def _subscription(told: _Told, epochs: Epochs, name: str, at: float) -> Subscription | None:
    """Return what a member is and wants by the newest epoch that tells of it; None if it changed in that since."""
    for epoch in sorted(epochs.told_of, reverse=True):
        row = told.get((epoch, name))
        if row is not None:
            if row.changed_at is not None and row.changed_at > at:
                return None
            topics = None if row.topics is None else tuple(row.topics)
            return Subscription(
                topics,
                row.subscribed_regex,
                row.member_protocol,
                row.rack_id,
                row.topology_epoch,
                row.process_id,
                row.user_endpoint,
                row.client_tags,
            )
    return None


# --- epochs of members -----------------------------------------------------------------------------------------------


def _epoch(
    told: _Told,
    epochs: Epochs,
    name: str,
    about: tuple[Sequence[AssignmentRow], ReconciliationRow | None],
    at: float,
) -> int | None:
    """Return a member's epoch.

    What it has, and what it is about, is of its epoch. Of a member that has nothing and waits for nothing it is told
    when it got to an epoch; if it did not get to the newest yet, it is where it was when that began.
    """
    held, wait = about
    if wait is not None and (wait.state == LEFT or not held):
        return wait.from_epoch
    if held:
        return max(row.generation for row in held)
    if epochs.is_reached:
        return epochs.assignment_epoch
    newest = [row for epoch in sorted(epochs.told_of, reverse=True) if (row := told.get((epoch, name))) is not None]
    for row in newest:
        if _is_by(row.told_at, at):
            return row.generation
        if row.told_at is None and row.member_epoch == row.generation:
            return None  # it got there, and nobody tells when
    before = told.get((epochs.before or 0, name))
    if before is None:  # it joined since; one that never got to the epoch has stayed where it began
        return newest[0].member_epoch if newest and newest[0].told_at is None else None
    return None if before.member_epoch == AWAY else before.member_epoch


# --- what members have and wait for ----------------------------------------------------------------------------------


def _target(
    rows: Rows,
    epochs: Epochs,
    name: str,
    count: int | None,
    wait: ReconciliationRow | None,
    held: Sequence[AssignmentRow],
) -> tuple[Part, ...] | None:
    """Return what the newest target has for a member.

    A member gets to an epoch with nothing but what the target of that epoch has for it, and waits for the rest; what
    it keeps of an older epoch while it gives the rest up is in the target, too. If that is as much, it is all. Else its
    record tells, if that is as much.
    """
    stored = rows.targets.get(name)
    if count is None:
        return stored
    if stored is not None and len(stored) == count:
        return stored
    mine = (row for row in rows.assignments if row.member_id == name and row.generation == epochs.assignment_epoch)
    found = {*_owned(mine), *(_owned(held) if _gives_up_by(epochs, wait) else ())}
    for row in rows.reconciliations:
        is_of_epoch = row.member_id == name and row.from_epoch == epochs.assignment_epoch  # who is away is of none
        if is_of_epoch and not row.state.startswith(GIVES_UP) and row.group_type != "streams":  # no roles are told
            found.update(map(_named, row.partitions or ()))
    return tuple(sorted(found)) if len(found) == count else None


def _gives_up_by(epochs: Epochs, wait: ReconciliationRow | None) -> bool:
    """Whether a member gives up what the newest target has not for it, and not what an older one had not."""
    if wait is None or not wait.state.startswith(GIVES_UP) or wait.from_epoch is None:
        return False
    return wait.from_epoch < epochs.assignment_epoch and _is_by(epochs.computed_at, wait.from_at or 0.0)


def _wait(row: ReconciliationRow, mine: Sequence[AssignmentRow], held: Sequence[AssignmentRow]) -> Wait:
    """Return what a member was about; of what it waited for all in all, some may have come by then."""
    parts = list(map(_named, row.partitions or ()))
    if row.state.startswith(GIVES_UP):
        return Wait(row.state, row.from_at, tuple(sorted(parts)), {})
    come = {(each.topic, each.partition) for each in mine if each.hold != _REVOKING}
    missing = {(part.topic, part.partition) for part in parts} - come
    holders: dict[str, list[AssignmentRow]] = {}
    for each in held:
        if each.member_id in (row.waits_for_member_ids or ()) and (each.topic, each.partition) in missing:
            holders.setdefault(each.member_id, []).append(each)
    return Wait(
        row.state,
        row.from_at,
        tuple(sorted(part for part in parts if (part.topic, part.partition) in missing)),
        {name: tuple(sorted({Part(each.topic, each.partition) for each in of})) for name, of in holders.items()},
    )


def _parts(rows: Iterable[AssignmentRow]) -> tuple[Part, ...]:
    return tuple(sorted({Part(row.topic, row.partition, row.role or "") for row in rows}))


def _owned(rows: Iterable[AssignmentRow]) -> tuple[Part, ...]:
    return _parts(row for row in rows if row.hold != _REVOKING)


def _named(name: str) -> Part:
    topic, _, partition = name.rpartition("-")
    return Part(topic, int(partition))


# --- moments ---------------------------------------------------------------------------------------------------------


def _is_by(moment: float | None, at: float) -> bool:
    return moment is not None and moment <= at


def _covers(since: float | None, until: float | None, at: float) -> bool:
    return (since is None or since <= at) and (until is None or at < until)
