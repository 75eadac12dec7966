"""Operations that were written in one millisecond are told apart by the order in which each writes its records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle_modern import consumer_history, share_history, streams_history
from tests.oracle_modern.histories import ModernRecord, Step
from tests.oracle_modern.kept import kept
from transforms.coordinator.consumer.taking import protocol as consumer
from transforms.coordinator.epochs.operations import operations
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.share.taking import protocol as share
from transforms.coordinator.streams.taking import protocol as streams

OTHERS = list(kept("histories_share_streams"))


@pytest.mark.parametrize(
    ("steps", "records_of", "protocol"),
    [
        pytest.param(list(kept("histories_modern")), consumer_history.records_of, consumer.PROTOCOL, id="consumer"),
        pytest.param(
            [step for step in OTHERS if step["kind"] == "share"], share_history.records_of, share.PROTOCOL, id="share"
        ),
        pytest.param(
            [step for step in OTHERS if step["kind"] == "streams"],
            streams_history.records_of,
            streams.PROTOCOL,
            id="streams",
        ),
    ],
)
def test_two_bumps_of_one_moment_are_two_operations(
    steps: list[Step], records_of: Callable[[Step], list[ModernRecord]], protocol: EpochProtocol
):
    written = [records for records in map(records_of, steps) if records]
    found = 0
    for first, second in zip(written, written[1:], strict=False):
        if _bumps(first, protocol) == 1 == _bumps(second, protocol):
            split = operations([*first, *second], protocol.types, protocol.ranks)
            assert [_bumps(each, protocol) for each in split if _bumps(each, protocol)] == [1, 1]
            assert [record for each in split for record in each] == [*first, *second]
            found += 1
    assert found > 20


def test_who_goes_on_after_a_removal_of_the_same_moment_does_so_by_an_operation_of_its_own():
    """A heartbeat that finds the epoch of somebody's removal writes targets, and no epoch that would begin it."""
    types, found = streams.PROTOCOL.types, 0
    steps = [step for step in OTHERS if step["kind"] == "streams"]
    written = [records for records in map(streams_history.records_of, steps) if records]
    for first, second in zip(written, written[1:], strict=False):
        is_removal = first[0].value is None and first[-1].type_id == types.epoch and first[-1].value is not None
        if is_removal and second[0].type_id in (types.target, types.target_epoch, types.current):
            assert operations([*first, *second], types, {})[0] == first
            found += 1
    assert found > 20


def _bumps(records: list[Any], protocol: EpochProtocol) -> int:
    """How often records bump an epoch; a conversion, which takes one over, aside."""
    own = [record for record in records if record.type_id in protocol.type_ids]
    values = [record for record in own if record.type_id == protocol.types.epoch and record.value is not None]
    return len(values) if len(own) == len(records) else 0
