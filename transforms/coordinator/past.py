"""What groups of epochs have written of late: a request whose line is late met the group as it was before that."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from transforms.coordinator.epochs.nearby import Operation
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.tolerances import PAST_MS
from transforms.coordinator.moments import PROTOCOLS, Ahead, operations_of, read_moment
from transforms.coordinator.state import Modern


class Past:
    """Records that were taken, for as long as a request may have met the group before them.

    Args:
        state: what is known of the id as one of groups of epochs; for each type it keeps the group as it was before the
            first of these records.
    """

    def __init__(self, state: Modern) -> None:
        self._state = state
        self._moments = deque(read_moment(item, item.modern) for item in state.past if item.modern)

    @property
    def last(self) -> Ahead | None:
        """The latest of them."""
        return self._moments[-1] if self._moments else None

    def operations(self, group_type: str) -> list[Operation]:
        """Return what of them was written of a group of one type, in order."""
        return operations_of(self._moments, group_type)

    def remember(self, item: Item, moment: Ahead, spoken: Iterable[str]) -> None:
        """Keep records that are about to be taken.

        Args:
            item: the records.
            moment: the same, read.
            spoken: types of groups that the id has been.
        """
        self.forget(item.at)
        if not self._moments:
            for group_type in spoken:
                known = self._known(group_type)
                group = PROTOCOLS[group_type].group_after(known.machine.present, ())
                known.behind = None if group is None else type(known.machine)(group)
        self._state.past.append(item)
        self._moments.append(moment)

    def forget(self, now: float) -> None:
        """Let go of what no request can have met that is still to be looked at."""
        moments = self._moments
        if not moments:
            return
        while moments and moments[0].at < now - PAST_MS:
            for group_type, operations in moments.popleft().operations.items():
                known = self._known(group_type)
                known.behind = known.behind or type(known.machine)()
                for operation in operations:
                    known.behind.take(operation.records)
        del self._state.past[: len(self._state.past) - len(moments)]
        if not moments:
            self.drop()

    def drop(self) -> None:
        """Let go of all: the group is another one now."""
        self._moments.clear()
        self._state.past.clear()
        for group_type in PROTOCOLS:
            known = self._known(group_type)
            if known is not None:
                known.behind = None

    def _known(self, group_type: str) -> Any:
        return getattr(self._state, group_type)
