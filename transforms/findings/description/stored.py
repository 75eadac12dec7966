"""What but the newest records of a group tell of it: what members are to have, what it can give out, what streams run.

Brokers answer StreamsGroupDescribe with the topology; of share groups only their records tell which partitions are
initialised, and only those are given to members. The record of a member's target stands until it has another one, so
that it tells also of members that have not got there yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from msgspec import MsgspecError, Struct
from msgspec.json import Decoder

from transforms.findings.description.standing import Part, SharePartitions, Subtopology, Topology

SHARE_STATE, STREAMS_GROUP, STREAMS_TOPOLOGY = 15, 17, 23
TOLD_BY = {"share": (SHARE_STATE,), "streams": (STREAMS_GROUP, STREAMS_TOPOLOGY)}
"""Types of records that are asked for, by the type of the group."""

TARGETS = {"consumer": 7, "share": 13, "streams": 21}
"""Types of the records of what members are to have, by the type of the group."""

Bodies = Mapping[int, str | None]
"""By the type of a record, the JSON of its fields as it was written last; None = a tombstone."""


def share_partitions(bodies: Bodies) -> SharePartitions | None:
    """Return what a share group can give out; None where nothing tells."""
    state = _read(_STATE, bodies.get(SHARE_STATE))
    if state is None:
        return None
    ready, begun = (_parts(each) for each in (state.initialized_topics, state.initializing_topics))
    return SharePartitions(ready, begun, tuple(sorted(each.topic_name for each in state.deleting_topics)))


def topology(bodies: Bodies) -> Topology | None:
    """Return what the members of a streams group run; None where nothing tells."""
    written = _read(_TOPOLOGY, bodies.get(STREAMS_TOPOLOGY))
    if written is None:
        return None
    group = _read(_GROUP, bodies.get(STREAMS_GROUP))
    validated = -1 if group is None else group.validated_topology_epoch
    parts = sorted(written.subtopologies, key=lambda each: each.subtopology_id)
    return Topology(written.epoch, None if validated < 0 else validated, tuple(map(_subtopology, parts)))


def targets(bodies: Mapping[str, str | None], names: Mapping[str, str]) -> dict[str, tuple[Part, ...]]:
    """Return what members are to have.

    Args:
        bodies: by member, the JSON of the fields of the record of its target as it was written last; None = none.
        names: names of topics by their ids, as far as they are known.
    """
    read = {member_id: _read(_TARGET, body) for member_id, body in bodies.items()}
    return {member_id: _target(target, names) for member_id, target in read.items() if target is not None}


class _TopicOfTarget(Struct, rename="camel"):
    topic_id: str
    partitions: list[int] = []


class _Tasks(Struct, rename="camel"):
    subtopology_id: str
    partitions: list[int] = []


class _Target(Struct, rename="camel"):
    topic_partitions: list[_TopicOfTarget] = []
    active_tasks: list[_Tasks] = []
    standby_tasks: list[_Tasks] = []
    warmup_tasks: list[_Tasks] = []


class _Topic(Struct, rename="camel"):
    topic_name: str = ""
    partitions: list[int] = []


class _State(Struct, rename="camel"):
    initialized_topics: list[_Topic] = []
    initializing_topics: list[_Topic] = []
    deleting_topics: list[_Topic] = []


class _Named(Struct):
    name: str = ""


class _Subtopology(Struct, rename="camel"):
    subtopology_id: str = ""
    source_topics: list[str] = []
    source_topic_regex: list[str] = []
    repartition_source_topics: list[_Named] = []
    repartition_sink_topics: list[str] = []
    state_changelog_topics: list[_Named] = []


class _Topology(Struct):
    epoch: int = 0
    subtopologies: list[_Subtopology] = []


class _Group(Struct, rename="camel"):
    validated_topology_epoch: int = -1


T = TypeVar("T")

_STATE, _TOPOLOGY, _GROUP, _TARGET = Decoder(_State), Decoder(_Topology), Decoder(_Group), Decoder(_Target)


def _read(decoder: Decoder[T], body: str | None) -> T | None:
    """Return the fields of a record; None of one that is a tombstone, or has others than are known."""
    try:
        return None if body is None else decoder.decode(body)
    except MsgspecError:
        return None


def _target(target: _Target, names: Mapping[str, str]) -> tuple[Part, ...]:
    tasks = (("active", target.active_tasks), ("standby", target.standby_tasks), ("warmup", target.warmup_tasks))
    found = [
        Part(names.get(of.topic_id, of.topic_id), number) for of in target.topic_partitions for number in of.partitions
    ]
    found += [Part(of.subtopology_id, number, role) for role, each in tasks for of in each for number in of.partitions]
    return tuple(sorted(found))


def _parts(topics: list[_Topic]) -> tuple[Part, ...]:
    return tuple(sorted(Part(topic.topic_name, number) for topic in topics for number in topic.partitions))


def _subtopology(each: _Subtopology) -> Subtopology:
    return Subtopology(
        each.subtopology_id,
        tuple(sorted((*each.source_topics, *each.source_topic_regex))),
        tuple(sorted(topic.name for topic in each.repartition_source_topics)),
        tuple(sorted(each.repartition_sink_topics)),
        tuple(sorted(topic.name for topic in each.state_changelog_topics)),
    )
