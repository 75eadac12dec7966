"""One classic group as a plain value: what a coordinator holds in memory of it.

Source: ClassicGroup and ClassicGroupMember (Java), GroupMetadata and MemberMetadata (Scala). Times are epoch ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from operator import attrgetter

from msgspec import Struct, field
from msgspec.structs import replace

from transforms.coordinator.kafka.java_hashing import map_order, vote_order
from transforms.coordinator.kafka.requests import Protocols, Request, could_be
from transforms.coordinator.kafka.states import EMPTY, GroupState


class Member(Struct, frozen=True, gc=False, array_like=True):
    """One member of a group; replaced as a whole when it changes, so that a group once seen stays as it was.

    Attributes:
        is_new: not yet through a join phase; only then a parked member can be expired.
        parked_join: request whose JoinGroup answer is held back; None when not awaiting the join.
        parked_sync: request whose SyncGroup answer is held back.
        join_version: version of its last JoinGroup.
        is_partial: what it offers is not known: a record keeps only the elected protocol of it, a line nothing.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    is_new: bool = False
    parked_join: int | None = None
    parked_sync: int | None = None
    is_partial: bool = False
    join_version: int = 0

    def could_be(self, member_id: str) -> bool:
        """Whether a broker may have made up an id for this member."""
        return could_be(member_id, self.group_instance_id or self.client_id)

    def metadata(self, protocol: str | None) -> bytes | None:
        """Return the member's metadata for a protocol, None if it does not offer it."""
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        return None


class Timer(Struct, frozen=True, gc=False, array_like=True):
    """A deadline: when it is due, and for the initial delay how much longer it may be drawn out."""

    due: float
    delay_ms: int = 0
    remaining_ms: int | None = None


TimerKey = tuple[str, str]
"""Kind of timer ("member", "join", "sync") and the member id, or "" where the timer is the group's."""

JOIN_TIMER: TimerKey = ("join", "")
SYNC_TIMER: TimerKey = ("sync", "")


def member_timer(member_id: str) -> TimerKey:
    """Key of the timer that removes a member, or a pending id, for silence."""
    return ("member", member_id)


class Timers(Struct, array_like=True):
    """Deadlines by key; knows a moment before which none is due, so that most looks at them cost nothing."""

    due: dict[TimerKey, Timer] = field(default_factory=dict)
    none_before: float = -inf

    def start(self, key: TimerKey, timer: Timer) -> None:
        """Set a timer, or start it afresh."""
        if timer.due < self.none_before:
            self.none_before = timer.due
        self.due[key] = timer

    def get(self, key: TimerKey) -> Timer | None:
        """Return a timer that runs, None if there is none."""
        return self.due.get(key)

    def stop(self, key: TimerKey) -> Timer | None:
        """Stop a timer, if it runs, and return it."""
        return self.due.pop(key, None)

    def clear(self) -> None:
        """Stop all timers."""
        self.due.clear()

    def next_until(self, at: float) -> tuple[float, TimerKey] | None:
        """Return the earliest deadline up to a moment, and its key."""
        if self.none_before > at or not self.due:
            return None
        key = min(self.due, key=lambda key: self.due[key].due)
        self.none_before = self.due[key].due
        return (self.none_before, key) if self.none_before <= at else None


class Group(Struct, array_like=True):
    """A group with its members and timers.

    Attributes:
        map_kind: kind of hash map that its members are in (see `java_hashing.map_order`).
        is_known: the members are known; false between a jump that the evidence forced and the next record.
        largest: most members at once, which sizes the coordinator's hash map (see `java_hashing.map_order`).
        pending_joins: ids given out that did not come back yet, and the requests by which they were asked for.
        pending_syncs: members that did not send SyncGroup in this generation.
        new_member_added: a member came during the initial delay, which draws it out.
    """

    group_id: str
    map_kind: str = "java"
    state: GroupState = EMPTY
    previous_state: GroupState = EMPTY
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    is_known: bool = True
    members: dict[str, Member] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    largest: int = 0
    pending_joins: dict[str, Request] = field(default_factory=dict)
    pending_syncs: dict[str, None] = field(default_factory=dict)
    new_member_added: bool = False
    timers: Timers = field(default_factory=Timers)

    def in_map_order(self) -> Iterator[Member]:
        """Yield the members in the order in which the coordinator's own map does."""
        return (self.members[key] for key in map_order(self.members, self.largest, self.map_kind))

    @property
    def awaiting_join(self) -> int:
        """Members whose JoinGroup is parked."""
        return len(self.members) - [*map(_PARKED_JOIN, self.members.values())].count(None)

    @property
    def all_joined(self) -> bool:
        """Every member waits for the end of the join phase, and no id is pending (hasAllMembersJoined)."""
        return not self.pending_joins and None not in map(_PARKED_JOIN, self.members.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members."""
        return max(map(_REBALANCE_TIMEOUT, self.members.values()), default=0)

    @property
    def extension_ms(self) -> int:
        """How much longer a join phase lasts that nobody has come to: a moment at least, or time would stand still."""
        return max(self.rebalance_timeout_ms, 1)

    @property
    def parked(self) -> set[int | None]:
        """Tokens of the requests whose answers are held back (and None)."""
        tokens: set[int | None] = {member.parked_join for member in self.members.values()}
        return tokens | {member.parked_sync for member in self.members.values()}

    def supports(self, protocol_type: str | None, protocols: Protocols) -> bool:
        """Whether a joiner's protocols fit the group (ClassicGroup.supportsProtocols)."""
        if self.state is EMPTY:
            return bool(protocol_type) and bool(protocols)
        if self.protocol_type != protocol_type:
            return False
        for name, _ in protocols:
            for member in self.members.values():
                offered = member.protocols
                is_first = bool(offered) and offered[0][0] == name  # mostly
                if not is_first and not member.is_partial and member.metadata(name) is None:
                    break
            else:
                return True
        return False

    def surely_supports(self, protocols: Protocols) -> bool:
        """Whether one of a joiner's protocols is known to be offered by each member, a partial one, too."""
        return any(all(each.metadata(name) is not None for each in self.members.values()) for name, _ in protocols)

    def vote(self, instead: Member | None = None) -> str | None:
        """Return the protocol that the members elect (ClassicGroup.selectProtocol).

        Args:
            instead: the vote as it would be if this member stood in the place of the one with its id.
        """
        members = self.members if instead is None else {**self.members, instead.member_id: instead}
        voters = [member for member in members.values() if not member.is_partial]
        if not voters:
            return self.protocol if members else None
        offered = [[name for name, _ in member.protocols] for member in voters]
        if offered.count(offered[0]) == len(offered):
            return offered[0][0] if offered[0] else None  # mostly: they all vote for the same
        candidates = set(offered[0]).intersection(*offered[1:])
        votes: dict[str, int] = {}
        for names in offered:
            choice = next((name for name in names if name in candidates), None)
            if choice is not None:
                votes[choice] = votes.get(choice, 0) + 1
        order = vote_order(votes, self.map_kind)
        return max(order, key=votes.__getitem__) if order else None

    def add(self, member: Member) -> None:
        """Add a member (ClassicGroup.add); as no broker gives an id out twice, whoever had it had it by mistake."""
        known = self.members.get(member.member_id)
        if known is not None and known.group_instance_id is not None:
            self.static_members.pop(known.group_instance_id, None)
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self.largest = max(self.largest, len(self.members))
        self.pending_joins.pop(member.member_id, None)

    def put(self, member: Member) -> None:
        """Put a member as it is now into the place of what it was."""
        self.members[member.member_id] = member

    def rename(self, old_id: str, new_id: str) -> None:
        """Let a member go by another id, in the same place of the order of insertion."""
        self.members = {
            (new_id if key == old_id else key): (replace(member, member_id=new_id) if key == old_id else member)
            for key, member in self.members.items()
        }
        self.static_members = {key: (new_id if of == old_id else of) for key, of in self.static_members.items()}
        self.leader = new_id if self.leader == old_id else self.leader
        timer = self.timers.stop(member_timer(old_id))
        if timer is not None:
            self.timers.start(member_timer(new_id), timer)

    def remove(self, member_id: str) -> Member | None:
        """Remove a member or a pending id; a leader is followed by the first of the map (ClassicGroup.remove)."""
        removed = self.members.pop(member_id, None)
        if removed is not None and removed.group_instance_id is not None:
            self.static_members.pop(removed.group_instance_id, None)
        if self.leader == member_id:
            self.leader = next((member.member_id for member in self.in_map_order()), None)
        self.pending_joins.pop(member_id, None)
        self.pending_syncs.pop(member_id, None)
        return removed


_PARKED_JOIN = attrgetter("parked_join")
_REBALANCE_TIMEOUT = attrgetter("rebalance_timeout_ms")


_NO_TIMERS = Timers()


def view(group: Group | None) -> Group | None:
    """Return what a request is judged by, cut off from what happens to the group later."""
    if group is None:
        return None
    return Group(
        group.group_id,
        group.map_kind,
        group.state,
        group.previous_state,
        group.generation,
        group.protocol_type,
        group.protocol,
        group.leader,
        group.is_known,
        group.members.copy(),
        group.static_members.copy(),
        group.largest,
        group.pending_joins.copy(),
        timers=_NO_TIMERS,
    )
