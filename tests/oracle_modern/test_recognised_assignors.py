"""The assignor that targets are known by is held against the one that Kafka's coordinator said it was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.oracle_modern.consumer_history import History, all_records_of
from tests.oracle_modern.histories import Step, walk, where
from tests.oracle_modern.kept import kept
from transforms.coordinator.consumer.records import TARGET_EPOCH
from transforms.coordinator.consumer.taking.protocol import PROTOCOL
from transforms.coordinator.epochs.before import Before, targets_before
from transforms.coordinator.epochs.operations import operations
from transforms.coordinator.epochs.protocol import Glimpse

_COMPUTED = re.compile(r"Computed a new target assignment for epoch \d+ with '(\w+)' assignor")


def _glimpses(group: Any) -> dict[str, Glimpse]:
    members = [] if group is None else group.members
    return {name: glimpse for name in members if (glimpse := PROTOCOL.glimpse(group, name)) is not None}


def _recognised(history: History, step: Step, names: Mapping[str, str], elected: str | None) -> list[str | None]:
    """Words for the targets that a step's records hold, each in its turn."""
    group, found = PROTOCOL.group_after(history.machine.present, ()), []
    for operation in operations(all_records_of(step), PROTOCOL.types, PROTOCOL.ranks):
        members = _glimpses(group)
        targets = {name: PROTOCOL.target(group, name) for name in members}
        group = PROTOCOL.group_after(group, operation)
        if any(record.type_id == TARGET_EPOCH and record.value is not None for record in operation):
            before = Before(True, 0, {}, {}, members, targets)
            found.append(PROTOCOL.computed_by(group, targets_before(_glimpses(group), before), names, elected, ()))
    return found


def test_targets_are_known_by_the_assignor_that_computed_them():
    found: Counter[tuple[str | None, bool]] = Counter()  # by word, and whether topics had names
    for history, step in walk(kept("histories_modern"), History):
        names = {topic.topic_id: topic.name for topic in history.topics.by_name.values()}
        logged = [match[1] for match in map(_COMPUTED.search, step["log"]) if match]
        elected = logged[0] if logged else None
        for word in _recognised(history, step, names, elected):
            assert word in (elected, None), where(step)
            found[word, True] += 1
        for word in _recognised(history, step, {}, elected):
            assert word in (elected, None), where(step)
            found[word, False] += 1
        assert set(_recognised(history, step, names, None)) <= {"uniform", "range", None}, where(step)
        history.follow(step, history.machine)
    for are_names_known in (True, False):
        assert found["uniform", are_names_known] + found["range", are_names_known] > 900, found
        assert found[None, are_names_known] < 150, found
