"""What a simulated client stands on: the coordinator, and the clock."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from transforms.coordinator.classic.machine.events import Answered
from transforms.coordinator.kafka.requests import Request


class Listener(Protocol):
    """Who sends requests and hears the answers; its attributes are those of `client.Client`."""

    process: int
    owner: str
    member_id: str

    @property
    def is_well(self) -> bool:
        """Whether it is a member that keeps its session alive."""

    def hear(self, api: str, answered: Answered) -> None:
        """Take an answer."""

    def notice(self, at: float) -> None:
        """Send the next heartbeat: there is something to learn from it."""

    def change_subscription(self, at: float) -> None:
        """Join again with another subscription."""


class Floor(Protocol):
    """Coordinator and clock, as a client sees them."""

    random: Random

    def send(self, client: Listener, request: Request) -> None:
        """Hand a request to the coordinator."""

    def later(self, at: float, act: Callable[[float], None]) -> None:
        """Do something at a moment."""

    def token(self) -> int:
        """Return a number that no request has yet."""

    def assigned(self, strategy: str) -> dict[str, bytes]:
        """Share out the partitions among the members that joined."""

    def is_completing(self, generation: int) -> bool:
        """Whether the group waits for the assignment of a generation."""

    def is_member(self, member_id: str) -> bool:
        """Whether the coordinator knows a member."""

    def lapse(self, client: Listener, last_sign: float) -> None:
        """Let a client's session run out, counted from its last sign of life."""
