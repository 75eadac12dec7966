"""Rows of the audit of requests to groups of epochs."""

from __future__ import annotations

from schemas.rows import ReplayAuditRow
from transforms.coordinator.epochs.asked import Asked
from transforms.coordinator.epochs.predicted import Predicted, explains, is_assignment_agreed
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.timeline.audit import (
    WHY_EITHER,
    WHY_LATE,
    WHY_LATER_RELEASE,
    WHY_SETTING,
    WHY_UNREPLICATED,
    WHY_UNWRITTEN,
    observed_row,
)

_BY_ITS_ANSWER = frozenset({WHY_LATE, WHY_EITHER, WHY_UNREPLICATED, WHY_SETTING})
"""What is said of a prediction that needed the broker's own answer."""


def audit_row(
    cluster: str, protocol: EpochProtocol, asked: Asked, predicted: Predicted | None, why: str | None
) -> ReplayAuditRow:
    """Row of `gold.replay_audit`."""
    exchange = asked.exchange
    audited = observed_row(cluster, exchange, exchange.row.member_id)
    audited.group_type, audited.why = protocol.group_type, why
    audited.is_answer_used = why in _BY_ITS_ANSWER
    if predicted is not None:
        _compare(audited, protocol, asked, predicted)
    if not audited.agrees and asked.world.settings.rules.is_beyond_read:
        audited.why = f"{audited.why}; {WHY_LATER_RELEASE}"
    return audited


def leave_open(audited: ReplayAuditRow) -> bool:
    """Take a prediction back where the broker let a request in by what records will tell that were not read yet.

    A member that is not known, an epoch beyond all that are, another assignment: records bring them. What is refused,
    or falls behind what is known, is held against the broker as ever.

    Returns:
        Whether it was taken back.
    """
    is_behind = (audited.observed_generation or 0) < (audited.predicted_generation or 0)
    is_let_in = audited.agrees is False and audited.observed_error == Error.NONE and not is_behind
    if is_let_in:
        audited.predicted_error = audited.predicted_generation = audited.is_assignment_agreed = audited.agrees = None
        audited.is_answer_used, audited.why = False, WHY_UNWRITTEN
    return is_let_in


def _compare(audited: ReplayAuditRow, protocol: EpochProtocol, asked: Asked, predicted: Predicted) -> None:
    """Fill in what is predicted, and whether the broker answered so."""
    exchange = asked.exchange
    audited.state_before, audited.predicted_error = predicted.state, predicted.error
    if exchange.observed_generation is not None:
        audited.predicted_generation = predicted.answer.epoch
    audited.is_assignment_agreed = is_assignment_agreed(protocol, exchange, predicted, asked.topic_names)
    audited.agrees = explains(predicted, exchange) and audited.is_assignment_agreed is not False
    if not audited.agrees and audited.why is None:
        said = "the assignment" if explains(predicted, exchange) else f"epoch {predicted.answer.epoch}"
        audited.why = f"the state machine gives another answer: {said}"
