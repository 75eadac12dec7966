"""Kafka's own assignors of the broker, of any release that has them, run by Java on groups written as lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.support.maven import jars, run_java, spark_jar
from transforms.coordinator.assignors.server.specs import GroupSpec, MemberSpec

HARNESS = Path(__file__).with_name("ServerAssignors.java")
ARTIFACTS = ("kafka-group-coordinator", "kafka-server-common", "kafka-clients", "kafka-metadata")

Shared = dict[str, dict[str, list[int]]]
"""Partition numbers by member id and topic id, both sorted; who was given nothing has an empty entry, or none."""


def kafka_shares(assignor: str, groups: Iterable[GroupSpec], version: str) -> list[Shared | None]:
    """Let the assignor of a Kafka release share out each group; None = it threw."""
    lines = "".join(_line(assignor, group) + "\n" for group in groups)
    artifacts = [*ARTIFACTS, *(["kafka-group-coordinator-api"] if not version.startswith("3.7") else [])]
    coordinates = (f"org.apache.kafka:{artifact}:{version}" for artifact in artifacts)
    found = jars(f"kafka-group-coordinator-{version}", *coordinates, is_transitive=False)
    class_path = os.pathsep.join([f"{found}/*", str(spark_jar("slf4j-api-*.jar"))])
    return [_shared(answer) for answer in run_java(["-cp", class_path, str(HARNESS)], lines).splitlines()]


def _line(assignor: str, group: GroupSpec) -> str:
    kind = "HOMOGENEOUS" if group.is_homogeneous else "HETEROGENEOUS"
    counts = ",".join(f"{topic}:{count}" for topic, count in group.partition_counts.items())
    ready = "-" if group.assignable is None else _text({key: sorted(each) for key, each in group.assignable.items()})
    racks = ";".join(f"{topic}:{'/'.join(map('+'.join, each))}" for topic, each in group.racks.items() if each)
    return "\t".join([assignor, kind, counts, ready, racks, *map(_member, group.members)])


def _member(member: MemberSpec) -> str:
    topics = ",".join(member.topics)
    return "|".join([member.member_id, member.instance_id or "-", member.rack_id or "-", topics, _text(member.target)])


def _text(partitions: Mapping[str, Sequence[int]]) -> str:
    return ";".join(f"{topic}:{'+'.join(map(str, numbers))}" for topic, numbers in partitions.items() if numbers)


def _shared(answer: str) -> Shared | None:
    if answer.startswith("!"):
        return None
    members = (entry.partition("=") for entry in answer.split("\t") if entry)
    return {member_id: _partitions(text) for member_id, _, text in members}


def _partitions(text: str) -> dict[str, list[int]]:
    topics = (each.rpartition(":") for each in text.split(";") if each)
    return {topic: [int(number) for number in numbers.split("+")] for topic, _, numbers in topics}
