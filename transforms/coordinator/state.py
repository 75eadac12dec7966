"""The state of the fold: everything the replay knows of a group, as a plain value with a version.

Its size follows what is open: members, partitions, requests that wait, evidence of the last moment. Of members that
went it has no more than the ids of the latest. It can be written as bytes and read back by the version of the code that
has the same layout.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct, field

from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.classic.taking.state import ClassicState
from transforms.coordinator.consumer import machine as consumer
from transforms.coordinator.epochs.state import EpochState
from transforms.coordinator.epochs.told import Told
from transforms.coordinator.epochs.unwritten import Unwritten
from transforms.coordinator.evidence.connections import Connections
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.tolerances import SETTLING_MS
from transforms.coordinator.evidence.waiting import Waiting
from transforms.coordinator.modern.machine import ModernMachine
from transforms.coordinator.share import machine as share
from transforms.coordinator.shared import Shared
from transforms.coordinator.streams import machine as streams

VERSION = 17
"""Version of the state's layout; one more with every change of the structs below or in them."""


Speaker = TypeVar("Speaker", bound=ModernMachine[Any, Any])


class Spoken(Struct, Generic[Speaker], array_like=True):
    """A group as one of a newer protocol.

    Attributes:
        machine: its machine.
        known: what is known of it beside.
        behind: its machine before the records of `Modern.past`; None = it was not there, or there are none.
    """

    machine: Speaker
    known: EpochState = field(default_factory=EpochState)
    behind: Speaker | None = None


class Modern(Struct, array_like=True):
    """A group by the newer protocols that it was seen to speak; it speaks one at a time.

    Attributes:
        told: what lines tell of it.
        claimed: by member, the moment and place of the records that its requests wrote last.
        past: records that were taken a moment ago.
        unwritten: members that its coordinator has in memory alone.
    """

    told: Told = field(default_factory=Told)
    claimed: dict[str, tuple[float, int]] = field(default_factory=dict)
    past: list[Item] = field(default_factory=list)
    consumer: Spoken[consumer.Machine] | None = None
    share: Spoken[share.Machine] | None = None
    streams: Spoken[streams.Machine] | None = None
    unwritten: Unwritten = field(default_factory=Unwritten)

    def forget(self, now: float) -> None:
        """Forget what is too long ago to matter."""
        self.told.forget(now)
        if self.claimed:
            before = now - SETTLING_MS
            self.claimed = {member_id: each for member_id, each in self.claimed.items() if each[0] >= before}


class ReplayState(Struct, array_like=True):
    """One group's replay, put down.

    Attributes:
        shared: what does not hang on the protocol that the group speaks.
        classic: the group as a classic one.
        modern: the group as one of another type.
        waiting: evidence that was seen and not taken yet.
        connections: the order of requests on their connections.
    """

    shared: Shared
    classic: ClassicState
    modern: Modern = field(default_factory=Modern)
    waiting: Waiting = field(default_factory=Waiting)
    connections: Connections = field(default_factory=Connections)


class UnknownVersionError(ValueError):
    """Bytes of a state whose layout this version of the code does not have."""


def begin(cluster: str, group_id: str, partition_count: int | None = None) -> ReplayState:
    """Return the state of a group of which nothing is known yet."""
    shared = Shared(cluster, group_id, partition_count)
    return ReplayState(shared, ClassicState(Machine(group_id, shared.brokers.of(None))))


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
