"""Records of a consumer group of one topic, as tests write them down, see `modern_records`."""

from __future__ import annotations

from typing import Any

from tests.unit.coordinator.evidence_rows import Row

Written = tuple[int, str, Any]
Moment = tuple[float, list[Written]]

TOPIC_ID = "AAAAAAAADwAAAAAAAAAAAQ"
STABLE, UNREVOKED, UNRELEASED = 0, 1, 2


def parts(*partitions: int) -> list[Row]:
    return [{"topicId": TOPIC_ID, "partitions": list(partitions)}] if partitions else []


def targets(epoch: int, **partitions: tuple[int, ...]) -> list[Written]:
    given: list[Written] = [(7, name, {"topicPartitions": parts(*each)}) for name, each in partitions.items()]
    return [*given, (6, "", {"assignmentEpoch": epoch})]


def stands(member: str, epoch: int, *owned: int, state: int = STABLE, revoking: tuple[int, ...] = ()) -> Written:
    having = {"assignedPartitions": parts(*owned), "partitionsPendingRevocation": parts(*revoking)}
    return 8, member, {"memberEpoch": epoch, "previousMemberEpoch": epoch, "state": state, **having}
