"""What is asked of the protocol that a group of epochs speaks, so that one frame serves all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from schemas.rows import GroupRequestRow
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.rules import Release
from transforms.coordinator.modern.causes import Cause
from transforms.coordinator.modern.group import copied
from transforms.coordinator.modern.machine import ModernMachine
from transforms.coordinator.modern.partitions import Partitions, each
from transforms.coordinator.modern.records import Record, Types
from transforms.coordinator.modern.requests import Answer, Caller
from transforms.coordinator.modern.world import World

Part = tuple[str, int, str | None]
"""A partition, by the id of its topic, or a task, by its subtopology; and the role in which it is held, if any."""


class Glimpse(Struct, frozen=True, gc=False):
    """A member at a moment.

    Attributes:
        epoch: its epoch; negative = it left, for good or for a while.
        state: what it is about, as `schemas.words.WAITING_STATES` has it; None = nothing.
        owned: what it may use.
        revoking: what it was told to give up, and has not shown to have given up.
        protocol: what it speaks, as `schemas.words.MEMBER_PROTOCOLS` has it; None = its group has but one protocol.
        regex: the regular expression that it subscribes to; None = none.
        topology_epoch: that of the topology that it runs; None = it runs none.
        process_id: process whose thread it is; None = its protocol knows none.
        user_endpoint: where it answers queries, as host:port; None = nowhere.
        client_tags: its tags, by name; None = its protocol knows none.
    """

    member_id: str
    epoch: int
    state: str | None = None
    instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    topics: tuple[str, ...] | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    owned: tuple[Part, ...] = ()
    revoking: tuple[Part, ...] = ()
    protocol: str | None = None
    regex: str | None = None
    rack_id: str | None = None
    topology_epoch: int | None = None
    process_id: str | None = None
    user_endpoint: str | None = None
    client_tags: tuple[tuple[str, str], ...] | None = None

    @property
    def wish(self) -> tuple[object, ...]:
        """What it subscribes to, and what it is."""
        process = (self.process_id, self.user_endpoint, self.client_tags)
        return self.topics, self.regex, self.protocol, self.rack_id, self.topology_epoch, *process

    @property
    def owner(self) -> tuple[str | None, ...]:
        """Who it is, whatever id it goes by: its instance, else client and host, which need not be unique."""
        return (self.instance_id,) if self.instance_id else (self.client_id, self.client_host)


class EpochProtocol(Protocol):
    """A protocol of groups that go by epochs, whose machine foresees what requests are answered."""

    @property
    def group_type(self) -> str:
        """Type of its groups, as `schemas.words.GROUP_TYPES` has it."""

    @property
    def types(self) -> Types:
        """Numbers of the record types that all such protocols have."""

    @property
    def type_ids(self) -> frozenset[int]:
        """Numbers of all its record types."""

    @property
    def ranks(self) -> Mapping[int, int]:
        """Places of further record types in an operation; see `operations`."""

    @property
    def first_epoch(self) -> int:
        """Epoch of a new group, at most."""

    @property
    def untold(self) -> frozenset[Error]:
        """Errors that may rest on what no evidence tells of, as topics; they cannot be foreseen wherever they come."""

    @property
    def share_state_type(self) -> int | None:
        """Number of the type of the record that tells of the share state of partitions; None = its groups have none."""
        return None

    def read(self, type_id: int, name: str, body: str | None) -> Record[Struct]:
        """Read a record out of the JSON of its fields; None = a tombstone."""

    def machine(self, group: Any = None, /) -> ModernMachine[Any, Any]:
        """Return the machine of a group; None = of one of which nothing is known."""

    def with_unwritten(self, group: Any, member_ids: Collection[str]) -> Any:
        """Return a group with members that its coordinator has in memory alone; it is used up."""
        return group

    def group_after(self, group: Any, records: Sequence[Record[Struct]]) -> Any:
        """Return a copy of a group, as it is after some records; None = it is not there."""
        machine = self.machine(None if group is None else copied(group))
        machine.take(records)
        return machine.present

    def cause_of(self, before: Any, operation: Sequence[Record[Struct]]) -> Cause | None:
        """Return why an operation bumps the epoch of a group; None if it does not."""

    def glimpse(self, group: Any, member_id: str) -> Glimpse | None:
        """Return a member of a group as it stands."""

    def target(self, group: Any, member_id: str) -> tuple[Part, ...]:
        """Return what a member is to have."""

    def assignor(self, group: Any) -> str | None:
        """Return the server's assignor that most members want; None where nobody wants any, or is asked."""
        return None

    def computed_by(
        self,
        group: Any,
        had: Mapping[str, Partitions],
        names: Mapping[str, str],
        elected: str | None,
        releases: Collection[Release],
    ) -> str | None:
        """Return the assignor whose result the targets equal that were just computed, or "custom".

        None = it is not known, or there is one assignor only.

        Args:
            group: the group, with the targets.
            had: what each member was to have before, or the one whose place it took; who is new is not there.
            names: names of topics by their ids, as far as they are known.
            elected: the assignor that the log or the members' wishes name.
            releases: those of the brokers, as far as they tell.
        """
        return None

    def share_states(self, group: Any, known: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        """Return what has become of the share state of partitions, as `schemas.words.SHARE_STATES` has it.

        Args:
            group: the group.
            known: partitions that had any before: where a topic's is being deleted, the topic alone is told.
        """
        return {}

    def is_settled(self, group: Any) -> bool:
        """Whether all members have got to the newest target."""

    def request_of(self, row: GroupRequestRow) -> Any:
        """Return a request as the machine takes it; None for one that is another coordinator's."""

    def told(self, row: GroupRequestRow) -> Partitions | None:
        """Return what the answer to a heartbeat gives the member, as `Answer.assignment` has it; None = as before."""

    def observe(
        self,
        group: Any,
        request: Any,
        records: Sequence[Record[Struct]],
        world: World,
        caller: Caller,
        given_id: str,
    ) -> Answer | None:
        """Return what a request is answered that wrote some records; the group is used up.

        Args:
            group: the group before; None = there is none, nor one of another type.
            request: the request.
            records: what it wrote; nothing, if it was refused.
            world: what surrounds the group.
            caller: who sent it.
            given_id: the id that the broker made up for a joiner without one.
        """


def parts_of(partitions: Partitions, role: str | None = None) -> tuple[Part, ...]:
    """Return partitions one by one."""
    return tuple((topic, number, role) for topic, number in each(partitions))
