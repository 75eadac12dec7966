"""The replay of a group of epochs under way: its records in, operation by operation, and rows of what they changed.

Records are authority, and all that a coordinator itself knows after a load: whatever else is known of the group only
says more about the same steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from schemas.rows import TransitionRow
from transforms.coordinator.epochs import generations, holds, orphans, shares, waits
from transforms.coordinator.epochs.anew import begins_anew
from transforms.coordinator.epochs.before import Before, named, targets_before
from transforms.coordinator.epochs.members import Members
from transforms.coordinator.epochs.protocol import EpochProtocol, Glimpse, Part
from transforms.coordinator.epochs.state import EpochState, OpenEpoch
from transforms.coordinator.epochs.teller import Teller
from transforms.coordinator.epochs.told import Told
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.evidence.tolerances import SETTLING_MS
from transforms.coordinator.kafka.states import ModernState
from transforms.coordinator.modern.causes import Cause, Trigger
from transforms.coordinator.modern.machine import ModernMachine
from transforms.coordinator.modern.records import Record
from transforms.coordinator.rows.tables import Sink, whole
from transforms.coordinator.shared import Shared

AnyMachine = ModernMachine[Any, Any]


class Course:
    """The replay of a group of one protocol.

    Args:
        shared: what does not hang on the protocol.
        protocol: the protocol.
        known: what is known of the group.
        machine: its machine.
        told: what lines tell of it.
        sink: where the rows go.
    """

    def __init__(
        self, shared: Shared, protocol: EpochProtocol, known: EpochState, machine: AnyMachine, told: Told, sink: Sink
    ) -> None:
        self._told = told
        self._lives = shared.lives
        self._brokers = shared.brokers
        self._protocol = protocol
        self._state = known
        self._machine = machine
        self._teller = Teller(shared.cluster, shared.group_id, protocol.group_type, sink)
        self._stays = Members(shared.lives, protocol, known, told, self._teller)

    @property
    def is_there(self) -> bool:
        """Whether the group is there."""
        return self._machine.present is not None

    @property
    def present(self) -> Any:
        """The group; None where it is not there."""
        return self._machine.present

    def take(self, found: Sequence[Sequence[Record[Struct]]], at: float) -> None:
        """Take what was written at one moment, operation by operation."""
        for left, operation in zip(range(len(found) - 1, -1, -1), found, strict=True):
            self._operate(operation, at, is_followed=left > 0)
        self._lives.settle_by(at + SETTLING_MS)

    def give_way(self, at: float) -> None:
        """The group is of another type by now, whatever became of the records that say how it ended."""
        group = self._machine.present
        if group is not None:
            members, targets = self._members(group)
            self._machine.present = None
            self._end(Before(True, group.epoch, {}, {}, members, targets), at)
            self._lives.settle_by(at + SETTLING_MS)

    def tell_open(self) -> None:
        """Tell of all that is not over, as far as it has come; the group is used up."""
        group, state = self._machine.present, self._state
        if group is None:
            return
        members, targets = self._members(group)
        self._stays.note(members)
        generations.tell_open(state, self._teller, members, targets)
        for member_id, held in state.holds.items():
            for hold in held:
                holds.tell(state, self._teller, member_id, hold, members.get(member_id), None)
        for member_id, wait in state.waits.items():
            if member_id in members:
                waits.tell(state, self._teller, wait, members[member_id], None, None)
        for orphan in state.orphans:
            orphans.tell(state, self._teller, orphan, members.get(orphan.member_id), None)
        for share in state.share_states:
            shares.tell(state, self._teller, share, None)

    # --- one operation -----------------------------------------------------------------------------------------

    def _operate(self, operation: Sequence[Record[Struct]], at: float, is_followed: bool) -> None:
        state, machine = self._state, self._machine
        if machine.present is not None and begins_anew(machine.present, operation, self._protocol):
            self.give_way(at)
        before = self._look(operation)
        cause = self._protocol.cause_of(machine.present, operation)
        machine.take(operation, at)
        group = machine.present
        if group is None:
            if before.is_there:
                self._end(before, at)
            return
        opened = self._state.open
        if before.is_there and opened is not None and 0 < group.epoch < opened.epoch:
            self._end(before, at)  # a coordinator that knew nothing of the epochs since has begun anew
            before.seen, before.is_there = {}, False
            names: Iterable[str] = list(group.members)
        else:
            names = named(operation, self._protocol)
        if not before.is_there:
            self._begin(at)
        opened = self._state.open
        if group.epoch > 0 and (opened is None or group.epoch != opened.epoch):
            self._bump(group, before, cause, at, is_followed)
        self._stays.follow(group, before, names, at)
        if any(each.type_id == self._protocol.types.target_epoch and each.value is not None for each in operation):
            members, targets = self._members(group)
            was = generations.owners_of(before.members, before.targets)
            generations.take_target(state, was, generations.owners_of(members, targets), at)
            self._take_assignor(group, before, at)
        self._follow_state(group, operation, cause, at)
        orphans.follow(state, self._teller, self._protocol, group, before.seen, at)
        shares.follow(state, self._teller, self._protocol, group, operation, at)

    def _look(self, operation: Sequence[Record[Struct]]) -> Before:
        group, types = self._machine.present, self._protocol.types
        if group is None:
            return Before(False, 0, {}, {}, {}, {})
        names = named(operation, self._protocol)
        glimpses = {name: self._protocol.glimpse(group, name) for name in names}
        seen = {name: each for name, each in glimpses.items() if each is not None}
        targets = {name: self._protocol.target(group, name) for name in seen}
        is_wide = any(each.type_id in (types.epoch, types.target_epoch) for each in operation)
        return Before(True, group.epoch, seen, targets, *(self._members(group) if is_wide else ({}, {})))

    def _members(self, group: Any) -> tuple[dict[str, Glimpse], dict[str, tuple[Part, ...]]]:
        members: dict[str, Glimpse] = {}
        for name in group.members:
            glimpse = self._protocol.glimpse(group, name)
            if glimpse is not None:
                members[name] = glimpse
        return members, {name: self._protocol.target(group, name) for name in members}

    # --- lives and epochs --------------------------------------------------------------------------------------

    def _begin(self, at: float) -> None:
        """The group is there, in a life of its own."""
        lives, state = self._lives, self._state
        lives.begin(at, Source.OFFSETS)
        life = lives.present
        life.group_type = self._protocol.group_type
        state.life = life.number
        state.stands, state.open, state.began, state.bumps, state.last_epoch = None, None, None, 0, 0
        state.wait_count, state.has_target, state.gone_targets, state.stays = 0, False, [], {}
        state.stable_members, state.is_from_start, state.are_targets_known = None, False, None

    def _end(self, before: Before, at: float) -> None:
        """The group is gone: deleted, converted, or forgotten."""
        state, lives = self._state, self._lives
        self._stays.note(before.members)
        generations.tell_began(state, self._teller)
        state.began = None
        if state.open is not None:
            if state.open.bump_count is None:
                state.open.bump_count = state.bumps
            generations.superseded(state, self._teller, before.members, before.targets, at)
        for member_id in [*state.holds]:
            holds.follow(state, self._teller, member_id, before.members.get(member_id), None, at)
        for member_id in [*state.waits]:
            waits.follow(state, self._teller, before.members.get(member_id), None, (), at)
        orphans.end(state, self._teller, before.members | before.seen, at)
        shares.end(state, self._teller, at)
        state.holds, state.waits, state.joined_at = {}, {}, {}
        self._say_moved(ModernState.DEAD.value, "group_deleted", before.epoch, None, at)
        if not lives.is_deletion_known(at, Source.OFFSETS):
            lives.deleted(at, Source.OFFSETS)
        state.life = 0

    def _bump(self, group: Any, before: Before, cause: Cause | None, at: float, is_followed: bool) -> None:
        """The group's epoch is another one."""
        state = self._state
        self._stays.note(before.members)
        is_first = state.last_epoch == 0 and state.open is None
        generations.superseded(state, self._teller, before.members, before.targets, at)
        is_converted = cause is not None and cause.trigger is Trigger.CONVERTED
        opened = OpenEpoch(group.epoch, preparing_at=at)
        if is_first:
            is_whole = is_converted or group.epoch <= self._protocol.first_epoch
            state.is_from_start = is_whole
            state.are_targets_known = True if is_whole else None
            state.last_epoch = group.epoch - 1 if is_whole else 0
        opened.missing_before = max(group.epoch - state.last_epoch - 1, 0)
        if is_first and opened.missing_before:
            cause = None  # what is left of a compacted log
        elif opened.missing_before:
            state.are_targets_known = False
        opened.is_logged = self._told.is_bump_told(group.epoch, at)
        self._say_cause(opened, group, before, cause, at)
        if is_converted and is_followed:
            opened.bump_count = 0  # the group is taken over as it was; whoever converted it bumps it next
        else:
            opened.bump_count = 0 if state.bumps else None
            state.bumps += 1
        state.open = opened

    def _say_cause(self, opened: OpenEpoch, group: Any, before: Before, cause: Cause | None, at: float) -> None:
        trigger = Trigger.UNKNOWN if cause is None else cause.trigger
        opened.trigger, opened.is_inferred = trigger.value, trigger in (Trigger.MEMBER_REMOVED, Trigger.UNKNOWN)
        if cause is not None and cause.member_id is not None:
            culprit = self._protocol.glimpse(group, cause.member_id) or before.seen.get(cause.member_id)
            opened.member_id = cause.member_id
            if culprit is not None:
                opened.client_id, opened.client_host = culprit.client_id, culprit.client_host
        departure = None if opened.member_id is None else self._told.departure(opened.member_id, at)
        if trigger is Trigger.MEMBER_REMOVED and departure is not None:
            opened.trigger, opened.is_inferred, opened.is_logged = departure.trigger, False, True
            opened.reason, opened.client_reason = departure.reason, departure.client_reason

    def _take_assignor(self, group: Any, before: Before, at: float) -> None:
        """Take by whose rules the targets were computed: a line tells, or most members' wish; and whose they equal."""
        state, opened = self._state, self._state.open
        if opened is None:
            return
        told = self._told.assignor(group.assignment_epoch, at)
        opened.protocol = told or self._protocol.assignor(group)
        if state.are_targets_known:
            had = targets_before(self._members(group)[0], before)
            names, releases = self._teller.sink.topic_names, self._brokers.releases
            default = self._brokers.of(None).consumer_assignors or (None,)
            elected = opened.protocol or default[0]
            opened.assignor = self._protocol.computed_by(group, had, names, elected, releases)
        elif state.are_targets_known is None:
            state.are_targets_known = True  # a compacted log has the last ones of all members

    # --- states ------------------------------------------------------------------------------------------------

    def _follow_state(self, group: Any, operation: Sequence[Record[Struct]], cause: Cause | None, at: float) -> None:
        state, opened = self._state, self._state.open
        now: ModernState = group.state
        if now.value != state.stands:
            event = _event_of(operation, self._protocol, cause)
            self._say_moved(now.value, event, group.epoch, None if cause is None else cause.member_id, at)
        if opened is None or group.epoch != opened.epoch:
            return
        if opened.stable_at is not None or opened.emptied_at is not None:
            return
        if now is ModernState.EMPTY:
            opened.emptied_at = at
        elif self._protocol.is_settled(group):
            opened.stable_at = at
        else:
            return
        generations.settled(state, self._teller)

    def _say_moved(self, to_state: str, event: str, epoch: int, member_id: str | None, at: float) -> None:
        state, life = self._state, self._lives.by_number.get(self._state.life)
        if life is None:
            return
        life.moves += 1
        life.moved_at = max(life.moved_at, at)
        row = TransitionRow(
            cluster=self._teller.cluster,
            group_id=self._teller.group_id,
            life=state.life,
            seq=life.moves,
            group_type=self._teller.group_type,
            at=whole(life.moved_at),
            from_state=state.stands,
            to_state=to_state,
            event=event,
            generation=epoch,
            member_id=member_id,
            source="offsets",
            is_inferred=False,
        )
        self._teller.sink.rows.transitions.append(self._teller.sink.stamped(row))
        state.stands = to_state


def _event_of(operation: Sequence[Record[Struct]], protocol: EpochProtocol, cause: Cause | None) -> str:
    """Name what an operation did, by the furthest of its steps."""
    if cause is not None:
        return "converted" if cause.trigger is Trigger.CONVERTED else "epoch_bumped"
    is_planned = any(record.type_id == protocol.types.target_epoch for record in operation)
    return "targets_computed" if is_planned else "member_reconciled"
