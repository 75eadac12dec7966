"""States of a classic group."""

from __future__ import annotations

from enum import Enum


class GroupState(str, Enum):
    """State of a classic group, spelled as Kafka's admin API does (ClassicGroupState)."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"

    __hash__ = str.__hash__  # Enum's own is Python, and is asked at every look at the table
