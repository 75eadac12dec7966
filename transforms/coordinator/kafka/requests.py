"""Requests to a group coordinator, as a state machine takes them."""

from __future__ import annotations

from msgspec import Struct

Protocols = tuple[tuple[str, bytes], ...]
"""Protocols of a member in its own order: name and metadata."""


class Leaver(Struct, frozen=True, gc=False, array_like=True):
    """One member of a LeaveGroup request; an administrator names it by its instance alone (member id "")."""

    member_id: str
    group_instance_id: str | None = None
    reason: str | None = None


class Request(Struct, frozen=True, gc=False, array_like=True):
    """One request to one group.

    Attributes:
        token: names the request, so that a later answer finds it.
        generation: generation as sent, -1 where the request has none.
        given_member_id: id that the broker gave to a joiner without one. It is random, so the machine cannot
            predict it and takes it from the answer.
        is_unstored: it waited for the log, and in vain: what it brought, an assignment or a static member's new id, was
            not stored before the next rebalance.
        is_changed: a rejoin brings other metadata than the member had; None = to be seen by the bytes.
        unknown_topics_only: a commit that names no topic the broker knows; it never reaches the coordinator.
    """

    token: int
    api: str
    api_version: int = 0
    member_id: str = ""
    group_instance_id: str | None = None
    generation: int = -1
    client_id: str | None = None
    client_host: str | None = None
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    protocols: Protocols = ()
    reason: str | None = None
    given_member_id: str | None = None
    assignments: dict[str, bytes] = {}
    leavers: tuple[Leaver, ...] = ()
    is_unstored: bool = False
    is_changed: bool | None = None
    unknown_topics_only: bool = False

    @property
    def joiner_id(self) -> str:
        """The id that a joiner goes by in the group: its own, the one it is given, or one that is made up here."""
        return self.member_id or self.given_member_id or f"{_MADE_UP}{self.token}"

    @property
    def lacks_protocol(self) -> bool:
        """Whether it is a SyncGroup that has to name its protocol and does not."""
        return lacks_protocol(self.api, self.api_version, self.protocol_type, self.protocol)

    @property
    def requires_known_member_id(self) -> bool:
        """A dynamic joiner without an id is sent back for one (JoinGroup v4, KIP-394)."""
        return self.api_version >= 4


def lacks_protocol(api: str, api_version: int, protocol_type: str | None, protocol: str | None) -> bool:
    """Whether a request is a SyncGroup that has to name its protocol, from v5 on, and does not."""
    return api == "SyncGroup" and api_version >= _PROTOCOL_MANDATORY and None in (protocol_type, protocol)


_PROTOCOL_MANDATORY = 5
_MADE_UP = "unknown-"
_UUID_LENGTH = 36


def could_be(member_id: str, whose: str | None) -> bool:
    """Whether a broker may have made up an id for an instance or client (its name, "-", a UUID)."""
    prefix = f"{whose}-"
    return member_id.startswith(prefix) and len(member_id) == len(prefix) + _UUID_LENGTH
