"""Kafka's own assignors, run by Java on groups written as lines."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.oracle_assignors.random_groups import Group
from transforms.coordinator.assignors.subscriptions import Assignment, MemberSubscription, TopicPartition

HARNESS = Path(__file__).with_name("KafkaAssignors.java")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rebalance-analytics"


def can_run() -> bool:
    """Tell whether there is a Java that can compile: a JRE alone cannot."""
    return shutil.which("java") is not None and "jdk.compiler" in _run(["java", "--list-modules"])


def kafka_assignments(assignor: str, groups: Iterable[Group], version: str) -> list[Assignment | None]:
    """Let the assignor of a Kafka release share out each group; None = it threw."""
    lines = "".join(_line(assignor, group) + "\n" for group in groups)
    class_path = os.pathsep.join([str(_kafka_clients(version)), str(_spark_jar("slf4j-api-*.jar"))])
    return [_assignment(answer) for answer in _run(["java", "-cp", class_path, str(HARNESS)], lines).splitlines()]


@cache
def _kafka_clients(version: str) -> Path:
    """Return the jar, which PySpark's own Ivy brings from Maven Central the first time."""
    jar = CACHE / f"kafka-clients-{version}.jar"
    if not jar.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            _run(
                ["java", "-jar", str(_spark_jar("ivy-*.jar")), "-cache", f"{scratch}/cache", "-notransitive"]
                + ["-confs", "default", "-dependency", "org.apache.kafka", "kafka-clients", version]
                + ["-retrieve", f"{scratch}/[artifact]-[revision].[ext]"]
            )
            (Path(scratch) / jar.name).replace(jar)
    return jar


def _spark_jar(pattern: str) -> Path:
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    return next((Path(spec.origin).parent / "jars").glob(pattern))


def _run(command: list[str], stdin: str = "") -> str:
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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
