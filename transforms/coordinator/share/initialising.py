"""How the share state of a share group's partitions is asked for and made ready (record 15).

Source: GroupMetadataManager.maybeCreateInitializeShareGroupStateRequest, initializeShareGroupState,
uninitializeShareGroupState (4.2).
"""

from __future__ import annotations

from collections.abc import Iterable

from transforms.coordinator.modern.partitions import Partitions, minus, of_numbers, plus
from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.topics import Topics
from transforms.coordinator.modern.world import World
from transforms.coordinator.share.group import Group, ShareState
from transforms.coordinator.share.records import STATE_PARTITIONS, ShareRecord, StatePartitions, StateTopic
from transforms.coordinator.share.turn import Turn


def ask_for_new(turn: Turn, names: Iterable[str]) -> None:
    """Ask for the share state of subscribed partitions that have none and for which none was asked lately."""
    topics, state = turn.world.topics, turn.group.share_state
    asked: Partitions = {}
    if state is not None:
        is_lately = turn.world.now - state.since < turn.world.settings.share_retry_ms
        asked = plus(state.initialized, state.initializing if is_lately else {})
    wanted = {topic.topic_id: range(topic.partition_count) for name in names if (topic := topics.by_name.get(name))}
    new = {
        topic: numbers
        for topic, numbers in minus(of_numbers(wanted), asked).items()
        if len(asked.get(topic, ())) < len(wanted[topic])
    }
    if not new:
        return
    before = state or ShareState()
    initializing = plus(before.initializing, new)
    deleting = [topic for topic in before.deleting if topic not in initializing]
    turn.records.append(_record(topics, before.names, initializing, before.initialized, deleting))


def initialised(group: Group | None, partitions: Partitions, world: World) -> ShareRecord | None:
    """Return the record by which the share state of partitions is ready."""
    if group is None or not partitions:
        return None
    state = group.share_state or ShareState()
    initializing = minus(state.initializing, partitions)
    ready = plus(state.initialized, partitions)
    return _record(world.topics, state.names, initializing, ready, state.deleting)


def not_initialised(group: Group | None, partitions: Partitions) -> ShareRecord | None:
    """Return the record by which the share state of partitions is not being made ready any more."""
    state = group.share_state if group is not None else None
    if state is None or not state.initializing or not partitions:
        return None
    initializing = minus(state.initializing, partitions)
    return _record(Topics(), state.names, initializing, state.initialized, state.deleting)


def _record(
    topics: Topics, names: dict[str, str], initializing: Partitions, initialized: Partitions, deleting: Iterable[str]
) -> ShareRecord:
    def name(topic_id: str) -> str:
        known = topics.by_id.get(topic_id)
        return names.get(topic_id, "") if known is None else known.name

    def listed(partitions: Partitions) -> list[StateTopic]:
        return [StateTopic(topic, name(topic), list(numbers)) for topic, numbers in partitions.items()]

    gone = [StateTopic(topic, name(topic)) for topic in deleting]
    return Record(STATE_PARTITIONS, "", StatePartitions(listed(initializing), listed(initialized), gone))
