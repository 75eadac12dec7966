"""One request's turn at a streams group: the group as it is, and the records that the request is about to write."""

from __future__ import annotations

from msgspec import field

from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.turn import Deadline, ModernMemory, ModernTurn
from transforms.coordinator.streams.group import Group
from transforms.coordinator.streams.records import EPOCH, TARGET_EPOCH, TOPOLOGY, KeyValue
from transforms.coordinator.streams.topology import Configured


class Memory(ModernMemory, array_like=True):
    """What a coordinator knows of a streams group beside its records.

    Attributes:
        configured: the topology as it was on the topics; None = nobody has looked.
        delayed_until: when the first targets are computed; None = nothing is waited for.
        shutdown_by: the member that asked for the application's end.
        endpoint_epoch: version of the table of endpoints.
        sessions: when a member's session ends (epoch ms), by member id.
        revocations: until when a member must have given up what it was told to.
    """

    configured: Configured | None = None
    delayed_until: float | None = None
    shutdown_by: str | None = None
    endpoint_epoch: int = 0
    sessions: dict[str, float] = field(default_factory=dict)
    revocations: dict[str, Deadline] = field(default_factory=dict)


class Turn(ModernTurn[Group, Memory], gc=False):
    """One request's turn."""

    @property
    def configs(self) -> tuple[KeyValue, ...]:
        """The settings of the group that its targets depend on."""
        return (KeyValue("num.standby.replicas", str(self.world.settings.standby_count)),)

    def forget_group(self) -> None:
        """Delete all that is written of an empty group."""
        self.records += [Record(TARGET_EPOCH), Record(EPOCH), Record(TOPOLOGY)]
