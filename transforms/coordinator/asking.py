"""A request to a group of epochs, with all that surrounds it: what its audit judges it by."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from schemas.rows import GroupRequestRow
from transforms.coordinator.epochs.asked import Asked
from transforms.coordinator.epochs.nearby import speaker_of
from transforms.coordinator.epochs.recall import Recall
from transforms.coordinator.evidence.exchanges import observed_of
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.topics import NO_TOPICS
from transforms.coordinator.modern.world import World, settings_of
from transforms.coordinator.moments import PROTOCOLS
from transforms.coordinator.neighbourhood import Neighbourhood
from transforms.coordinator.state import ReplayState


def asked_of(
    state: ReplayState,
    near: Neighbourhood,
    recall: Recall,
    topic_names: Mapping[str, str],
    group_type: str,
    item: Item,
    row: GroupRequestRow,
) -> Asked:
    """Return a request to a group with what surrounds it.

    Args:
        state: the replay's state.
        near: what is known around the moment that the replay has come to.
        recall: answers of the group as it is by the records that were taken.
        topic_names: names of topics by their ids, as far as they are known.
        group_type: what the group is, or is taken to be by who asks.
        item: the request, and its row.
        row: likewise.
    """
    modern, brokers = state.modern, state.shared.brokers
    speaker, of_broker = speaker_of(row, modern.told.has_left), brokers.of(row.broker)
    settings, wish = settings_of(of_broker), row.server_assignor
    shows_assignor = wish is not None and settings.is_supported(wish) is None
    if shows_assignor and row.error_code == Error.UNSUPPORTED_ASSIGNOR:
        settings = replace(settings, are_assignors_told=True)  # then it is none of those that the broker has
    bounds = (of_broker.min_session_timeout_ms, of_broker.max_session_timeout_ms)
    return Asked(
        observed_of(item.handled_at, row),
        PROTOCOLS[group_type].request_of(row),
        near.around(group_type, item.handled_at, row.answered_at),
        World(NO_TOPICS, settings, item.handled_at),
        speaker,
        near.moment(item, row, speaker),
        modern.claimed,
        near.elsewhere(group_type),
        near.classic(item.handled_at),
        modern.told.failures,
        brokers.is_release_told,
        state.shared.ownership,
        recall,
        topic_names,
        bounds if brokers.are_printed(row.broker) else None,
        modern.unwritten.of(row.broker, item.handled_at),
        shows_assignor,
    )
