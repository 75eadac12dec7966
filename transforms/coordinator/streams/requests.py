"""The heartbeat of a streams group (KIP-1071), as its machine takes it, and its answer."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.requests import ClassicRequest, OffsetRequest
from transforms.coordinator.streams.records import Endpoint, KeyValue, TaskIds, Topology
from transforms.coordinator.streams.tasks import Tasks, tasks_of
from transforms.coordinator.streams.topology import Status

JOIN = 0


class HeartbeatRequest(Struct, frozen=True, gc=False, rename="camel"):
    """StreamsGroupHeartbeat; what is None (-1) is not said, and stays as it is."""

    member_id: str
    member_epoch: int
    endpoint_information_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topology: Topology | None = None
    active_tasks: list[TaskIds] | None = None
    standby_tasks: list[TaskIds] | None = None
    warmup_tasks: list[TaskIds] | None = None
    process_id: str | None = None
    user_endpoint: Endpoint | None = None
    client_tags: tuple[KeyValue, ...] | None = None
    task_offsets: Any = None
    task_end_offsets: Any = None
    shutdown_application: bool = False

    @property
    def listed(self) -> tuple[list[TaskIds] | None, list[TaskIds] | None, list[TaskIds] | None]:
        """The tasks that the member says it holds, by role."""
        return self.active_tasks, self.standby_tasks, self.warmup_tasks

    @property
    def owned(self) -> Tasks | None:
        """The same; None where it leaves a role out."""
        return None if None in self.listed else tasks_of(*self.listed)


Request = HeartbeatRequest | ClassicRequest | OffsetRequest


class HeartbeatAnswer(Struct, frozen=True, gc=False):
    """What a heartbeat is answered.

    Attributes:
        tasks: what the member may run; None = what it was told before.
        statuses: what else it is told.
        endpoint_epoch: version of the table of endpoints.
    """

    error: Error = Error.NONE
    member_id: str | None = None
    epoch: int | None = None
    tasks: Tasks | None = None
    statuses: tuple[Status, ...] = ()
    endpoint_epoch: int = 0
