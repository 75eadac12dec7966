"""What clients do by default: the values that are taken where no evidence tells those of a client.

Source: ConsumerConfig (Kafka 3.0 and later; session.timeout.ms was 10,000 before, KIP-735).
"""

from __future__ import annotations

from typing import Final

SESSION_TIMEOUT_MS: Final = 45_000
"""session.timeout.ms."""

HEARTBEAT_INTERVAL_MS: Final = 3_000
"""heartbeat.interval.ms."""

MAX_POLL_INTERVAL_MS: Final = 300_000
"""max.poll.interval.ms, with which a member joins as its rebalance timeout."""
