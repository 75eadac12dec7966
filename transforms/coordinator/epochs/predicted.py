"""What a request to a group of epochs is answered by the machine, and whether the broker answered so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.evidence.exchanges import Observed
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.apis import MODERN_HEARTBEATS, SYNC_GROUP
from transforms.coordinator.modern.partitions import Partitions, of_numbers
from transforms.coordinator.modern.requests import Answer
from transforms.wire.consumer_protocol import read_assignment


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


def is_assignment_agreed(
    protocol: EpochProtocol, exchange: Observed, predicted: Predicted, names: Mapping[str, str]
) -> bool | None:
    """Whether the member was told the assignment that is foreseen; None where there is none on either side.

    Args:
        protocol: the protocol of the group.
        exchange: the request and its answer.
        predicted: what is predicted.
        names: names of topics by their ids, as far as they are known: members of the classic protocol are told names.
    """
    row, foreseen = exchange.row, predicted.answer.assignment
    if row.api == SYNC_GROUP:
        told_bytes = None if exchange.observed_error else row.answered_assignment
        return None if told_bytes is None or foreseen is None else _is_told_by_name(told_bytes, foreseen, names)
    told = protocol.told(row)
    if told is None and (foreseen is None or row.api not in MODERN_HEARTBEATS):
        return None
    return told == (None if foreseen is None else of_numbers(foreseen))


def _is_told_by_name(told_bytes: bytes, foreseen: Partitions, names: Mapping[str, str]) -> bool | None:
    """Whether a SyncGroup tells the partitions that are foreseen; a topic whose name is not known may be any other.

    None where it cannot be read, and where whole topics are left out: the broker does so with those that are deleted,
    which nothing else tells (ConsumerGroup…toConsumerProtocolAssignment).
    """
    entries = read_assignment(told_bytes).assigned
    if entries is None:
        return None
    told = Counter((each["topic"], tuple(sorted(each["partitions"]))) for each in entries if each["partitions"])
    wanted = Counter((names.get(topic), numbers) for topic, numbers in of_numbers(foreseen).items())
    named = Counter({part: count for part, count in wanted.items() if part[0] is not None})
    common = named & told
    more_told = Counter(numbers for (_, numbers), count in (told - common).items() for _ in range(count))
    unnamed = Counter(numbers for (topic, numbers), count in wanted.items() if topic is None for _ in range(count))
    if more_told - unnamed:
        return False
    return True if common == named and more_told == unnamed else None


def agrees(protocol: EpochProtocol, exchange: Observed, predicted: Predicted, names: Mapping[str, str]) -> bool:
    """Whether it was answered all that is predicted."""
    return explains(predicted, exchange) and is_assignment_agreed(protocol, exchange, predicted, names) is not False
