"""What can show that something happened, and how much its word weighs.

A GroupMetadata record wins over a log line, a log line over the replayed machine. This is the one list of sources: the
facts of the timeline are held with their authority, and the tables name the evidence behind them.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final


class Authority(IntEnum):
    """Weight of a source; of two facts the one with the higher authority stands."""

    NONE = 0
    REPLAYED = 1
    ANSWERED = 2
    LOGGED = 3
    STORED = 4


class Source(str, Enum):
    """What shows that something happened, or makes it happen.

    ANSWER is what the broker told in an answer of the request log, FOLLOWS_FROM_LINE what the machine did because of a
    line that speaks of something else ("Member m has failed" begins a join phase, which has a line of its own), TIMER a
    deadline of the machine's own.
    """

    TIMER = "timer"
    REQUEST_LOG = "request_log"
    FOLLOWS_FROM_LINE = "follows_from_line"
    ANSWER = "answer"
    BROKER_LOG = "broker_log"
    OFFSETS = "offsets"

    __hash__ = str.__hash__  # Enum's own is Python


# By name, for what is asked at every piece: up to Python 3.11, each look into an enum is a call.
TIMER: Final = Source.TIMER
REQUEST_LOG: Final = Source.REQUEST_LOG
ANSWER: Final = Source.ANSWER
BROKER_LOG: Final = Source.BROKER_LOG
OFFSETS: Final = Source.OFFSETS


AUTHORITY: dict[Source, Authority] = {
    Source.TIMER: Authority.REPLAYED,
    Source.REQUEST_LOG: Authority.REPLAYED,
    Source.FOLLOWS_FROM_LINE: Authority.REPLAYED,
    Source.ANSWER: Authority.ANSWERED,
    Source.BROKER_LOG: Authority.LOGGED,
    Source.OFFSETS: Authority.STORED,
}

EVIDENCE_OF: dict[Source, str] = {
    Source.TIMER: "request_log",
    Source.REQUEST_LOG: "request_log",
    Source.FOLLOWS_FROM_LINE: "broker_log",
    Source.ANSWER: "request_log",
    Source.BROKER_LOG: "broker_log",
    Source.OFFSETS: "offsets",
}
"""The kind of evidence (`schemas.words.EVIDENCE`) behind a source."""
