"""Whether a streams group's topology can be run on the topics as they are, and how many tasks it has then.

Source: InternalTopicManager, RepartitionTopics, CopartitionedTopicsEnforcer, ChangelogTopics (4.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from msgspec import Struct

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.topics import Topics
from transforms.coordinator.modern.world import Refused
from transforms.coordinator.streams.records import Subtopology, Topology


class Status(IntEnum):
    """What a heartbeat's answer tells beside the error (StreamsGroupHeartbeatResponse.Status)."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5


class Configured(Struct, frozen=True, gc=False, array_like=True):
    """A topology as it is on the topics.

    Attributes:
        task_counts: tasks by subtopology; None = they could not be counted.
        problem: what keeps it from being run.
    """

    task_counts: dict[str, int] | None = None
    problem: Status | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it can be run."""
        return self.problem is None


class _Unready(Exception):
    def __init__(self, status: Status) -> None:
        super().__init__(status.name)
        self.status = status


def configure(topology: Topology, topics: Topics) -> Configured:
    """Work out a topology's tasks.

    Raises:
        Refused: STREAMS_INVALID_TOPOLOGY, as its repartition topics can never be counted.
    """
    try:
        counts = _Counts(topology, topics)
        tasks = {part.subtopology_id: counts.most(part) for part in topology.subtopologies}
        is_missing = counts.check_internal_topics()
    except _Unready as unready:
        return Configured(None, unready.status)
    return Configured(tasks, Status.MISSING_INTERNAL_TOPICS if is_missing else None)


class _Counts:
    """The partitions of a topology's topics: as they are, else as they are decided here."""

    def __init__(self, topology: Topology, topics: Topics) -> None:
        self._topology, self._topics = topology, topics
        sources = {name for part in topology.subtopologies for name in part.source_topics}
        if any(name not in topics.by_name for name in sources):
            raise _Unready(Status.MISSING_SOURCE_TOPICS)
        self._fixed = {
            topic.name: topic.partitions
            for part in topology.subtopologies
            for topic in part.repartition_source_topics
            if topic.partitions
        }
        self._decided = self._repartition_topics()
        for part in topology.subtopologies:
            for group in part.copartition_groups:
                together = [part.source_topics[place] for place in group.source_topics]
                together += [part.repartition_source_topics[place].name for place in group.repartition_source_topics]
                self._even_out(set(together))
        for part in topology.subtopologies:
            for topic in part.state_changelog_topics:
                self._decided[topic.name] = self.most(part)

    def of(self, name: str) -> int | None:
        """Return the partitions of a topic; None where they are not known."""
        topic = self._topics.by_name.get(name)
        return self._decided.get(name) if topic is None else topic.partition_count

    def most(self, part: Subtopology) -> int:
        """Return the most partitions that a source of a subtopology has: its tasks."""
        counts = [count for name in part.sources if (count := self.of(name)) is not None]
        if not counts:
            raise Refused(Error.STREAMS_INVALID_TOPOLOGY)
        return max(counts)

    def _repartition_topics(self) -> dict[str, int]:
        """Decide on repartition topics: as many partitions as the most that what writes to them reads."""
        decided = dict(self._fixed)
        parts = self._topology.subtopologies
        while True:
            open_sinks = [
                (part, sink) for part in parts for sink in part.repartition_sink_topics if sink not in decided
            ]
            found = {sink: count for part, sink in open_sinks if (count := self._read_by(part, decided)) is not None}
            if not open_sinks:
                break
            if not found:
                raise Refused(Error.STREAMS_INVALID_TOPOLOGY)
            decided |= found
        if any(topic.name not in decided for part in parts for topic in part.repartition_source_topics):
            raise Refused(Error.STREAMS_INVALID_TOPOLOGY)
        return decided

    def _read_by(self, part: Subtopology, decided: dict[str, int]) -> int | None:
        counts = [decided[topic.name] for topic in part.repartition_source_topics if topic.name in decided]
        counts += [self._topics.by_name[name].partition_count for name in part.source_topics]
        return max(counts, default=None)

    def _even_out(self, together: set[str]) -> None:
        """Give repartition topics as many partitions as the topics have with which they are read together."""
        repartition = {name for name in together if name in self._decided}
        given = together - repartition
        if given:
            count = self._same(given)
        elif self._fixed:
            count = self._same(self._fixed)
        else:
            count = max((self.of(name) or 0 for name in repartition), default=0)
        for name in repartition:
            if name in self._fixed and self.of(name) != count:
                raise _Unready(Status.INCORRECTLY_PARTITIONED_TOPICS)
            self._decided[name] = count

    def _same(self, names: Iterable[str]) -> int:
        counts = {self.of(name) for name in names}
        if len(counts) != 1:
            raise _Unready(Status.INCORRECTLY_PARTITIONED_TOPICS)
        return counts.pop() or 0

    def check_internal_topics(self) -> bool:
        """Return whether an internal topic is missing; one that is there must have as many partitions as decided."""
        internal = {
            topic.name: topic.partitions or self._decided[topic.name]
            for part in self._topology.subtopologies
            for topic in (*part.repartition_source_topics, *part.state_changelog_topics)
        }
        there = {name: self._topics.by_name[name] for name in internal if name in self._topics.by_name}
        if any(topic.partition_count != internal[name] for name, topic in there.items()):
            raise _Unready(Status.INCORRECTLY_PARTITIONED_TOPICS)
        return len(there) < len(internal)
