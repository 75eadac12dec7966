"""Which snapshots of a group are worth keeping: a few, further and further apart.

Evidence that comes late sends a group back to its youngest snapshot before it. Most is late by little, some by a day;
so the youngest are kept close together, and older ones at distances that double.
"""

from __future__ import annotations

from collections.abc import Sequence

CLOSEST_MS = 600_000.0
"""Distance of the two youngest that are kept; of each older one it is at least twice that of the one before."""

MOST = 12
"""Snapshots of one group; the oldest of them is more than two weeks before the youngest."""


def kept(moments: Sequence[float]) -> list[float]:
    """Return those of a group's snapshots that are to be kept, by their moments (epoch ms), youngest first.

    The youngest stays, and the one before it, for a run may be repeated.
    """
    youngest_first = sorted(set(moments), reverse=True)
    keep = youngest_first[:2]
    distance = CLOSEST_MS
    for at in youngest_first[2:]:
        if len(keep) == MOST:
            break
        if keep[-1] - at >= distance:
            keep.append(at)
            distance *= 2
    return keep
