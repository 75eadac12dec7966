"""Takes a GroupMetadata record: confirms what the machine thinks, or puts it right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.coordinator import observe
from transforms.coordinator.events import Cause, Event
from transforms.coordinator.evidence import Row
from transforms.coordinator.facts import GenerationFacts
from transforms.coordinator.resync import bring_to, members_of, take_over
from transforms.coordinator.states import GroupState

if TYPE_CHECKING:
    from transforms.coordinator.walk import Replay

SAME_MOMENT_MS = 5.0
"""Two records, or a record and a line, this close together tell of the same thing."""


def take(replay: Replay, record: Row) -> None:
    """Take one record, in the order of the offsets topic."""
    replay.last_record = None if record["is_tombstone"] else record
    if record["is_tombstone"]:
        _deleted(replay, record["recorded_at"])
    elif not record["generation"] and not record["members"]:
        _created(replay, record["recorded_at"])
    elif record["members"]:
        _stored(replay, record)
    else:
        _emptied(replay, record)


def _deleted(replay: Replay, at: float) -> None:
    if replay.machine.present is None and replay.died_at is None:
        return
    if replay.is_deletion_known(at, "offsets") or replay.machine.present is None:
        return
    delete(replay, Cause(at, source="offsets"))


def delete(replay: Replay, cause: Cause) -> None:
    """Let the group go, as a deletion of an empty group, or else whatever it is doing."""
    if not replay.machine.apply(Event.GROUP_DELETED, cause) or replay.machine.present is not None:
        replay.machine.apply(Event.GROUP_REMOVED, cause)


def _created(replay: Replay, at: float) -> None:
    """The Java coordinator's marker of a new group; it says nothing but that the group is there."""
    if replay.machine.present is None and (replay.died_at is None or at > replay.died_at + SAME_MOMENT_MS):
        replay.machine.create()
        replay.born_at = at


def load(replay: Replay, generation: int | None, cause: Cause) -> None:
    """A coordinator takes the group over: it knows what the last record holds, and nothing else.

    A generation that was counted but never stored is lost with the old coordinator; its number will be used again, in
    another life.
    """
    record = replay.last_record
    stored = record["generation"] if record is not None else None
    if generation is None:
        generation = stored
    if generation is None:
        return
    highest = max((row.generation for row in replay.timeline.of_life(replay.life) if row.is_counted), default=0)
    if generation < highest:
        replay.begin_life(cause.at, cause.source)
    is_whole = record is not None and generation == stored
    members = members_of(record, is_load=True) if is_whole and record is not None else None
    state = GroupState.STABLE if members or (members is None and generation) else GroupState.EMPTY
    take_over(replay.machine, state, generation, cause, members)
    group = replay.machine.group
    if is_whole and record is not None:
        group.protocol, group.protocol_type = record["protocol"], record["protocol_type"]
        group.leader = record["leader_member_id"]
    replay.forget_parked()


def _stored(replay: Replay, record: Row) -> None:
    generation = record["generation"]
    member_ids = frozenset(member["member_id"] for member in record["members"])
    _begin_life_if_fallen(replay, generation, record["recorded_at"])
    seen = replay.stored.get((replay.life, generation), [])
    confirmed = member_ids in seen
    row = replay.timeline.generation(replay.life, generation)
    is_replacement = _is_replacement(row.facts.get("stored_count"), row, record)
    row.facts.learn("offsets", stored_count=1)
    observe.stored(replay.timeline, replay.life, record, is_replacement)
    group = replay.machine.present
    if confirmed and group is not None and group.generation >= generation:
        return
    cause = Cause(record["recorded_at"], source="offsets")
    bring_to(replay.machine, GroupState.STABLE, generation, cause, members_of(record))
    group = replay.machine.group
    group.protocol, group.protocol_type = record["protocol"], record["protocol_type"]
    group.leader = record["leader_member_id"]
    replay.stored.setdefault((replay.life, generation), []).append(member_ids)
    replay.forget_parked()


def _is_replacement(stored_count: int | None, row: GenerationFacts, record: Row) -> bool:
    """Whether a record was written for a static member's new id, and not by the leader's SyncGroup.

    The state timestamp of the first record of a generation is when it became CompletingRebalance, that of a later
    one when it became Stable. So a record whose first was compacted away still tells itself by what lines show.
    """
    if stored_count:
        return True
    completing, stable = row.facts.get("completing_at"), row.facts.get("assigned_at")
    changed = record["state_changed_at"]
    if completing is None or stable is None or changed is None:
        return False
    return bool(abs(changed - stable) < abs(changed - completing) and record["recorded_at"] - stable > SAME_MOMENT_MS)


def _emptied(replay: Replay, record: Row) -> None:
    generation = record["generation"]
    _begin_life_if_fallen(replay, generation, record["recorded_at"])
    at = record["recorded_at"] if record["state_changed_at"] is None else record["state_changed_at"]
    row = replay.timeline.generation(replay.life, generation)
    is_known = row.facts.get("emptied_at") is not None
    row.facts.learn("offsets", emptied_at=at, protocol_type=record["protocol_type"])
    group = replay.machine.present
    if is_known and group is not None and group.generation >= generation:
        return
    if group is not None and group.generation == generation and group.state is GroupState.EMPTY:
        return
    bring_to(replay.machine, GroupState.EMPTY, generation, Cause(at, source="offsets"), ())
    replay.forget_parked()


def _begin_life_if_fallen(replay: Replay, generation: int, at: float) -> None:
    """A stored generation lower than one stored before, without a deletion between: the group began anew."""
    highest = max(
        (row.generation for row in replay.timeline.of_life(replay.life) if "offsets" in row.facts.sources), default=0
    )
    if generation < highest:
        replay.begin_life(at, "offsets")
