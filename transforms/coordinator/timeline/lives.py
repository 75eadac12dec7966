"""The lives of a group id, each with its generations and the stays of its members.

A group has lives: its id may come back after a deletion, or its generations begin anew after a failover. A life keeps
what is still open; what is settled has left it as rows, and only what later generations are compared to stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from transforms.coordinator.evidence.sources import AUTHORITY, OFFSETS, Authority, Source
from transforms.coordinator.evidence.tolerances import ONE_DELETION_MS
from transforms.coordinator.timeline.chain import Chain
from transforms.coordinator.timeline.facts import Fact, GenerationFacts, Identity, Session, better

MOST_ENDED = 50
"""So many settled stays of a life are remembered, the latest."""

MOST_IDENTITIES = 1_000
"""So many clients of a group are remembered, the latest, so that one that comes back is known again."""


class Life(Struct, array_like=True):
    """One life of a group.

    Attributes:
        group_type: type of the group (`schemas.words.GROUP_TYPES`); only a classic one has its generations here.
        generations: what is known of its generations that are not settled, by number.
        sessions: what is known of stays that are not settled, by member id.
        ended: the latest of those that are settled: a member that the replay took to be gone may still be there.
        is_over: it ended.
        ended_at: when.
        settled_through: number of the last settled generation; 0 = none.
        settled_at: when the join phase of the last settled generation had ended.
        highest_counted: highest number of a settled generation whose join phase ended.
        highest_stored: highest number of a settled generation that a record shows.
        chain: what the next generation to settle is compared to.
        moves: changes of state so far.
        moved_at: when the last of them was.
    """

    number: int
    group_type: str = "classic"
    generations: dict[int, GenerationFacts] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    ended: dict[str, Session] = field(default_factory=dict)
    is_over: bool = False
    ended_at: Fact[float] | None = None
    settled_through: int = 0
    settled_at: float = 0.0
    highest_counted: int = 0
    highest_stored: int = 0
    chain: Chain = field(default_factory=Chain)
    moves: int = 0
    moved_at: float = 0.0

    def generation(self, number: int) -> GenerationFacts:
        """Return the facts of a generation, new if nothing was known of it."""
        known = self.generations.get(number)
        if known is None:
            known = self.generations[number] = GenerationFacts(self.number, number)
        return known

    def session(self, member_id: str) -> Session:
        """Return the facts of a member's stay, new if nothing was known of it.

        A stay that was told of as settled is open again; what will be told of it stands in place of what was.
        """
        known = self.sessions.get(member_id)
        if known is None:
            known = self.ended.pop(member_id, None)
            if known is None:
                known = Session(member_id)
            else:
                known.reopen()
            self.sessions[member_id] = known
        return known

    def end_session(self, session: Session) -> None:
        """Let go of a stay; its row was told."""
        del self.sessions[session.member_id]
        self.ended[session.member_id] = session
        if len(self.ended) > MOST_ENDED:
            del self.ended[next(iter(self.ended))]

    def has(self, number: int) -> bool:
        """Whether anything is known of a generation, or was before it was settled."""
        return number in self.generations or 0 < number <= self.settled_through

    @property
    def has_lived(self) -> bool:
        """Whether it has a generation; the id of a group that only has offsets does not count."""
        return bool(self.generations) or self.settled_through > 0 or not self.is_classic

    @property
    def is_classic(self) -> bool:
        """Whether the group speaks the classic protocol in it."""
        return self.group_type == "classic"

    def in_order(self) -> list[GenerationFacts]:
        """Return the generations that are not settled, in their order."""
        return [self.generations[number] for number in sorted(self.generations)]

    def after(self, row: GenerationFacts) -> Iterator[GenerationFacts]:
        """Yield the generations that are not settled and came after one, in their order; of none, none is sorted."""
        yield from (self.generations[number] for number in sorted(self.generations) if number > row.generation)

    def most_counted(self) -> int:
        """Return the highest number of a generation whose join phase ended; 0 = none."""
        counted = [row.generation for row in self.generations.values() if row.is_counted]
        return max(counted, default=self.highest_counted)

    def most_stored(self) -> int:
        """Return the highest number of a generation that a record shows; 0 = none."""
        stored = [row.generation for row in self.generations.values() if OFFSETS in row.sources]
        return max(stored, default=self.highest_stored)

    def settle(self, row: GenerationFacts) -> None:
        """Let go of a generation; its rows were told."""
        del self.generations[row.generation]
        self.settled_through = max(self.settled_through, row.generation)
        self.settled_at = max(self.settled_at, row.counted_at or 0.0)
        if row.is_counted:
            self.highest_counted = max(self.highest_counted, row.generation)
        if OFFSETS in row.sources:
            self.highest_stored = max(self.highest_stored, row.generation)

    def come_about(self, number: int) -> GenerationFacts:
        """Return the facts of a generation that something shows to come about.

        What is known of a join phase that was lost is forgotten: what is learnt from now on is of the next.
        """
        known = self.generation(number)
        if known.was_lost:
            known = self.generations[number] = GenerationFacts(
                self.number, number, members=known.members, members_authority=known.members_authority, told=known.told
            )
        return known

    def forget_replayed(self, after: int) -> None:
        """Forget the generations after one that the replayed machine alone has seen: a record shows that none came."""
        self.generations = {
            number: row
            for number, row in self.generations.items()
            if number <= after or any(AUTHORITY[source] > Authority.REPLAYED for source in row.sources)
        }


class Lives(Struct, array_like=True):
    """The lives of one group id.

    Attributes:
        number: the group's present (or next) life.
        by_number: those of which something is not settled yet, and the present one.
        died_at: when the group was last deleted; `ended_number` is the life that ended, `witnesses` its witnesses.
        settle_at: when they are looked through next for what is settled.
        identities: by instance, or client and host, the last member id; the latest at the end.
    """

    number: int = 1
    by_number: dict[int, Life] = field(default_factory=lambda: {1: Life(1)})
    died_at: float | None = None
    ended_number: int = 0
    witnesses: set[Source] = field(default_factory=set)
    settle_at: float = 0.0
    identities: dict[Identity, str] = field(default_factory=dict)

    @property
    def present(self) -> Life:
        """The present life."""
        return self.by_number[self.number]

    @property
    def before(self) -> Life | None:
        """The life before the present one, as long as something of it is open."""
        return self.by_number.get(self.number - 1)

    def __iter__(self) -> Iterator[Life]:
        """Yield the lives that are kept, in their order."""
        return iter([self.by_number[number] for number in sorted(self.by_number)])

    def settle_by(self, at: float) -> None:
        """Let them be looked through at a moment at the latest."""
        if at < self.settle_at:
            self.settle_at = at

    # --- their ends ----------------------------------------------------------------------------------------------

    def deleted(self, at: float, source: Source) -> None:
        """The group was deleted; the id may come back, in its next life."""
        self.died_at, self.ended_number, self.witnesses = at, self.number, {source}
        self.begin(at, source)

    def begin(self, at: float, source: Source) -> None:
        """End the present life, if it has lived, and begin the next."""
        life = self.present
        if life.has_lived:
            life.is_over = True
            life.ended_at = better(life.ended_at, at, AUTHORITY[source])
            self.number += 1
            self.by_number[self.number] = Life(self.number)

    def is_deletion_known(self, at: float, source: Source) -> bool:
        """Whether a deletion that a source shows is the one that another source has shown already.

        Request, line and tombstone are three witnesses of one deletion, a few ms apart; the best of them dates it.
        """
        if self.died_at is None or source in self.witnesses or abs(at - self.died_at) > ONE_DELETION_MS:
            return False
        self.witnesses.add(source)
        ended = self.by_number.get(self.ended_number)
        if ended is not None and ended.is_over:
            ended.ended_at = better(ended.ended_at, at, AUTHORITY[source])
        return True

    # --- whose ---------------------------------------------------------------------------------------------------

    def of_generation(self, number: int) -> Life:
        """Return the life in which a generation that was just told of lies: this one, or one that just ended."""
        present = self.by_number[self.number]
        if present.has_lived:
            return present
        before = self.before
        return before if before is not None and before.has(number) else present

    def of_leaver(self, member_id: str) -> Life:
        """Return the life of a member that has gone: this one, or one that just ended."""
        before = self.before
        if member_id not in self.present.sessions and before is not None and not self.present.has_lived:
            return before if member_id in before.sessions else self.present
        return self.present

    def link(self, session: Session, identity: Identity) -> None:
        """Give a stay its predecessor: the last one of the same instance, or of the same client and host."""
        session.is_linked = True
        session.previous_member_id = self.identities.pop(identity, None)
        self.identities[identity] = session.member_id
        if len(self.identities) > MOST_IDENTITIES:
            del self.identities[next(iter(self.identities))]
