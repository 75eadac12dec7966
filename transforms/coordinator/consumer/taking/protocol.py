"""Consumer groups as groups of epochs (KIP-848)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from schemas.rows import GroupRequestRow
from schemas.words import AWAY
from transforms.coordinator.consumer.causes import cause_of
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.machine import Machine
from transforms.coordinator.consumer.recognise import assignor_of
from transforms.coordinator.consumer.records import REGEX, TOPIC_METADATA, TYPES, read
from transforms.coordinator.consumer.requests import HeartbeatRequest, Request
from transforms.coordinator.consumer.turn import Memory
from transforms.coordinator.epochs.protocol import EpochProtocol, Glimpse, Part, parts_of
from transforms.coordinator.epochs.requests import partitions_of, request_of, told_partitions
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.rules import Release
from transforms.coordinator.kafka.states import MemberState, ModernState
from transforms.coordinator.modern.group import LEFT_FOR_A_WHILE
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.requests import Answer, Caller
from transforms.coordinator.modern.world import World

_WAITING = {MemberState.UNREVOKED_PARTITIONS, MemberState.UNRELEASED_PARTITIONS}


class ConsumerEpochs(EpochProtocol):
    """The protocol, as `epochs` asks of it."""

    group_type: Final = "consumer"
    types: Final = TYPES
    type_ids: Final = frozenset({*TYPES.numbers, TOPIC_METADATA, REGEX})
    ranks: Final = {REGEX: 2}
    first_epoch: Final = 1
    untold: Final[frozenset[Error]] = frozenset()

    read = staticmethod(read)
    machine = Machine
    cause_of = staticmethod(cause_of)
    told = staticmethod(told_partitions)

    def glimpse(self, group: Group, member_id: str) -> Glimpse | None:
        """Return a member of a group as it stands."""
        member = group.members.get(member_id)
        if member is None:
            return None
        metadata, standing = member.metadata, member.standing
        is_away = standing.epoch == LEFT_FOR_A_WHILE
        classic = metadata.classic_member_metadata
        resolved = group.regexes.get(member.regex) if member.regex else None
        topics = {*metadata.subscribed_topic_names, *(resolved.topics if resolved else ())}
        return Glimpse(
            member_id,
            standing.epoch,
            AWAY if is_away else standing.state.name if standing.state in _WAITING else None,
            metadata.instance_id,
            metadata.client_id,
            metadata.client_host,
            tuple(sorted(topics)),
            None if classic is None else classic.session_timeout_ms,
            None if metadata.rebalance_timeout_ms < 0 else metadata.rebalance_timeout_ms,
            parts_of(standing.assigned),
            parts_of(standing.revoking),
            "consumer" if classic is None else "classic",
            member.regex or None,
            metadata.rack_id,
        )

    def target(self, group: Group, member_id: str) -> tuple[Part, ...]:
        """Return what a member is to have."""
        return parts_of(group.targets.get(member_id, {}))

    def assignor(self, group: Group) -> str | None:
        """Return the server's assignor that most members want; None where nobody wants any."""
        wanted = Counter(member.metadata.server_assignor for member in group.members.values())
        del wanted[None]
        return max(wanted, key=lambda name: wanted[name], default=None)

    def computed_by(
        self,
        group: Group,
        had: Mapping[str, Partitions],
        names: Mapping[str, str],
        elected: str | None,
        releases: Collection[Release],
    ) -> str | None:
        """Return the assignor whose result the targets equal that were just computed, or "custom"; None = not known."""
        return assignor_of(group, had, names, elected, releases)

    def is_settled(self, group: Group) -> bool:
        """Whether all members have got to the newest target."""
        return group.state is ModernState.STABLE

    # --- what requests are answered ----------------------------------------------------------------------------

    def request_of(self, row: GroupRequestRow) -> Request | None:
        """Return a request as the machine takes it; None for one that is another coordinator's."""
        if row.api == "ConsumerGroupHeartbeat":
            return HeartbeatRequest(
                row.member_id or "",
                0 if row.generation is None else row.generation,
                row.group_instance_id,
                row.rack_id,
                -1 if row.rebalance_timeout_ms is None else row.rebalance_timeout_ms,
                None if row.subscribed_topics is None else tuple(row.subscribed_topics),
                row.subscribed_regex,
                row.server_assignor,
                partitions_of(row.owned),
            )
        return request_of(row)

    def with_unwritten(self, group: Group, member_ids: Collection[str]) -> Group:
        """Return a group with members that its coordinator has in memory alone; it is used up."""
        for member_id in member_ids:
            if member_id not in group.members:
                group.put(Member(member_id))
        return group

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
        return Machine(group, Memory(must_refresh=False)).observe(request, records, world, caller, given_id=given_id)


PROTOCOL: Final = ConsumerEpochs()
