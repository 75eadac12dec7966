"""What the advice on a burst is made of: its row, its evidence, and whose requests were refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from schemas.rows import IllegalGenerationBurstRow
from transforms.findings.bursts.holders import Holder, Holders
from transforms.findings.bursts.senders import Sender
from transforms.findings.client_settings import ClientSettings, settings_for
from transforms.findings.evidence import Evidence
from transforms.findings.late_leavers import is_a_batch
from transforms.findings.sentences import counted, duration, listed, who


@dataclass(frozen=True)
class Facts:
    """What the sentences are made of."""

    row: IllegalGenerationBurstRow
    evidence: Evidence
    senders: list[Sender]

    @property
    def names(self) -> str:
        """Whose requests were refused."""
        return listed(sorted({who(s.client.client_id, s.client.client_host) for s in self.senders}))

    @property
    def away_ms(self) -> float | None:
        """The longest time from a removal to the client's return, or until it was heard of again."""
        return max(self._away(), default=None)

    def late_ms(self, poll_ms: float) -> float | None:
        """The longest of these times in which a client may have been busy with what it had read."""
        return max((away_ms for away_ms in self._away() if is_a_batch(away_ms, poll_ms)), default=None)

    def _away(self) -> Iterator[float]:
        for sender in self.senders:
            if sender.was_gone and sender.stay is not None and sender.stay.ended_at is not None:
                yield _back_at(sender) - sender.stay.ended_at

    @cached_property
    def settings(self) -> ClientSettings:
        """What settings of the senders are called."""
        return settings_for(self.evidence, {(s.client.client_id, s.client.client_host) for s in self.senders})

    def of_members(self, name: str) -> int | None:
        """The most that one of the senders, as a member, has of a column; where none is known, of all members."""
        keys = {(s.client.client_id, s.client.client_host) for s in self.senders}
        members = self.evidence.members
        mine = [m for m in members if (m.client_id, m.client_host) in keys] or members
        return max((value for m in mine if (value := getattr(m, name)) is not None), default=None)

    @property
    def step(self) -> str:
        """What members of the group are in: a generation, or an epoch."""
        return "generation" if self.evidence.group_type == "classic" else "epoch"

    @cached_property
    def holders(self) -> list[Holder]:
        """Who held the instance ids that were asked for."""
        return Holders(self.evidence).of(self.senders)

    @property
    def kept_out(self) -> str:
        """How many were kept out, within which time."""
        ms = self.row.ended_at - self.row.started_at
        return counted(self.row.error_count, "refusal", "refusals") + (f" within {duration(ms)}" if ms else "")

    @property
    def price(self) -> str:
        """What was lost, as far as it is known."""
        row = self.row
        if not row.lost_commit_count:
            return "No commit was lost."
        said = counted(row.lost_commit_count, "commit of a partition was refused", "commits of partitions were refused")
        if row.reread_count is None:
            return f"{said}; how much was done twice is not in the data."
        if not row.reread_count:
            return f"{said}; nothing was done twice."
        again = counted(row.reread_count, "record was done twice", "records were done twice")
        return f"{said}, and {again}, by them and by the next owners."


def _back_at(sender: Sender) -> float:
    return sender.returned_at if sender.returned_at is not None else sender.told_at
