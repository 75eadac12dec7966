"""What is known of a generation and of a member's stay, each fact held with the authority of what showed it.

A fact of equal authority that comes later does not replace the one that is there: what is told twice was true the
first time.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import astuple

from transforms.coordinator.evidence.sources import ANSWER, AUTHORITY, Authority, Source

Value = TypeVar("Value")


class Fact(Struct, Generic[Value], frozen=True, array_like=True, gc=False):
    """One fact, and the authority of what showed it."""

    value: Value
    authority: Authority


def value_of(fact: Fact[Value] | None) -> Value | None:
    """Return what a fact says; None if it is not known."""
    return None if fact is None else fact.value


def authority_of(fact: Fact[Value] | None) -> Authority:
    """Return the authority of a fact; NONE if it is not known."""
    return Authority.NONE if fact is None else fact.authority


def better(known: Fact[Value] | None, value: Value | None, authority: Authority) -> Fact[Value] | None:
    """Return the fact that stands when another source tells of it; None is no fact."""
    if value is None or (known is not None and known.authority >= authority):
        return known
    return Fact(value, authority)


class MemberFacts(Struct, gc=False, array_like=True):
    """One member of a generation.

    Attributes:
        assigned: topic and partition pairs in the order of the wire; None = not known.
        subscription: the bytes, by which a change is seen even where they cannot be decoded.
        valid_from: when the member took the assignment over, if not with the generation.
        valid_to: when another id took it over.
        is_stored: a record holds it.
    """

    member_id: str
    group_instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    topics: tuple[str, ...] | None = None
    subscription: bytes | None = None
    assigned: tuple[tuple[str, int], ...] | None = None
    replaces: str | None = None
    valid_from: float | None = None
    valid_to: float | None = None
    is_stored: bool = False

    def fill(self, known: MemberFacts) -> None:
        """Fill its gaps with what was known before."""
        for name, now, was in zip(self.__struct_fields__, astuple(self), astuple(known), strict=True):
            if now is None and was is not None:
                setattr(self, name, was)


_MOST_SETS = 32
"""More than static members can come back in the few ms by which a record is taken late."""


class GenerationFacts(Struct, array_like=True):
    """All that is known of one generation.

    Attributes:
        sources: what has shown anything of it.
        assigned_at: when the leader's assignment came in, by the broker's line.
        stable_at: when it was stored, by its record.
        foreseen_stable_at: when the replayed machine became Stable.
        joined_by: when somebody was told that its join phase was over.
        is_stored: a record of it was read.
        stable_sets: the last member sets that records or the machine showed when it was Stable.
        members: by member id, in the order of the source that showed them; with those replaced inside it.
        members_authority: authority of what showed the members.
        told: by member id, when its SyncGroup was first answered without error.
        is_inferred: a step was put in that nothing shows.
        was_lost: its join phase had begun when another coordinator took over, which knew nothing of it.
    """

    life: int
    generation: int
    sources: set[Source] = field(default_factory=set)
    preparing_at: Fact[float] | None = None
    completing_at: Fact[float] | None = None
    assigned_at: Fact[float] | None = None
    stable_at: Fact[float] | None = None
    foreseen_stable_at: Fact[float] | None = None
    emptied_at: Fact[float] | None = None
    joined_by: Fact[float] | None = None
    trigger: Fact[str] | None = None
    trigger_member_id: Fact[str] | None = None
    reason: Fact[str] | None = None
    client_reason: Fact[str] | None = None
    protocol: Fact[str] | None = None
    protocol_type: Fact[str] | None = None
    leader: Fact[str] | None = None
    member_count: Fact[int] | None = None
    is_stored: bool = False
    stable_sets: list[frozenset[str]] = field(default_factory=list)
    members: dict[str, MemberFacts] = field(default_factory=dict)
    members_authority: Authority = Authority.NONE
    told: dict[str, float] = field(default_factory=dict)
    is_inferred: bool = False
    was_lost: bool = False

    def was_stable_with(self, member_ids: frozenset[str]) -> None:
        """Take a member set with which it was Stable; a record that is taken late can be of one of the last."""
        self.stable_sets.append(member_ids)
        del self.stable_sets[:-_MOST_SETS]

    def learn_times(self, source: Source, **moments: float | None) -> None:
        """Take moments from a source, by the names of the fields that hold them; None is no fact."""
        authority = AUTHORITY[source]
        self.sources.add(source)
        for name, at in moments.items():
            if at is not None:
                setattr(self, name, better(getattr(self, name), at, authority))

    def joined(self, at: float) -> None:
        """Take the moment by which somebody had been told that the join phase was over."""
        self.learn_times(ANSWER, joined_by=at)
        ended = self.completing_at
        if ended is not None and ended.value > at and ended.authority is Authority.REPLAYED:
            self.completing_at = Fact(at, Authority.REPLAYED)

    def learn_cause(
        self,
        source: Source,
        *,
        trigger: str | None = None,
        member_id: str | None = None,
        reason: str | None = None,
        client_reason: str | None = None,
    ) -> None:
        """Take why the rebalance began."""
        authority = AUTHORITY[source]
        self.sources.add(source)
        self.trigger = better(self.trigger, trigger, authority)
        self.trigger_member_id = better(self.trigger_member_id, member_id, authority)
        self.reason = better(self.reason, reason, authority)
        self.client_reason = better(self.client_reason, client_reason, authority)

    def learn_choice(
        self,
        source: Source,
        *,
        protocol: str | None = None,
        protocol_type: str | None = None,
        leader: str | None = None,
        member_count: int | None = None,
    ) -> None:
        """Take what the join phase decided."""
        authority = AUTHORITY[source]
        self.sources.add(source)
        self.protocol = better(self.protocol, protocol, authority)
        self.protocol_type = better(self.protocol_type, protocol_type, authority)
        self.leader = better(self.leader, leader, authority)
        if member_count is not None:
            self.member_count = better(self.member_count, member_count, authority)

    def learn_members(self, source: Source, members: list[MemberFacts]) -> None:
        """Take the member set from a source; the highest authority wins, its gaps are filled by what was known.

        Args:
            source: the source.
            members: the members, which are this generation's from now on.
        """
        authority = AUTHORITY[source]
        if authority < self.members_authority:
            return
        known = self.members
        successors = {member.replaces: member.member_id for member in known.values() if member.replaces is not None}
        self.members = {member.member_id: member for member in members}
        for member_id, member in self.members.items():
            if member_id in known:
                member.fill(known[member_id])
        if successors:
            for member in known.values():
                if member.replaces in self.members:
                    self.members.setdefault(member.member_id, member)
            for member in reversed(known.values()):
                if successors.get(member.member_id) in self.members:
                    self.members.setdefault(member.member_id, member)
        self.members_authority = authority

    def forget_members(self) -> None:
        """Take back the member set, unless a record has it: the replayed machine was wrong."""
        if not self.is_stored:
            self.members, self.members_authority = {}, Authority.NONE

    @property
    def is_counted(self) -> bool:
        """Whether its join phase ended: before, the number is not used yet."""
        return self.counted_at is not None

    @property
    def counted_at(self) -> float | None:
        """When its join phase had ended for sure; None if it has not, as far as is known."""
        for fact in (self.stable_at, self.emptied_at, self.completing_at):
            if fact is not None:
                return fact.value
        return None

    @property
    def current_members(self) -> dict[str, MemberFacts]:
        """Members at the end of the generation: those that were not replaced."""
        replaced = {member.replaces for member in self.members.values()}
        return {key: member for key, member in self.members.items() if key not in replaced}

    @property
    def first_members(self) -> dict[str, MemberFacts]:
        """Members at the beginning of the generation: those that did not come by replacement."""
        return {key: member for key, member in self.members.items() if member.replaces is None}


Identity = tuple[str, str | None, str | None]
"""An instance, or a client and its host."""


class Session(Struct, gc=False, array_like=True):
    """One stay of a member in a group; ids that stay pending have none.

    Attributes:
        gone_at: when its departure was first told, even if not when it was.
        seen_instance_id: its instance as a generation's members show it; `seen_client_id` and `seen_client_host`
            likewise.
        first_generation: first settled generation that it was in; the open ones are not counted yet.
        last_generation: the last of them.
        previous_member_id: the stay before of the same instance, or of the same client and host.
        is_linked: whether that was looked for.
        settled_at: when its row was settled, where it was told before; the member showed itself once more.
        stay: which stay of that member id it is.
    """

    member_id: str
    gone_at: float | None = None
    joined_at: Fact[float] | None = None
    ended_at: Fact[float] | None = None
    end_cause: Fact[str] | None = None
    group_instance_id: Fact[str] | None = None
    client_id: Fact[str] | None = None
    client_host: Fact[str] | None = None
    seen_instance_id: str | None = None
    seen_client_id: str | None = None
    seen_client_host: str | None = None
    first_generation: int | None = None
    last_generation: int | None = None
    previous_member_id: str | None = None
    is_linked: bool = False
    settled_at: float | None = None
    stay: int = 1

    @property
    def identity(self) -> Identity | None:
        """What stays the same when the member comes back: its instance, else client and host; None = not known."""
        instance_id = value_of(self.group_instance_id) or self.seen_instance_id
        client_id = value_of(self.client_id) or self.seen_client_id
        if instance_id is not None:
            return ("instance", instance_id, None)
        if client_id is not None:
            return ("client", client_id, value_of(self.client_host) or self.seen_client_host)
        return None

    def came(
        self,
        source: Source,
        *,
        at: float | None = None,
        group_instance_id: str | None = None,
        client_id: str | None = None,
        client_host: str | None = None,
    ) -> None:
        """Take a member's arrival."""
        authority = AUTHORITY[source]
        self.joined_at = better(self.joined_at, at, authority)
        self.group_instance_id = better(self.group_instance_id, group_instance_id, authority)
        self.client_id = better(self.client_id, client_id, authority)
        self.client_host = better(self.client_host, client_host, authority)

    def reopen(self) -> None:
        """Take back the member's departure, if nothing but the replay said so."""
        if authority_of(self.end_cause) < Authority.LOGGED:
            self.gone_at = self.ended_at = self.end_cause = None

    def went(self, source: Source, end_cause: str, told_at: float, at: float | None = None) -> None:
        """Take a member's departure: when it was told, and when it was, if that is known."""
        authority = AUTHORITY[source]
        self.gone_at = told_at if self.gone_at is None else self.gone_at
        self.ended_at = better(self.ended_at, at, authority)
        self.end_cause = better(self.end_cause, end_cause, authority)
