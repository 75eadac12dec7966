"""The offsets in a commit that was refused: what its sender had done, and somebody else does again.

Read a second time, out of the few lines that are worth it: commits are most of a request log, and nearly all are taken.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, MsgspecError, Struct
from msgspec.json import Decoder

from transforms.loglines.facts import SentOffset
from transforms.loglines.requests.apis import APIS, Int32

COMMITS = frozenset(key for key, api in APIS.items() if api.name in ("OffsetCommit", "TxnOffsetCommit"))
"""Keys of the APIs that commit offsets."""

Int64 = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class _Partition(Struct, rename="camel"):
    partition_index: Int32
    committed_offset: Int64


class _Topic(Struct):
    partitions: list[_Partition]
    name: str | None = None  # from OffsetCommit 10 on topics have an id instead, which names none


class _Body(Struct):
    topics: list[_Topic]


class _Line(Struct):
    request: _Body


_DECODER = Decoder(_Line)


def sent_offsets(line: str, begin: int) -> list[SentOffset] | None:
    """Return the offsets of the commit that begins at `begin`; None if it does not say them, as text before 2.8."""
    try:
        topics = _DECODER.decode(line[begin : line.rfind("}") + 1]).request.topics
    except (MsgspecError, UnicodeError, RecursionError):
        return None
    return [
        SentOffset(topic=topic.name, partition=each.partition_index, offset=each.committed_offset)
        for topic in topics
        if topic.name is not None
        for each in topic.partitions
    ]
