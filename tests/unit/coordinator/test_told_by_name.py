"""Whether a member of the classic protocol is told by names what a consumer group has for it by ids."""

from __future__ import annotations

import struct

import msgspec
import pytest

from schemas.rows import GroupRequestRow
from transforms.coordinator.consumer.taking.protocol import PROTOCOL
from transforms.coordinator.epochs.predicted import is_assignment_agreed, predicted_of
from transforms.coordinator.evidence.exchanges import Observed, observed_of
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.requests import Answer

NAMES = {"id-a": "a", "id-b": "b"}


def told(*topics: tuple[str, tuple[int, ...]]) -> bytes:
    parts = b"".join(
        struct.pack(f">h{len(name)}si{len(numbers)}i", len(name), name.encode(), len(numbers), *numbers)
        for name, numbers in topics
    )
    return struct.pack(">hi", 1, len(topics)) + parts + struct.pack(">i", -1)


def exchange(assignment: bytes | None, error: Error = Error.NONE) -> Observed:
    place = {"source_file": "log", "line_number": 1, "seq": 0, "broker": "1"}
    answer = {"answered_at": 2.0, "error_code": int(error), "error": error.name, "answered_assignment": assignment}
    return observed_of(1.0, msgspec.convert({"api": "SyncGroup", "group_id": "g", **place, **answer}, GroupRequestRow))


def agreed(assignment: bytes | None, foreseen: Partitions, error: Error = Error.NONE) -> bool | None:
    predicted = predicted_of(Answer(assignment=foreseen), "Stable")
    return is_assignment_agreed(PROTOCOL, exchange(assignment, error), predicted, NAMES)


@pytest.mark.parametrize(
    ("assignment", "foreseen", "is_agreed"),
    [
        (told(), {}, True),
        (told(("b", (1,)), ("a", (2, 0))), {"id-a": (0, 2), "id-b": (1,)}, True),
        (told(("a", (0, 1))), {"id-a": (0, 2)}, False),
        (told(("b", (0, 2))), {"id-a": (0, 2)}, False),
        (told(("a", (0,)), ("new", (5,))), {"id-a": (0,), "unnamed": (5,)}, True),
        (told(("a", (0,)), ("new", (4,))), {"id-a": (0,), "unnamed": (5,)}, False),
        (told(("a", (0,)), ("b", (1,))), {"id-a": (0,)}, False),
        (told(("a", (0,))), {"id-a": (0,), "id-b": (1,)}, None),
        (told(("a", (0,)))[:5], {"id-a": (0,)}, None),
        (None, {"id-a": (0,)}, None),
    ],
    ids=[
        "nothing",
        "the same, in another order",
        "another partition",
        "another topic",
        "a topic whose name nothing tells",
        "other partitions of such a topic",
        "a topic too many",
        "a topic too few, which may be deleted",
        "not readable",
        "nothing is printed",
    ],
)
def test_partitions_are_compared_by_name(
    assignment: bytes | None, foreseen: Partitions, is_agreed: bool | None
) -> None:
    assert agreed(assignment, foreseen) is is_agreed


def test_a_refusal_tells_no_assignment() -> None:
    assert agreed(told(), {"id-a": (0,)}, Error.REBALANCE_IN_PROGRESS) is None
