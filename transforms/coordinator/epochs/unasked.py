"""Answers that no group of epochs gave: the broker refused the request, or coordinated the group not yet or no more."""

from __future__ import annotations

from transforms.coordinator.epochs.nearby import Surroundings
from transforms.coordinator.evidence.exchanges import Observed
from transforms.coordinator.kafka.answers import REFUSALS, Error
from transforms.coordinator.kafka.apis import MODERN_HEARTBEATS
from transforms.coordinator.timeline.audit import WHY_BROKER, WHY_NOT_COORDINATOR

_UNKNOWN_TOPIC_ID = 100
_BY_BROKER: frozenset[int] = frozenset(
    {
        Error.UNKNOWN_TOPIC_OR_PARTITION,
        Error.TOPIC_AUTHORIZATION_FAILED,
        Error.GROUP_AUTHORIZATION_FAILED,
        _UNKNOWN_TOPIC_ID,
    }
)


def why_unasked(exchange: Observed, near: Surroundings) -> str | None:
    """Return what is to be said of a request that the group never saw; None if it may have.

    Args:
        exchange: the request and its answer.
        near: the group around its moment.
    """
    if exchange.observed_error in REFUSALS:
        return WHY_NOT_COORDINATOR
    return WHY_BROKER if exchange.observed_error in _BY_BROKER or _is_switched_off(exchange, near) else None


def _is_switched_off(exchange: Observed, near: Surroundings) -> bool:
    """Whether a broker answers that it does not serve the protocol: then it has no group of it either.

    Source: KafkaApis.handleShareGroupHeartbeat and its like: the feature is off, or the coordinator is that of Scala.
    """
    is_off = exchange.observed_error == Error.UNSUPPORTED_VERSION and exchange.row.api in MODERN_HEARTBEATS
    return is_off and near.present is None and not near.operations
