"""What the replay knows of one group: a plain value that can be put down and taken up again."""

from __future__ import annotations

from math import inf

from msgspec import Struct, field

from schemas.rows import GroupMetadataRow
from transforms.coordinator.classic.machine.group import Group
from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.classic.taking.joiners import Joiners
from transforms.coordinator.classic.taking.rejoins import Rejoins
from transforms.coordinator.classic.taking.witnesses import Witnesses
from transforms.coordinator.evidence.tolerances import SETTLING_MS
from transforms.coordinator.rows.counts import AuditCounts
from transforms.coordinator.timeline.audit import Audit


class Presence(Struct, array_like=True):
    """Whether and where the group is, and what its evidence can show.

    Attributes:
        coordinator: broker whose group the machine replays; None = not known.
        attended: broker that was last seen to handle the group.
        is_absence_known: where there is no group, it is known that there is none.
        is_modern: the group speaks a newer protocol for the time being.
        has_spoken_classic: a JoinGroup or a record with members was seen.
        has_spoken_modern: a heartbeat of a newer protocol was seen.
        shown_new_by: request whose answer, with the first generation, shows that there was no group before.
        is_shown_new: nothing else showed it.
        has_loaded: brokers that found the group when they last loaded its partition.
        loaded_at: when the group was last taken over; no session of those who were members then ends sooner than its
            timeout after it.
        homes: partitions of `__consumer_offsets` that the group lived in, one after the other.
        last_record: the group's last record, which is all that a new coordinator would know of it.
        heard_from: when the request log begins; before, nobody is seen to send heartbeats, and silence means nothing.
        has_other_evidence: a record or line speaks for the group, so that an answer need not.
        unconverted_until: up to when lines of a conversion tell of one that failed in the end.
        lacks_requests: the request log was found to lack some, and none was taken since: it has ended, or begins anew.
    """

    coordinator: str | None = None
    attended: str | None = None
    is_absence_known: bool = False
    shown_new_by: int | None = None
    is_shown_new: bool = False
    is_modern: bool = False
    has_spoken_classic: bool = False
    has_spoken_modern: bool = False
    has_loaded: set[str] = field(default_factory=set)
    loaded_at: float = -inf
    homes: list[int] = field(default_factory=list)
    last_record: GroupMetadataRow | None = None
    heard_from: float = inf
    has_other_evidence: bool = False
    unconverted_until: float = -inf
    lacks_requests: bool = False

    def hears_at(self, at: float) -> bool:
        """Whether the request log covers a moment."""
        return at >= self.heard_from and not self.lacks_requests

    def hear_again(self, at: float) -> None:
        """Take note of a request that is taken: from it on the request log is heard, if it was not."""
        if self.lacks_requests:
            self.lacks_requests, self.heard_from = False, at

    @property
    def is_other_kind(self) -> bool:
        """Whether the group never spoke the classic protocol, as far as is known, and speaks a newer one."""
        return self.has_spoken_modern and not self.has_spoken_classic


class Departures(Struct, array_like=True):
    """Who leaves, and why: told before the group has taken it in, so it is kept for a moment.

    Attributes:
        reasons: by member id, when it was told and the reason that the leaver gave.
        pending: ids that left without having been members, and when.
        last_leaver: whom the last line about a leave named.
    """

    reasons: dict[str, tuple[float, str]] = field(default_factory=dict)
    pending: dict[str, float] = field(default_factory=dict)
    last_leaver: str | None = None

    def reason(self, member_id: str | None) -> str | None:
        """Return the reason that a member gave for leaving."""
        told = self.reasons.get(member_id or "")
        return None if told is None else told[1]

    def forget(self, now: float) -> None:
        """Forget what was told too long ago to matter."""
        before = now - SETTLING_MS
        if self.reasons:
            self.reasons = {key: told for key, told in self.reasons.items() if told[0] >= before}
        if self.pending:
            self.pending = {key: at for key, at in self.pending.items() if at >= before}


class ClassicState(Struct, array_like=True):
    """A group as a classic one: the state machine, and what is known beside it."""

    machine: Machine
    audit: Audit[Group | None] = field(default_factory=Audit)
    presence: Presence = field(default_factory=Presence)
    departures: Departures = field(default_factory=Departures)
    witnesses: Witnesses = field(default_factory=Witnesses)
    joiners: Joiners = field(default_factory=Joiners)
    rejoins: Rejoins = field(default_factory=Rejoins)
    counts: AuditCounts = field(default_factory=AuditCounts)
