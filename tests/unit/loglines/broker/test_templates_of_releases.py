"""No template of any Kafka release goes unrecognised."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from transforms.loglines.broker.reasons import read_reason
from transforms.loglines.parse import parse_entry

DATA = Path(__file__).resolve().parents[3] / "data" / "loglines"

LOGGERS = {
    "GroupCoordinator.scala": "kafka.coordinator.group.GroupCoordinator",
    "GroupMetadata.scala": "kafka.coordinator.group.GroupMetadata",
    "GroupMetadataManager.scala": "kafka.coordinator.group.GroupMetadataManager",
    "GroupMetadataManager": "org.apache.kafka.coordinator.group.GroupMetadataManager",
    "ClassicGroup": "org.apache.kafka.coordinator.group.classic.ClassicGroup",
    "OffsetMetadataManager": "org.apache.kafka.coordinator.group.OffsetMetadataManager",
    "GroupCoordinatorShard": "org.apache.kafka.coordinator.group.GroupCoordinatorShard",
    "GroupCoordinatorService": "org.apache.kafka.coordinator.group.GroupCoordinatorService",
}

SCALA_VALUES = (
    (r"Topic.GROUP_METADATA_TOPIC_NAME", "__consumer_offsets"),
    (r"(?:topic|append)Partition$", "__consumer_offsets-13"),
    (r"PROTOCOL_TYPE", "consumer"),
    (r"(?i)generation|epoch|size|partition|removed|Ms\b|milliseconds|time|version|bytes|buffer", "7"),
    (r"(?i)state", "Stable"),
    (r"groupInstanceId", "Some(i1)"),
    (r"(?i)members|keySet", "Set(c1-7d1e)"),
    (r"(?i)member|leader", "c1-7d1e"),
)
"""What stands for an expression in a template; anything else is a group."""


def value_of(expression: str) -> str:
    return next((value for pattern, value in SCALA_VALUES if re.search(pattern, expression)), "g1")


def scala_line(template: str) -> str:
    text = template[: template.rindex('"')].removeprefix("s").removeprefix('"')
    text = re.sub(r"\$\{if .*?\}", "Static", text)
    text = re.sub(r"\$\{(.*?(?:\(.*?\))?.*?)\}", lambda match: value_of(match[1]), text)
    return re.sub(r"\$(\w+)|%s", lambda match: value_of(match[1] or ""), text)


def templates(name: str) -> list[tuple[str, str]]:
    found, logger = [], ""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            logger = LOGGERS[line[3:]]
        elif line and not line.startswith("#"):
            found.append((logger, line))
    return found


def scala_lines() -> list[tuple[str, str]]:
    return [
        (logger, scala_line(re.split(r" (?:INFO|DEBUG|WARN|ERROR) ", line, maxsplit=1)[1]))
        for logger, line in templates("templates_scala.txt")
    ]


def java_lines() -> list[tuple[str, str]]:
    """Lines of the Java templates; one that ends in a space is only the first part of a text."""
    texts = [
        (logger, re.split(r" (?:INFO|DEBUG|WARN|ERROR) ", line, maxsplit=1)[1])
        for logger, line in templates("templates_java.txt")
    ]
    return [(logger, text.replace("{}", "5")) for logger, text in texts if not text.endswith(" ")]


@pytest.mark.parametrize(("logger", "message"), [*scala_lines(), *java_lines()])
def test_every_template_of_every_release_is_known(logger: str, message: str) -> None:
    parsed = parse_entry(f"[2024-10-25 03:33:01,123] INFO {message} ({logger})", 1)
    assert "unrecognised" not in {each.event for each in parsed}, message


def test_the_lists_are_whole() -> None:
    assert len(scala_lines()) == 113
    assert len(java_lines()) > 190


def test_every_reason_of_the_scala_coordinator_has_a_trigger() -> None:
    unknown = set()
    for line in (DATA / "reasons_scala.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        text = re.sub(r"\$\{.*?\}|\$\w+", "x", line.split(" ", 2)[2]).replace("x.groupMaxSize", "7")
        if read_reason(text).trigger == "unknown":
            unknown.add(re.sub(r"; client reason.*", "", text))
    assert unknown == {"Member x joining group during x"}  # printed by no release: the group is in Preparing already
