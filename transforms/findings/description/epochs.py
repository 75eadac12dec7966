"""Where a group of epochs stood at one moment: consumer (KIP-848), share and streams groups as brokers describe them.

A broker answers ConsumerGroupDescribe, ShareGroupDescribe and StreamsGroupDescribe from what it holds in memory. Here
the same is read off rows of gold, of one life of one group, and what they cannot tell is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct

from schemas.rows import AssignmentRow, GenerationMemberRow, GenerationRow, ReconciliationRow
from transforms.findings.description.standing import AWAY, GIVES_UP, Epochs, Member, Part, Wait
from transforms.findings.evidence import dated_at

_REVOKING = "revoking"


class Rows(Struct, kw_only=True, frozen=True):
    """Rows of one life of a group; those that do not matter at the moment may be among them.

    Attributes:
        members: those of `Epochs.told_of`.
        assignments: those in force at the moment, and all of the assignment epoch.
        reconciliations: likewise.
    """

    members: Sequence[GenerationMemberRow] = ()
    assignments: Sequence[AssignmentRow] = ()
    reconciliations: Sequence[ReconciliationRow] = ()


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


def members_at(
    rows: Rows, epochs: Epochs, state: str, instances: Mapping[str, str | None], at: float
) -> dict[str, Member]:
    """Return where each member stood.

    Args:
        rows: what is known of the life.
        epochs: as `epochs_at` has them.
        state: the group's state.
        instances: ids of the members that were there, with their instance ids.
        at: the moment (epoch ms).
    """
    held = [row for row in rows.assignments if _covers(row.valid_from, row.valid_to, at)]
    waits = {row.member_id: row for row in rows.reconciliations if _covers(row.from_at, row.to_at, at)}
    told = {(row.generation, row.member_id): row for row in rows.members}
    static = [name for name, instance in instances.items() if instance is not None and name not in waits]
    maybe_away = [] if state == "Stable" else [name for name in static if AWAY in _at_ends(told, epochs, name)]
    # Whoever was away and came back within one epoch leaves no trace but that the group waited for somebody.
    unsure = {*static} - {*maybe_away} if state != "Stable" and _is_waited_for(epochs) and not waits else set()
    found = {}
    for name in instances:
        mine = [row for row in held if row.member_id == name]
        epoch = _epoch(told, epochs, name, mine, waits.get(name))
        if name in unsure:
            epoch = None
        elif name in maybe_away:
            epoch = _if_away(told, epochs, name, epoch, is_alone=len(maybe_away) == 1)
        row = told.get((epochs.assignment_epoch, name))
        count = None if row is None else row.partitions_assigned
        found[name] = Member(
            epoch=epoch,
            owned=_owned(mine),
            revoking=_parts(row for row in mine if row.hold == _REVOKING),
            target_count=count,
            target=_target(rows, epochs, name, count, waits.get(name), mine),
            wait=_wait(waits[name], mine, held) if name in waits else None,
        )
    return found


# --- epochs of members -----------------------------------------------------------------------------------------------

_Told = Mapping[tuple[int, str], GenerationMemberRow]


def _epoch(
    told: _Told, epochs: Epochs, name: str, held: Sequence[AssignmentRow], wait: ReconciliationRow | None
) -> int | None:
    """Return a member's epoch, as if nobody left for a while.

    What it has, and what it waits for, is of its epoch. Of a member that has nothing and waits for nothing only the
    epochs are known in which epochs of the group ended: if these differ, it went on in between, nobody knows when.
    """
    if held:
        return max(row.generation for row in held)
    if wait is not None:
        return wait.from_epoch
    if epochs.is_reached:
        return epochs.assignment_epoch
    at_begin, at_end = _at_ends(told, epochs, name)
    return at_end if at_begin in (None, at_end) else None


def _at_ends(told: _Told, epochs: Epochs, name: str) -> tuple[int | None, int | None]:
    """Return a member's epoch when the newest epoch of the group began, and when it ended or the data did."""
    rows = (None if epochs.before is None else told.get((epochs.before, name)), told.get((epochs.group_epoch, name)))
    begin, end = (None if row is None else row.member_epoch for row in rows)
    return begin, end


def _if_away(told: _Told, epochs: Epochs, name: str, epoch: int | None, *, is_alone: bool) -> int | None:
    """Return the epoch of a static member that was away when the newest epoch of the group began, or when it ended.

    What it has stays its own while it is away, so that does not tell; if it came back, that is of the newest epoch. A
    group that is not settled though all had got to their targets waits for those who are away.
    """
    at_begin, at_end = _at_ends(told, epochs, name)
    if at_begin == AWAY:
        is_back = epoch is not None and epoch >= epochs.group_epoch
        return None if is_back and at_end == AWAY else epoch if is_back else AWAY
    return AWAY if is_alone and _is_waited_for(epochs) else None


def _is_waited_for(epochs: Epochs) -> bool:
    """Whether all had got to their targets, so that a group that is not settled waits for those who are away."""
    return epochs.is_reached and epochs.assignment_epoch == epochs.group_epoch


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
    it keeps of an older epoch while it gives the rest up is in the target, too. If that is as much, it is all.
    """
    if count is None:
        return None
    mine = (row for row in rows.assignments if row.member_id == name and row.generation == epochs.assignment_epoch)
    found = {*_owned(mine), *(_owned(held) if _gives_up_by(epochs, wait) else ())}
    for row in rows.reconciliations:
        is_of_epoch = row.member_id == name and row.from_epoch == epochs.assignment_epoch
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
