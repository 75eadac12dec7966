"""What a request to a group of epochs is answered by the machine, and whether the broker answered so."""

from __future__ import annotations

from msgspec import Struct

from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.evidence.exchanges import Observed
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.apis import MODERN_HEARTBEATS
from transforms.coordinator.modern.partitions import of_numbers
from transforms.coordinator.modern.requests import Answer


class Predicted(Struct, frozen=True, gc=False):
    """What a request is answered by the machine.

    Attributes:
        state: the group's state before it; None = there was no group.
        error: the error; of a LeaveGroup the first of its members, if there is none above them.
    """

    answer: Answer
    state: str | None
    error: int


def predicted_of(answer: Answer, state: str | None) -> Predicted:
    """Return an answer in a state as what is predicted."""
    return Predicted(answer, state, int(answer.error or next(filter(None, answer.leaver_errors), Error.NONE)))


def explains(predicted: Predicted, exchange: Observed) -> bool:
    """Whether a request was answered the error and the epoch that are predicted."""
    if predicted.error != exchange.observed_error:
        return False
    return exchange.observed_generation is None or predicted.answer.epoch == exchange.observed_generation


def is_assignment_agreed(protocol: EpochProtocol, exchange: Observed, predicted: Predicted) -> bool | None:
    """Whether the member was told the assignment that is foreseen; None where there is none on either side."""
    told, foreseen = protocol.told(exchange.row), predicted.answer.assignment
    if told is None and (foreseen is None or exchange.row.api not in MODERN_HEARTBEATS):
        return None
    return told == (None if foreseen is None else of_numbers(foreseen))


def agrees(protocol: EpochProtocol, exchange: Observed, predicted: Predicted) -> bool:
    """Whether it was answered all that is predicted."""
    return explains(predicted, exchange) and is_assignment_agreed(protocol, exchange, predicted) is not False
