"""What is done when two writers meet: the one that Delta turns away tries again, on the table as the other left it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from delta.exceptions import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentTransactionException,
    ConcurrentWriteException,
    DeltaConcurrentModificationException,
    MetadataChangedException,
    ProtocolChangedException,
)
from deltalake.exceptions import CommitFailedError

from transforms.errors import LakeError

_MOST_TRIES = 12
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 10.0

_TURNED_AWAY = (
    CommitFailedError,
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentTransactionException,
    ConcurrentWriteException,
    DeltaConcurrentModificationException,
    MetadataChangedException,
    ProtocolChangedException,
)
"""What Delta raises at the writer that comes second; they have no base in common."""

T = TypeVar("T")


class Overtaken(Exception):
    """Another writer was faster, and Delta left this write out without a word."""


def retried(write: Callable[[], T], what: str) -> T:
    """Do a write again, from its first look at the table on, for as long as others come in between.

    Raises:
        LakeError: others came in between every time.
    """
    for attempt in range(_MOST_TRIES):
        try:
            return write()
        except (*_TURNED_AWAY, Overtaken):
            time.sleep(random.uniform(0.5, 1) * min(_FIRST_PAUSE_S * 2**attempt, _LONGEST_PAUSE_S))
    raise LakeError(f"{what} cannot be written: other writers changed it {_MOST_TRIES} times in between")
