"""Processes: who stands behind the member ids, when each came up, went, came back, and when it was not to be heard.

A process that comes back under the same instance id, or else the same client id and host, is the same one again; two
that were there at the same time are two. One that never comes back has died.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from msgspec import Struct, field

from schemas.client_defaults import MAX_POLL_INTERVAL_MS, SESSION_TIMEOUT_MS
from transforms.whatif.evidence import Depth, Evidence
from transforms.whatif.figures import owner_of
from transforms.whatif.stays import Silence, Span, Stay, stays_of


class Stall(Struct, frozen=True, gc=False):
    """An application that did not poll, while its client sent heartbeats: last poll and next one."""

    polled_at: float
    polls_at: float


class Life(Struct, kw_only=True):
    """A process from its start to its end.

    Attributes:
        begins_at: when it first joined; None = before the evidence begins.
        ends_at: last sign of life, and the latest moment at which it can have ended; None = it lives on.
        ended: "left", by its own will, or "died"; None = it lives on.
        may_go_on: the evidence does not decide whether the next life is this one, woken up again.
        removed_at: when the coordinator removed its last member id.
        member_ids: under which it was in the group.
    """

    begins_at: float | None
    ends_at: Span | None = None
    ended: str | None = None
    may_go_on: bool = False
    removed_at: float | None = None
    silences: list[Silence] = field(default_factory=list)
    stalls: list[Stall] = field(default_factory=list)
    member_ids: list[str] = field(default_factory=list)
    session_timeout_ms: int = SESSION_TIMEOUT_MS
    rebalance_timeout_ms: int = MAX_POLL_INTERVAL_MS


class Process(Struct, kw_only=True):
    """One that is started again and again; `number` tells those apart that share client id and host."""

    client_id: str | None
    client_host: str | None
    group_instance_id: str | None
    number: int = 0
    topics: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    join_version: int = 5
    lives: list[Life] = field(default_factory=list)

    @property
    def owner(self) -> str:
        """The name by which it is known as an owner of partitions."""
        return owner_of(self.group_instance_id, self.client_id, self.client_host)


def processes_of(evidence: Evidence) -> list[Process]:
    """Return the processes behind a group's members, in order of their first begin."""
    slots: dict[str, list[_Slot]] = {}
    for stay in stays_of(evidence):
        key = stay.group_instance_id or f"{stay.client_id}@{stay.client_host}"
        known = slots.setdefault(key, [])
        slot = _free(known, stay)
        if slot is None:
            slot = _Slot(_process(stay, len(known)))
            known.append(slot)
        slot.take(stay, evidence.depth)
    return [slot.process for known in slots.values() for slot in known]


class _Slot(Struct):
    """A process as its stays come in, one after the other."""

    process: Process
    last: Stay | None = None

    def take(self, stay: Stay, depth: Depth) -> None:
        """Let the next stay go on with the life before, or begin another one."""
        before = self.last
        if before is None or before.ended is None or stay.begins_at is None:
            self._begin(stay)
        elif before.ended in ("poll_timeout", "refused"):
            if before.is_stalled and before.removed_at is not None:
                polled_at = before.removed_at - before.rebalance_timeout_ms
                self.process.lives[-1].stalls.append(Stall(polled_at, stay.begins_at.latest))
        else:
            self.process.lives[-1].may_go_on = depth < Depth.REQUESTS and _may_wake_up(before, stay.begins_at.latest)
            self._begin(stay)
        self._end(stay)
        self.last = stay
        self.process.topics = stay.topics or self.process.topics
        self.process.protocols = stay.protocols or self.process.protocols

    def _begin(self, stay: Stay) -> None:
        begins_at = stay.begins_at.latest if stay.begins_at is not None else None
        self.process.lives.append(
            Life(
                begins_at=begins_at,
                session_timeout_ms=stay.session_timeout_ms,
                rebalance_timeout_ms=stay.rebalance_timeout_ms,
            )
        )

    def _end(self, stay: Stay) -> None:
        life = self.process.lives[-1]
        life.member_ids.append(stay.member_id)
        life.silences += stay.gaps
        life.removed_at = stay.removed_at
        has_gone = stay.ended in ("left", "silent", "unknown")
        life.ends_at = stay.ends_at if has_gone else None
        life.ended = ("left" if stay.ended == "left" else "died") if has_gone else None


def _process(stay: Stay, number: int) -> Process:
    return Process(
        client_id=stay.client_id,
        client_host=stay.client_host,
        group_instance_id=stay.group_instance_id,
        number=number,
        join_version=stay.join_version,
    )


def _may_wake_up(stay: Stay, at: float) -> bool:
    """Whether who joins at a moment may have been asleep: it would go on as a member if it had not been removed."""
    return stay.ended != "left" and stay.removed_at is not None and stay.removed_at <= at


def _free(slots: Iterable[_Slot], stay: Stay) -> _Slot | None:
    """Choose the process of a stay: one on the same connection, else the one that went last; None = a new one."""
    if stay.begins_at is None:
        return None
    gone = [
        slot
        for slot in slots
        if slot.last is not None
        and slot.last.ends_at is not None
        and slot.last.ends_at.earliest <= stay.begins_at.latest
    ]

    def nearness(slot: _Slot) -> tuple[bool, float]:
        last = slot.last
        if last is None or last.ends_at is None:
            return False, -inf
        return bool(last.connections & stay.connections), last.ends_at.earliest

    return max(gone, key=nearness, default=None)
