"""Kafka's own assignors, run by Java on groups written as lines."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from tests.oracle_assignors.random_groups import Group
from tests.support.maven import jars, run_java, spark_jar
from transforms.coordinator.assignors.subscriptions import Assignment, MemberSubscription, TopicPartition

HARNESS = Path(__file__).with_name("KafkaAssignors.java")


def can_run() -> bool:
    """Tell whether there is a Java that can compile: a JRE alone cannot."""
    return shutil.which("java") is not None and "jdk.compiler" in run_java(["--list-modules"])


def kafka_assignments(assignor: str, groups: Iterable[Group], version: str) -> list[Assignment | None]:
    """Let the assignor of a Kafka release share out each group; None = it threw."""
    lines = "".join(_line(assignor, group) + "\n" for group in groups)
    clients = jars(f"kafka-clients-{version}", f"org.apache.kafka:kafka-clients:{version}", is_transitive=False)
    class_path = os.pathsep.join([f"{clients}/*", str(spark_jar("slf4j-api-*.jar"))])
    return [_assignment(answer) for answer in run_java(["-cp", class_path, str(HARNESS)], lines).splitlines()]


def _line(assignor: str, group: Group) -> str:
    counts = ",".join(f"{topic}:{count}" for topic, count in group.counts.items())
    members = (_member(member_id, member) for member_id, member in group.subscriptions.items())
    return "\t".join([assignor, counts, *members])


def _member(member_id: str, member: MemberSubscription) -> str:
    fields = [
        member_id,
        member.group_instance_id or "-",
        ",".join(member.topics),
        ",".join(f"{topic}:{partition}" for topic, partition in member.owned),
        "-1" if member.generation is None else str(member.generation),
        "-" if member.user_data is None else member.user_data.hex(),
        member.rack_id or "-",
    ]
    return "|".join(fields)


def _assignment(answer: str) -> Assignment | None:
    if answer.startswith("!"):
        return None
    return {
        member_id: [_partition(name) for name in names.split(",") if name]
        for member_id, names in (entry.split("=") for entry in answer.split("\t"))
    }


def _partition(name: str) -> TopicPartition:
    topic, _, number = name.rpartition(":")
    return topic, int(number)
