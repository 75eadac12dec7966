"""The state of the fold: everything the replay knows of a group, as a plain value with a version.

Its size follows what is open: members, partitions, requests that wait, evidence of the last moment. It can be written
as bytes and read back by the version of the code that has the same layout.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.classic.taking.state import ClassicState
from transforms.coordinator.evidence.brokers import Brokers
from transforms.coordinator.evidence.ownership import Ownership
from transforms.coordinator.evidence.sequence import Connections
from transforms.coordinator.evidence.waiting import Waiting
from transforms.coordinator.rows.coordinators import Reigns
from transforms.coordinator.timeline.lives import Lives

VERSION = 1
"""Version of the state's layout; one more with every change of the structs below or in them."""


class ReplayState(Struct):
    """One group's replay, put down.

    Attributes:
        partition_count: partitions of `__consumer_offsets`, where that is set; None = as the brokers print it.
        waiting: evidence that was seen and not taken yet.
        connections: the order of requests on their connections.
        brokers: what is known of the brokers; `ownership` of who coordinates the group's partition.
        reigns: who coordinated it, for the table of coordinators.
        lives: the group's lives, with all of its timeline that is open.
        classic: the group as a classic one.
    """

    cluster: str
    group_id: str
    classic: ClassicState
    partition_count: int | None = None
    waiting: Waiting = field(default_factory=Waiting)
    connections: Connections = field(default_factory=Connections)
    brokers: Brokers = field(default_factory=Brokers)
    ownership: Ownership = field(default_factory=Ownership)
    reigns: Reigns = field(default_factory=Reigns)
    lives: Lives = field(default_factory=Lives)


class UnknownVersionError(ValueError):
    """Bytes of a state whose layout this version of the code does not have."""


def begin(cluster: str, group_id: str, partition_count: int | None = None) -> ReplayState:
    """Return the state of a group of which nothing is known yet."""
    classic = ClassicState(Machine(group_id, Brokers().of(None)))
    return ReplayState(cluster, group_id, classic, partition_count)


def dump(state: ReplayState) -> bytes:
    """Write a state as bytes."""
    state.waiting.compact()
    return _ENCODER.encode((VERSION, state))


def load(raw: bytes) -> ReplayState:
    """Read what `dump` wrote.

    Raises:
        UnknownVersionError: it was written by a version of the code with another layout, or is no state.
    """
    try:
        version, body = _HEAD.decode(raw)
        if version == VERSION:
            return _DECODER.decode(body)
    except msgspec.MsgspecError as error:
        raise UnknownVersionError(f"not a state: {error}") from error
    raise UnknownVersionError(f"a state of version {version}, not {VERSION}")


_ENCODER = msgspec.msgpack.Encoder()
_HEAD = msgspec.msgpack.Decoder(tuple[int, msgspec.Raw])
_DECODER = msgspec.msgpack.Decoder(ReplayState)
