"""One request's turn at a share group: the group as it is, and the records that the request is about to write."""

from __future__ import annotations

from msgspec import Struct, field

from transforms.coordinator.modern.world import World
from transforms.coordinator.share.group import Group
from transforms.coordinator.share.records import ShareRecord


class Memory(Struct, array_like=True):
    """What a coordinator knows of a group beside its records, and forgets when it goes.

    Attributes:
        must_refresh: topics of the group may have changed: the next heartbeat looks.
        deadlines: when a member's session ends (epoch ms), by member id.
    """

    must_refresh: bool = True
    deadlines: dict[str, float] = field(default_factory=dict)


class Turn(Struct, gc=False):
    """One request's turn.

    Attributes:
        group: the group before, and a member that joins; a new group, without a record yet, has epoch 0.
        records: what is to be written, in order.
    """

    group: Group
    world: World
    memory: Memory
    records: list[ShareRecord] = field(default_factory=list)
