"""What the advice on a storm is made of: its row, its evidence, and whom and what its pattern is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from schemas.rows import GenerationMemberRow, RebalanceStormRow
from transforms.findings.clients import Client
from transforms.findings.evidence import Evidence
from transforms.findings.sentences import SESSION_SETTINGS, listed, who
from transforms.findings.stay import Stay
from transforms.findings.storms.revoking import Wait


@dataclass(frozen=True)
class Facts:
    """What the sentences are made of.

    Attributes:
        row: the storm's row.
        evidence: the storm's evidence.
        fitting: number of rebalances that fit the pattern.
        saved: number of these that would not have been, had nobody gone; a client's first coming would have.
        clients: clients behind them, in order of appearance.
        stays: ended stays that they are about.
        waits: waits of rebalances that they held up.
    """

    row: RebalanceStormRow
    evidence: Evidence
    fitting: int
    saved: int
    clients: list[Client]
    stays: list[Stay]
    waits: list[Wait]

    @property
    def session_setting(self) -> str:
        """The name of what says how long a member may be silent."""
        return SESSION_SETTINGS[self.evidence.group_type]

    @property
    def has_epochs(self) -> bool:
        """Whether the group is none of the classic protocol."""
        return self.evidence.group_type != "classic"

    @property
    def share(self) -> str:
        """How many of the rebalances fit the pattern."""
        return f"{self.fitting} of {self.row.rebalance_count} rebalances"

    @property
    def saving(self) -> str:
        """How many of the rebalances would not have been."""
        return f"{self.saved} of {self.row.rebalance_count} rebalances"

    @property
    def culprit(self) -> str:
        """The clients behind them, or the main one."""
        if len(self.clients) > 1:
            return listed([who(client.client_id, client.client_host) for client in self.clients])
        return who(self.row.main_client_id, self.row.main_client_host)

    @property
    def away_ms(self) -> float | None:
        """The longest that somebody was away."""
        return max((away for stay in self.stays if (away := stay.away_ms) is not None), default=None)

    @property
    def session_ms(self) -> int | None:
        """The longest session of the culprits; null = no record tells it."""
        return self._most("session_timeout_ms")

    @property
    def poll_ms(self) -> int | None:
        """The longest that one of the culprits may be between two polls."""
        return self._most("rebalance_timeout_ms")

    def _most(self, name: str) -> int | None:
        return max((value for row in self._members if (value := getattr(row, name)) is not None), default=None)

    @cached_property
    def _members(self) -> list[GenerationMemberRow]:
        """The culprits as members; where none is known as one, all members."""
        keys = {client.key for client in self.clients}
        members = self.evidence.members
        return [m for m in members if Client(m.client_id, m.client_host, m.group_instance_id).key in keys] or members
