"""What a rebalance can be part of: the pieces that patterns are made of."""

from __future__ import annotations

from enum import Enum


class Kind(str, Enum):
    """What a rebalance is part of."""

    CRASH = "a process died and came back"
    LOST = "a process lived on and lost its session"
    SILENT = "a process died or paused, and came back"
    SLOW = "a member was too long between two polls, or in coming to a rebalance"
    RESTART = "a client left and came back"
    RETURN = "a client went, how is not known, and came back"
    ARRIVAL = "a client came that had not been there"
    FOUNDING = "the group began"
    DEPARTURE = "a client went and did not come back"
    FENCED = "two processes used one group.instance.id"
    SUBSCRIPTION = "a member changed what it subscribes to, unlike the others"
    METADATA = "topics or partitions changed"
    REVOKER = "a member was slow to give partitions up"
    COORDINATOR = "the coordinator moved, or could not store"
    OTHER = "none of these"
