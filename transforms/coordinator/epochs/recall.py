"""What a group of epochs answered since it changed last: the same request is answered the same.

The many heartbeats and commits write nothing. What they are answered follows from the group, the request and the
broker's settings alone: time decides about timers, and about what is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Speaker = tuple[str, str, str | None]
"""Type of the group, API and member."""

_MOST = 10_000


class Recall:
    """Answers of a group as it is; whoever changes it lets them be forgotten."""

    def __init__(self) -> None:
        self._last: dict[Speaker, tuple[tuple[Any, ...], Any]] = {}

    def forget(self) -> None:
        """Forget all: the group is about to change."""
        self._last.clear()

    def answer(self, speaker: Speaker, said: tuple[Any, ...], ask: Callable[[], Any]) -> Any:
        """Return what a request is answered.

        Args:
            speaker: who sends it.
            said: all that the answer follows from, beside the group.
            ask: asks the group, if the speaker said something else before.
        """
        known = self._last.get(speaker)
        if known is not None and known[0] == said:
            return known[1]
        if len(self._last) >= _MOST:
            self._last.clear()
        answer = ask()
        self._last[speaker] = (said, answer)
        return answer
