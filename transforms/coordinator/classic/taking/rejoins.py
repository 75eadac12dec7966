"""Finds the rejoins that brought new metadata, where the request log does not print it.

Up to 2.7 a broker logs its requests as text, in which a JoinGroup has the names of the protocols and no bytes. Whether
a member that joins again brings anything new decides whether the group rebalances; the broker's log says so in the
reason of the rebalance, "Updating metadata for member m". Both are seen ahead of their turn, and put together here.
"""

from __future__ import annotations

from operator import attrgetter

from msgspec import Struct, field

from schemas.rows import CoordinatorEventRow, GroupRequestRow
from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS, REASON_SLACK_MS

_TRIGGERS = frozenset({"subscription_changed", "leader_rejoined"})
"""Reasons of rebalances that a rejoin brings about; up to 2.6 both have one text."""

_MEMORY_MS = 2 * LOOK_AHEAD_MS


class Rejoin(Struct, frozen=True, gc=False, array_like=True):
    """A rejoin without bytes: when it was handled, when it was answered, and with what generation."""

    token: int
    member_id: str
    handled_at: float
    answered_at: float
    told: int | None


class Begun(Struct, frozen=True, gc=False, array_like=True):
    """A line about a rebalance that a rejoin began, and the generation that it ends."""

    at: float
    member_id: str
    generation: int | None


class Rejoins(Struct, array_like=True):
    """Rejoins and such lines of the last moments.

    Attributes:
        rejoins: rejoins without bytes, in the order in which they were handled.
        begun: lines for which no rejoin was found yet.
        changed: when it was handled, by token of a rejoin that a line was found for.
        told_apart: the same of a rejoin that only its answer tells from the one that a line is about.
    """

    rejoins: list[Rejoin] = field(default_factory=list)
    begun: list[Begun] = field(default_factory=list)
    changed: dict[int, float] = field(default_factory=dict)
    told_apart: dict[int, float] = field(default_factory=dict)

    def notice_request(self, token: int, row: GroupRequestRow, at: float) -> None:
        """Take a JoinGroup, which was handled at a moment."""
        if not is_unprinted(row):
            return
        self._forget(at - _MEMORY_MS)
        told = None if row.error_code else row.answered_generation
        rejoin = Rejoin(token, row.member_id or "", at, row.answered_at, told)
        line = next((line for line in self.begun if self._belong_together(rejoin, line)), None)
        if line is None:
            self.rejoins.append(rejoin)
        else:
            self.begun.remove(line)
            self.changed[token] = at

    def notice_line(self, row: CoordinatorEventRow) -> None:
        """Take a line about the group."""
        if row.event != "preparing_rebalance" or (row.attributes or {}).get("trigger") not in _TRIGGERS:
            return
        self._forget((row.logged_at or 0.0) - _MEMORY_MS)
        line = Begun(row.logged_at or 0.0, row.member_id or "", row.generation)
        rejoin = next((rejoin for rejoin in self.rejoins if self._belong_together(rejoin, line)), None)
        if rejoin is None:
            self.begun.append(line)
        else:
            self.changed[rejoin.token] = rejoin.handled_at

    def _forget(self, before: float) -> None:
        self.begun = [line for line in self.begun if line.at >= before]
        self.rejoins = [rejoin for rejoin in self.rejoins if rejoin.handled_at >= before]
        self.changed = _younger(self.changed, before)
        self.told_apart = _younger(self.told_apart, before)

    def _belong_together(self, rejoin: Rejoin, line: Begun) -> bool:
        """Whether a rejoin began a rebalance.

        One that came before is answered with the generation that ends here, one after it finds nothing to change.
        """
        if rejoin.member_id != line.member_id:
            return False
        if not rejoin.handled_at - REASON_SLACK_MS <= line.at <= rejoin.answered_at + REASON_SLACK_MS:
            return False
        if rejoin.told == line.generation:
            self.told_apart[rejoin.token] = rejoin.handled_at
        return rejoin.told != line.generation


def _younger(moments: dict[int, float], than: float) -> dict[int, float]:
    return {key: at for key, at in moments.items() if at >= than} if moments else moments


def is_unprinted(row: GroupRequestRow) -> bool:
    """Whether this is a rejoin that was logged without the bytes of its metadata, and not refused in any case."""
    if row.api != "JoinGroup" or not row.member_id or (row.error_code and not row.parked_ms):
        return False
    return None in map(_METADATA, row.protocols or ())


_METADATA = attrgetter("metadata")
