"""Takes a GroupMetadata record: confirms what the machine thinks, or puts it right."""

from __future__ import annotations

from transforms.coordinator import observe
from transforms.coordinator.events import Cause, Event
from transforms.coordinator.evidence import Row
from transforms.coordinator.facts import AUTHORITY, GenerationFacts
from transforms.coordinator.group import Member
from transforms.coordinator.replaying import Replay
from transforms.coordinator.resync import bring_to, members_of, reloaded, take_over
from transforms.coordinator.states import GroupState

SAME_MOMENT_MS = 5.0
"""Two records, or a record and a line, this close together tell of the same thing."""


def take(replay: Replay, record: Row) -> None:
    """Take one record, in the order of the offsets topic."""
    replay.last_record = None if record["is_tombstone"] else record
    if record["members"]:
        replay.is_modern = False
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


def load(replay: Replay, line: Row, cause: Cause) -> None:
    """A coordinator takes the group over: it knows what the last record holds, and nothing else.

    A generation that was counted but never stored is lost with the old coordinator; its number will be used again, in
    another life. A join phase that had only begun is lost too: if it begins again, it begins then.
    """
    record = replay.last_record
    members = _loaded_members(replay, line)
    generation = line["generation"]
    if generation is None:
        generation = record["generation"] if record is not None else 0 if not line["member_count"] else None
    if generation is None:
        return
    present = replay.machine.present
    elected = None if present is None else (present.protocol, present.protocol_type, present.leader)
    highest = max((row.generation for row in replay.timeline.of_life(replay.life) if row.is_counted), default=0)
    is_fallen = generation < highest
    if is_fallen:
        replay.begin_life(cause.at, cause.source)
    elif (replay.life, generation + 1) in replay.timeline.generations:
        replay.timeline.generation(replay.life, generation + 1).was_lost = True
    state = GroupState.STABLE if members or (members is None and generation) else GroupState.EMPTY
    take_over(replay.machine, state, generation, cause, members)
    group = replay.machine.group
    if record is not None and record["generation"] == generation:
        elected = (record["protocol"], record["protocol_type"], record["leader_member_id"])
    if elected is not None and members:
        group.protocol, group.protocol_type, group.leader = elected
    if is_fallen and members and record is not None and record["generation"] == generation:
        observe.reloaded(replay.timeline.generation(replay.life, generation), record, cause.at)
    replay.forget_parked()


def _loaded_members(replay: Replay, line: Row) -> list[Member] | None:
    """Return the members that a coordinator loads: those of the last record; None if they are not known.

    Where compaction took that record, the replayed group knows them, if it was Stable.
    """
    record, group, count = replay.last_record, replay.machine.present, line["member_count"]
    generation = line["generation"]
    if count == 0 or generation == 0:
        return []
    if record is not None and generation in (None, record["generation"]) and count in (None, len(record["members"])):
        return members_of(record, is_load=True)
    if group is None or not group.is_known or group.state is not GroupState.STABLE:
        return None
    if generation not in (None, group.generation) or count not in (None, len(group.members)):
        return None
    return [reloaded(member, group.protocol) for member in group.members.values()]


def _stored(replay: Replay, record: Row) -> None:
    generation = record["generation"]
    member_ids = frozenset(member["member_id"] for member in record["members"])
    _begin_life_if_fallen(replay, generation, record["recorded_at"])
    seen = replay.stored.get((replay.life, generation), [])
    confirmed = member_ids in seen
    row = replay.timeline.generation(replay.life, generation)
    is_replacement = _is_replacement(row.facts.get("stored_count"), row, record)
    row.facts.learn("offsets", stored_count=1)
    before = replay.timeline.life_ends.get(replay.life - 1)
    begun = before.get("ended_at") if before is not None else None
    is_reloaded = begun is not None and (record["state_changed_at"] or begun) < begun
    observe.stored(replay.timeline, replay.life, record, is_replacement, is_reloaded)
    group = replay.machine.present
    if group is not None and group.generation >= generation and (confirmed or _is_overtaken(replay, record)):
        return
    cause = Cause(record["recorded_at"], source="offsets")
    bring_to(replay.machine, GroupState.STABLE, generation, cause, members_of(record))
    group = replay.machine.group
    group.protocol, group.protocol_type = record["protocol"], record["protocol_type"]
    group.leader = record["leader_member_id"]
    replay.stored.setdefault((replay.life, generation), []).append(member_ids)
    replay.forget_parked()


def _is_overtaken(replay: Replay, record: Row) -> bool:
    """Whether the next rebalance began before the record was safe: a line or the leader's answer tells.

    Then the group never was Stable in that generation, although it is stored.
    """
    group = replay.machine.group
    if not group.is_known or group.generation != record["generation"]:
        return False
    leader = group.members.get(group.leader or "")
    if group.state is GroupState.COMPLETING and leader is not None and leader.parked_sync is not None:
        return True
    following = replay.timeline.generations.get((replay.life, record["generation"] + 1))
    if following is None:
        return False
    is_told = following.facts.authority("preparing_at") >= AUTHORITY["broker_log"]
    return is_told and following.facts.get("preparing_at") >= record["recorded_at"] - SAME_MOMENT_MS


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
