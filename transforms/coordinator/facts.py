"""Facts about a generation, each held with the authority of what showed it.

A GroupMetadata record wins over a log line, a log line over the replayed machine. A fact of equal authority that
comes later does not replace the one that is there: what is told twice was true the first time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

AUTHORITY = {"timer": 1, "request_log": 1, "follows_from_line": 1, "answer": 2, "broker_log": 3, "offsets": 4}
"""Authority by source.

"answer" is what the broker told in an answer of the request log; "follows_from_line" what the machine did because of
a line that speaks of something else ("Member m has failed" begins a join phase, which has a line of its own).
"""

EVIDENCE_OF = {"timer": "request_log", "answer": "request_log", "follows_from_line": "broker_log"}
"""The kind of evidence behind a source, where it has another name."""


@dataclass(slots=True)
class Facts:
    """Named facts with the source of each."""

    values: dict[str, tuple[int, Any]] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)

    def learn(self, source: str, **facts: Any) -> None:
        """Take facts from a source; None is no fact."""
        authority = AUTHORITY[source]
        for name, value in facts.items():
            if value is None:
                continue
            known = self.values.get(name)
            if known is None or known[0] < authority:
                self.values[name] = (authority, value)
        self.sources.add(source)

    def get(self, name: str) -> Any:
        """Return a fact, None if it is not known."""
        known = self.values.get(name)
        return None if known is None else known[1]

    def authority(self, name: str) -> int:
        """Return the authority of a fact, 0 if it is not known."""
        known = self.values.get(name)
        return 0 if known is None else known[0]


@dataclass(slots=True)
class MemberFacts:
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


@dataclass(slots=True)
class GenerationFacts:
    """All that is known of one generation.

    Attributes:
        members: by member id, in the order of the source that showed them; with those replaced inside it.
        members_authority: authority of what showed the members.
        told: by member id, when its SyncGroup was first answered without error.
        is_inferred: a step was put in that nothing shows.
        was_lost: its join phase had begun when another coordinator took over, which knew nothing of it.
    """

    life: int
    generation: int
    facts: Facts = field(default_factory=Facts)
    members: dict[str, MemberFacts] = field(default_factory=dict)
    members_authority: int = 0
    told: dict[str, float] = field(default_factory=dict)
    is_inferred: bool = False
    was_lost: bool = False

    def begin_again(self) -> None:
        """Forget a join phase that was lost: what is learnt from now on is of the next."""
        self.facts, self.is_inferred, self.was_lost = Facts(), False, False

    def learn_members(self, source: str, members: list[MemberFacts]) -> None:
        """Take the member set from a source; the highest authority wins, its gaps are filled by what was known."""
        authority = AUTHORITY[source]
        if authority < self.members_authority:
            return
        known = self.members
        self.members = {member.member_id: _filled(member, known.get(member.member_id)) for member in members}
        for member in known.values():
            if member.replaces in self.members:
                self.members.setdefault(member.member_id, member)
        self.members_authority = authority

    @property
    def is_counted(self) -> bool:
        """Whether its join phase ended: before, the number is not used yet."""
        return any(self.facts.get(name) is not None for name in ("completing_at", "stable_at", "emptied_at"))

    @property
    def current_members(self) -> dict[str, MemberFacts]:
        """Members at the end of the generation: those that were not replaced."""
        replaced = {member.replaces for member in self.members.values()}
        return {key: member for key, member in self.members.items() if key not in replaced}

    @property
    def first_members(self) -> dict[str, MemberFacts]:
        """Members at the beginning of the generation: those that did not come by replacement."""
        return {key: member for key, member in self.members.items() if member.replaces is None}


def _filled(member: MemberFacts, known: MemberFacts | None) -> MemberFacts:
    if known is not None:
        for name in MemberFacts.__slots__:
            if getattr(member, name) is None:
                setattr(member, name, getattr(known, name))
    return member


@dataclass(slots=True)
class Session:
    """One stay of a member in a group."""

    life: int
    member_id: str
    facts: Facts = field(default_factory=Facts)
    is_member: bool = False


@dataclass(slots=True)
class Timeline:
    """What is known of a group, life by life and generation by generation."""

    generations: dict[tuple[int, int], GenerationFacts] = field(default_factory=dict)
    sessions: dict[tuple[int, str], Session] = field(default_factory=dict)
    life_ends: dict[int, Facts] = field(default_factory=dict)

    def generation(self, life: int, generation: int) -> GenerationFacts:
        """Return the facts of a generation, new if nothing was known of it."""
        return self.generations.setdefault((life, generation), GenerationFacts(life, generation))

    def session(self, life: int, member_id: str) -> Session:
        """Return the facts of a member's stay, new if nothing was known of it."""
        return self.sessions.setdefault((life, member_id), Session(life, member_id))

    def end_of_life(self, life: int) -> Facts:
        """Return what is known of the end of a life."""
        return self.life_ends.setdefault(life, Facts())

    def of_life(self, life: int) -> Iterator[GenerationFacts]:
        """Yield the generations of one life in their order."""
        for key in sorted(key for key in self.generations if key[0] == life):
            yield self.generations[key]
