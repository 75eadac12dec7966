"""The horizon of a cluster: the moment before which its evidence is taken to be complete.

Each source of evidence (the offsets topic, the logs of each broker) has spoken up to some moment. What is older than
the least of these, less a lateness, is settled. A source that has been silent for long does not hold the others back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Horizon:
    """How far the evidence of a cluster is complete.

    Attributes:
        at: the horizon (epoch ms); -inf where nothing has spoken.
        silent: sources that have been silent for too long, and are not waited for.
    """

    at: float
    silent: tuple[str, ...] = ()


def horizon(newest: Mapping[str, float], lateness_ms: float, silence_ms: float) -> Horizon:
    """Return the horizon of a cluster.

    Args:
        newest: by source, the newest moment it has spoken of (epoch ms).
        lateness_ms: how late evidence may come.
        silence_ms: how long a silent source is waited for, measured by the others.
    """
    if not newest:
        return Horizon(-inf)
    now = max(newest.values())
    speaking = [at for at in newest.values() if at >= now - silence_ms]
    silent = tuple(sorted(source for source, at in newest.items() if at < now - silence_ms))
    return Horizon(min(speaking) - lateness_ms, silent)
