"""The desk at which a group is handled: the group, the rules that hold, and a tray for what is to be said.

Effects work at the desk and know no machine: they change the group and put what comes of it into the outbox, in order.
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from transforms.coordinator.classic.machine.events import Answered, Cause, Gone, Joined, Output
from transforms.coordinator.classic.machine.group import Group, Member, Timer, member_timer
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings

FIRST_WITH_INSTANCE = 5
"""From this version on a JoinGroup knows of static members."""


class Desk(Struct, array_like=True):
    """One group id at its coordinator.

    Attributes:
        settings: the broker's settings; another broker's after a failover.
        present: the group; None where the coordinator has none of that id.
        outbox: what happened since it was last drained.
        just_answered: request that the event at hand has answered already.
        has_stumbled: the coordinator failed as it ended a join phase; whose request that was is told so.
    """

    group_id: str
    settings: CoordinatorSettings
    present: Group | None = None
    outbox: list[Output] = field(default_factory=list)
    just_answered: int | None = None
    has_stumbled: bool = False

    @property
    def group(self) -> Group:
        """The group, which must be there."""
        if self.present is None:
            raise ValueError(f"group {self.group_id} is absent")
        return self.present

    def drain(self) -> list[Output]:
        """Return what happened since the last call."""
        outbox, self.outbox = self.outbox, []
        return outbox

    def answer(
        self,
        token: int,
        error: int,
        at: float,
        generation: int | None = None,
        leader: str | None = None,
        protocol: str | None = None,
        assignment: bytes | None = None,
    ) -> None:
        """Answer a request."""
        self.just_answered = token
        self.outbox.append(Answered(at, token, int(error), generation, leader, protocol, assignment))

    def answer_parked_syncs(self, error: Error, at: float) -> None:
        """Answer every parked SyncGroup, and start the session timers of those answered afresh."""
        group = self.group
        for member in list(group.members.values()):
            if member.parked_sync is not None:
                self.answer(member.parked_sync, error, at, assignment=member.assignment)
                group.put(replace(member, parked_sync=None))
                self.reset_session(member, at)

    def stumbles_over(self, member_id: str, version: int) -> bool:
        """Whether a JoinGroup answer cannot be written, as it would tell a leader of what its version does not know."""
        if version >= FIRST_WITH_INSTANCE:
            return False
        group = self.group
        if member_id != group.leader or not self.settings.rules.stumbles_over_old_leaders:
            return False
        return any(member.group_instance_id is not None for member in group.members.values())

    def reset_session(self, member: Member, at: float) -> None:
        """Start a member's session timer afresh."""
        timers = self.group.timers
        if member.is_new and self.settings.rules.spares_new_members:
            timers.stop(member_timer(member.member_id))
            return
        timers.start(member_timer(member.member_id), Timer(at + member.session_timeout_ms))

    def remove(self, member_id: str, cause: Cause, end_cause: str, join_error: Error | None = None) -> None:
        """Remove a member or a pending id; `join_error` answers its parked JoinGroup."""
        removed = self.group.remove(member_id)
        self.group.timers.stop(member_timer(member_id))
        if removed is None:
            return
        if removed.parked_join is not None and join_error is not None:
            self.answer(removed.parked_join, join_error, cause.at)
        self.outbox.append(Gone(cause.at, member_id, end_cause, cause.source))

    def say_joined(self, member: Member, cause: Cause, replaces: str | None = None) -> None:
        """Tell that a member was added; `replaces` is the static member whose place it took."""
        self.outbox.append(
            Joined(
                cause.at,
                member.member_id,
                member.group_instance_id,
                member.client_id,
                member.client_host,
                cause.source,
                replaces,
            )
        )

    def say_replaced(self, old: Member, member: Member, cause: Cause) -> None:
        """Tell that a static member came under a new id."""
        self.outbox.append(Gone(cause.at, old.member_id, "replaced", cause.source))
        self.say_joined(member, cause, replaces=old.member_id)
