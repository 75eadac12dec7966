"""Which partition of `__consumer_offsets` a group lives in.

A group is sought in another partition once the topic was expanded. Its coordinator there knows nothing of it, and what
goes on in the old partition, where it is left to expire, is not its history.
"""

from __future__ import annotations

from functools import partial

from transforms.coordinator.events import Cause, Event
from transforms.coordinator.replaying import Replay


def is_at_home(replay: Replay, partition: int | None, at: float, source: str) -> bool:
    """Whether evidence is of the partition that the group lives in; to one that it was not seen in before it moves."""
    if partition is None or replay.homes[-1:] == [partition]:
        return True
    if partition in replay.homes:
        return False
    replay.homes.append(partition)
    if len(replay.homes) > 1:
        if replay.machine.present is not None:
            replay.step(at, partial(replay.machine.apply, Event.GROUP_UNLOADED, Cause(at, source=source)))
        replay.begin_life(at, source)
        replay.coordinator, replay.last_record, replay.is_absence_known = None, None, True
    return True
