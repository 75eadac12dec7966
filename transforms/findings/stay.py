"""One stay of a member in a group, and how it hangs together with those of the same client before and after."""

from __future__ import annotations

from dataclasses import dataclass, field

from transforms.findings.clients import Client

OFTEN = 3
"""From so many times on what a client does is no chance but a habit."""


@dataclass(eq=False)
class Stay:
    """One stay of a member.

    Attributes:
        member_id: the member.
        client: who it was.
        joined_at: when it came; null = before the data.
        ended_at: when it went; null = still in.
        end_cause: how it went.
        before: the stay that this one is the return of.
        after: the stay in which the client came back.
        lived_on: the process lived on after the coordinator had removed it; null = not known.
        was_late: the client left each time as it had not polled for too long, by the length of its stays, as it gives
            no reason; null = they were long enough for that, but do not show it.
        group_type: protocol of the group that it was a member of.
        origin: the client of the first stay in the chain of returns that this one is part of.
    """

    member_id: str
    client: Client
    joined_at: float | None
    ended_at: float | None
    end_cause: str | None
    before: Stay | None = field(default=None, repr=False)
    after: Stay | None = field(default=None, repr=False)
    lived_on: bool | None = None
    was_late: bool | None = False
    group_type: str = "classic"
    origin: Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Begin a chain of its own."""
        self.origin = self.client

    @property
    def is_handed_on(self) -> bool:
        """Whether it ended as its client gave its instance id back, for whoever comes under it next (epoch -2)."""
        return self.end_cause == "replaced" and self.group_type != "classic"

    @property
    def away_ms(self) -> float | None:
        """How long the client was out of the group until it came back."""
        if self.after is None or self.ended_at is None or self.after.joined_at is None:
            return None
        return max(0.0, self.after.joined_at - self.ended_at)
