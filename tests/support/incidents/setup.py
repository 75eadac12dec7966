"""How a consumer is set up."""

from __future__ import annotations

from dataclasses import dataclass

COOPERATIVE = "cooperative-sticky"


@dataclass(frozen=True)
class Setup:
    """A consumer's settings, durations in ms.

    Attributes:
        batch_ms: longest time that a batch usually takes.
        commit_ms: time between two commits.
        says_why: it gives reasons (Java since 3.2).
        find_ms: longest time it takes to find a coordinator that has moved.
    """

    topics: tuple[str, ...]
    protocols: tuple[str, ...] = ("range",)
    session_ms: int = 45_000
    heartbeat_ms: int = 3_000
    poll_ms: int = 300_000
    commit_ms: int = 5_000
    batch_ms: int = 500
    says_why: bool = True
    find_ms: int = 1_000
    software: tuple[str, str] = ("apache-kafka-java", "4.2.0")
