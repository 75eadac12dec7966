"""Answers that no group of epochs gave: the broker refused the request, or coordinated the group not yet or no more."""

from __future__ import annotations

from transforms.coordinator.epochs.nearby import Surroundings
from transforms.coordinator.epochs.predicted import Predicted, predicted_of
from transforms.coordinator.evidence.exchanges import Observed, is_unreplicated
from transforms.coordinator.evidence.ownership import Ownership, may_have_asked
from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS
from transforms.coordinator.kafka.answers import BROKER_REFUSALS, REFUSALS, REFUSALS_OF_TRANSACTIONS, Error
from transforms.coordinator.kafka.apis import MODERN_HEARTBEATS
from transforms.coordinator.kafka.requests import lacks_protocol
from transforms.coordinator.modern.requests import Answer
from transforms.coordinator.timeline.audit import (
    WHY_BROKER,
    WHY_EITHER,
    WHY_NOT_COORDINATOR,
    WHY_TRANSACTION,
    WHY_UNREPLICATED,
)

_BY_BROKER: frozenset[int] = frozenset(
    {
        Error.UNKNOWN_TOPIC_OR_PARTITION,
        Error.UNKNOWN_TOPIC_ID,
        Error.TOPIC_AUTHORIZATION_FAILED,
        Error.GROUP_AUTHORIZATION_FAILED,
        Error.INVALID_SESSION_TIMEOUT,
        Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)

_BY_REQUEST_ALONE = BROKER_REFUSALS | {Error.UNSUPPORTED_ASSIGNOR, Error.STREAMS_INVALID_TOPOLOGY}
"""What a request is answered for its own sake, before the group's partition is looked for.

Source: GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid and its like.
"""


def unasked(
    exchange: Observed,
    near: Surroundings,
    ownership: Ownership,
    commit_timeout_ms: int,
    session_bounds: tuple[int, int] | None = None,
) -> tuple[Predicted | None, str | None] | None:
    """Return what a request is answered that the group never saw, and what is to be said of that; None if it may have.

    Args:
        exchange: the request and its answer.
        near: the group around its moment.
        ownership: which broker coordinated the group when.
        commit_timeout_ms: how long its log may take to be replicated.
        session_bounds: the shortest and the longest session that the broker lets members of the classic protocol have;
            None = it has printed none.
    """
    refused = _refused_alone(exchange, session_bounds)
    if refused is not None:
        return predicted_of(Answer(refused), None), None
    if exchange.observed_error in _BY_BROKER or _is_switched_off(exchange, near):
        return None, WHY_BROKER
    if exchange.observed_error in REFUSALS_OF_TRANSACTIONS:
        return None, WHY_TRANSACTION
    row, observed = exchange.row, exchange.observed_error
    is_told = observed in REFUSALS
    is_asked = ownership.is_settled(row.broker, exchange.handled_at, exchange.answered_at)
    if observed in _BY_REQUEST_ALONE or (is_asked and not is_told):
        return None
    answers = ownership.answers(row.broker, row.api, exchange.handled_at, exchange.answered_at)
    if not is_told and may_have_asked(answers, observed):
        return None
    expected = [answer for answer in answers if answer is not None]
    if observed == Error.NOT_COORDINATOR and not expected and _is_about_to_resign(exchange, ownership):
        return predicted_of(Answer(Error.NOT_COORDINATOR), None), WHY_EITHER
    if not expected and is_unreplicated(exchange, commit_timeout_ms):
        return predicted_of(Answer(Error.COORDINATOR_NOT_AVAILABLE), None), WHY_UNREPLICATED
    if not expected:
        return None, WHY_NOT_COORDINATOR
    is_either = observed in expected and len(answers) > 1
    answer = Error(observed) if observed in expected else expected[0]
    return predicted_of(Answer(answer), None), WHY_EITHER if is_either else None


def _refused_alone(exchange: Observed, session_bounds: tuple[int, int] | None) -> Error | None:
    """Return what a request of the classic protocol is refused by, whoever coordinates the group, and whatever it is.

    Source: KafkaApis.handleSyncGroupRequest, GroupCoordinatorService.joinGroup.
    """
    row = exchange.row
    if lacks_protocol(row.api, row.api_version or 0, row.protocol_type, row.protocol):
        return Error.INCONSISTENT_GROUP_PROTOCOL
    if row.api != "JoinGroup" or session_bounds is None or row.session_timeout_ms is None:
        return None
    shortest, longest = session_bounds
    return None if shortest <= row.session_timeout_ms <= longest else Error.INVALID_SESSION_TIMEOUT


def _is_about_to_resign(exchange: Observed, ownership: Ownership) -> bool:
    """Whether a broker soon says that it gives the group up: before it does, it cannot write to its log any more.

    Source: BrokerMetadataPublisher.onMetadataUpdate (ReplicaManager.applyDelta, and only then the coordinators);
    CoordinatorOperationExceptionHelper.handleOperationException (NOT_LEADER_OR_FOLLOWER).
    """
    soon = exchange.handled_at + LOOK_AHEAD_MS
    return Error.NOT_COORDINATOR in ownership.answers(exchange.row.broker, exchange.row.api, soon, soon)


def _is_switched_off(exchange: Observed, near: Surroundings) -> bool:
    """Whether a broker answers that it does not serve the protocol: then it has no group of it either.

    Source: KafkaApis.handleShareGroupHeartbeat and its like: the feature is off, or the coordinator is that of Scala.
    """
    is_off = exchange.observed_error == Error.UNSUPPORTED_VERSION and exchange.row.api in MODERN_HEARTBEATS
    return is_off and near.present is None and not near.operations
