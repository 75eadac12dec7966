"""One request's turn at a streams group: the group as it is, and the records that the request is about to write."""

from __future__ import annotations

from msgspec import Struct, field

from transforms.coordinator.modern.world import World
from transforms.coordinator.streams.group import Group
from transforms.coordinator.streams.records import KeyValue, StreamsRecord
from transforms.coordinator.streams.topology import Configured


class Deadline(Struct, frozen=True, gc=False, array_like=True):
    """When a member is fenced, unless something happens before; and the epoch that it had then."""

    at: float
    epoch: int = 0


class Memory(Struct, array_like=True):
    """What a coordinator knows of a group beside its records, and forgets when it goes.

    Attributes:
        must_refresh: topics of the group may have changed: the next heartbeat looks.
        configured: the topology as it was on the topics; None = nobody has looked.
        delayed_until: when the first targets are computed; None = nothing is waited for.
        shutdown_by: the member that asked for the application's end.
        endpoint_epoch: version of the table of endpoints.
        sessions: when a member's session ends (epoch ms), by member id.
        revocations: until when a member must have given up what it was told to.
    """

    must_refresh: bool = True
    configured: Configured | None = None
    delayed_until: float | None = None
    shutdown_by: str | None = None
    endpoint_epoch: int = 0
    sessions: dict[str, float] = field(default_factory=dict)
    revocations: dict[str, Deadline] = field(default_factory=dict)


class Turn(Struct, gc=False):
    """One request's turn.

    Attributes:
        group: the group before; a new one, without a record yet, has epoch 0.
        records: what is to be written, in order.
    """

    group: Group
    world: World
    memory: Memory
    records: list[StreamsRecord] = field(default_factory=list)

    @property
    def configs(self) -> tuple[KeyValue, ...]:
        """The settings of the group that its targets depend on."""
        return (KeyValue("num.standby.replicas", str(self.world.settings.standby_count)),)
