"""Who comes to a group of epochs and goes, and what each has and is about: stays, holds and waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from transforms.coordinator.epochs import generations, holds, waits
from transforms.coordinator.epochs.before import Before
from transforms.coordinator.epochs.protocol import EpochProtocol, Glimpse
from transforms.coordinator.epochs.state import EpochState
from transforms.coordinator.epochs.teller import Teller
from transforms.coordinator.epochs.told import Told
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.rows.sessions import session_row
from transforms.coordinator.timeline.facts import Session
from transforms.coordinator.timeline.lives import Life, Lives

MOST_STAYS = 1_000
"""So many ids of members that went are remembered, the latest, so that one that comes back is counted on."""


class Members:
    """The members of one group.

    Args:
        lives: the group's lives, with the stays.
        protocol: the protocol.
        state: what is known of the group.
        told: what lines tell of it.
        teller: to tell.
    """

    def __init__(self, lives: Lives, protocol: EpochProtocol, state: EpochState, told: Told, teller: Teller) -> None:
        self._lives = lives
        self._protocol = protocol
        self._state = state
        self._told = told
        self._teller = teller

    def follow(self, group: Any, before: Before, names: Iterable[str], at: float) -> None:
        """Take note of the members that an operation was about.

        Args:
            group: the group after it.
            before: the group before it.
            names: the members.
            at: when.
        """
        state, protocol = self._state, self._protocol
        now = {name: protocol.glimpse(group, name) for name in names}
        gone = [before.seen[name] for name, each in now.items() if each is None and name in before.seen]
        heirs = {each.instance_id: name for name, each in now.items() if each is not None and name not in before.seen}
        for member in gone:
            heir = heirs.get(member.instance_id) if member.instance_id is not None else None
            self._say_gone(member, heir, before, at)
            self._keep_target(group, member, heir, before)
        for name, member_now in now.items():
            if member_now is not None and name not in before.seen:
                self._say_came(member_now, group.epoch, at)
            if member_now is not None and state.open is not None and member_now.epoch == state.open.epoch:
                state.open.told.setdefault(name, at)
            then = before.seen.get(name)
            if then is not None and member_now is not None and state.open is not None and then.wish != member_now.wish:
                state.open.changed[name] = at
            holds.follow(state, self._teller, name, then, member_now, at)
        for name, member_now in now.items():
            target = () if member_now is None else protocol.target(group, name)
            waits.follow(state, self._teller, before.seen.get(name), member_now, target, at)

    def _say_came(self, member: Glimpse, epoch: int, at: float) -> None:
        life, state = self._lives.present, self._state
        before = life.sessions.get(member.member_id)
        if before is not None and before.end_cause is not None:
            self._tell_session(life, before)
        life.ended.pop(member.member_id, None)
        session = life.session(member.member_id)
        session.stay = state.stays.pop(member.member_id, 0) + 1
        session.came(
            Source.OFFSETS,
            at=at,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
        )
        if epoch:
            session.first_generation = session.first_generation or epoch
            session.last_generation = epoch
        if not session.is_linked and session.identity is not None:
            self._lives.link(session, session.identity)
        self._state.joined_at[member.member_id] = at

    def _tell_session(self, life: Life, session: Session) -> None:
        """Tell of a stay that is over at once: the member comes back by the same id."""
        self._teller.sink.say_stay(session_row(self._teller.cluster, self._teller.group_id, life, session))
        life.end_session(session)

    def _say_gone(self, member: Glimpse, heir: str | None, before: Before, at: float) -> None:
        state = self._state
        if heir is not None and state.open is not None:
            targets = {member.member_id: before.targets_seen.get(member.member_id, ())}
            generations.tell_members(state, self._teller, state.open, {member.member_id: member}, targets)
            state.open.replaced[heir] = member.member_id
        if state.open is not None:
            state.open.forget(member.member_id)
        session = self._lives.present.session(member.member_id)
        departure = self._told.departure(member.member_id, at)
        unreplaced = "removed" if departure is None else departure.cause
        session.went(Source.OFFSETS, unreplaced if heir is None else "replaced", at, at)
        state.stays[member.member_id] = session.stay
        if len(state.stays) > MOST_STAYS:
            del state.stays[next(iter(state.stays))]
        state.joined_at.pop(member.member_id, None)

    def _keep_target(self, group: Any, member: Glimpse, heir: str | None, before: Before) -> None:
        """Keep what a member that went was to have until targets are computed, unless its heir is to have it.

        An instance that restarts bumps nothing, so its heirs may come and go without end until then.
        """
        state, target = self._state, before.targets_seen.get(member.member_id, ())
        kept = (member.owner, target)
        if heir is None or (self._protocol.target(group, heir) != target and kept not in state.gone_targets):
            state.gone_targets.append(kept)

    def note(self, members: dict[str, Glimpse]) -> None:
        """Take note of who was in the present epoch."""
        opened, life = self._state.open, self._lives.by_number.get(self._state.life)
        if opened is None or life is None:
            return
        for name in members:
            session = life.session(name)
            session.first_generation = session.first_generation or opened.epoch
            session.last_generation = opened.epoch
