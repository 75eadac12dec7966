"""Share groups as groups of epochs (KIP-932)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from schemas.rows import GroupRequestRow
from transforms.coordinator.epochs.protocol import EpochProtocol, Glimpse, Part, parts_of
from transforms.coordinator.epochs.requests import request_of, told_partitions
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.partitions import each
from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.requests import Answer, Caller
from transforms.coordinator.modern.world import World
from transforms.coordinator.share.causes import cause_of
from transforms.coordinator.share.group import Group
from transforms.coordinator.share.machine import Machine
from transforms.coordinator.share.records import STATE_PARTITIONS, TYPES, read
from transforms.coordinator.share.requests import HeartbeatRequest, Request
from transforms.coordinator.share.turn import Memory


class ShareEpochs(EpochProtocol):
    """The protocol, as `epochs` asks of it."""

    group_type: Final = "share"
    types: Final = TYPES
    type_ids: Final = frozenset({*TYPES.numbers, STATE_PARTITIONS})
    ranks: Final[Mapping[int, int]] = {}
    first_epoch: Final = 1
    untold: Final[frozenset[Error]] = frozenset()
    share_state_type: Final = STATE_PARTITIONS

    read = staticmethod(read)
    machine = Machine
    cause_of = staticmethod(cause_of)
    told = staticmethod(told_partitions)

    def glimpse(self, group: Group, member_id: str) -> Glimpse | None:
        """Return a member of a group as it stands."""
        member = group.members.get(member_id)
        if member is None:
            return None
        metadata = member.metadata
        return Glimpse(
            member_id,
            member.epoch,
            client_id=metadata.client_id,
            client_host=metadata.client_host,
            topics=tuple(sorted(set(member.topics))),
            owned=parts_of(member.standing.assigned),
            rack_id=metadata.rack_id,
        )

    def target(self, group: Group, member_id: str) -> tuple[Part, ...]:
        """Return what a member is to have."""
        return parts_of(group.targets.get(member_id, {}))

    def share_states(self, group: Group, known: Collection[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """Return what has become of the share state of partitions, by topic and number."""
        state = group.share_state
        if state is None:
            return {}
        gone = {state.names.get(topic) or topic for topic in state.deleting}
        found = {part: "deleting" for part in known if part[0] in gone}
        for partitions, word in ((state.initialized, "initialised"), (state.initializing, "initialising")):
            found |= {(state.names.get(topic) or topic, number): word for topic, number in each(partitions)}
        return found

    def is_settled(self, group: Group) -> bool:
        """Whether all members have taken the newest target."""
        is_planned = group.assignment_epoch == group.epoch
        return is_planned and all(member.epoch == group.epoch for member in group.members.values())

    # --- what requests are answered ----------------------------------------------------------------------------

    def request_of(self, row: GroupRequestRow) -> Request | None:
        """Return a request as the machine takes it; None for one that is another coordinator's."""
        if row.api == "ShareGroupHeartbeat":
            topics = row.subscribed_topics
            return HeartbeatRequest(
                row.member_id or "",
                0 if row.generation is None else row.generation,
                row.rack_id,
                None if topics is None else tuple(topics),
            )
        return request_of(row)

    def observe(
        self,
        group: Group | None,
        request: Request,
        records: Sequence[Record[Struct]],
        world: World,
        caller: Caller,
        given_id: str,
    ) -> Answer | None:
        """Return what a request is answered that wrote some records; the group is used up."""
        return Machine(group, Memory(must_refresh=False)).observe(request, records, world, caller)


PROTOCOL: Final = ShareEpochs()
