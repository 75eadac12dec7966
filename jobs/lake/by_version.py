"""What was found out of tables, kept for as long as nobody writes to them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from jobs.jvm.delta_log import TableState
from schemas.table import TableSpec

T = TypeVar("T")


class ByVersion(Generic[T]):
    """Something of each table, of its latest version that was asked of."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[TableState, T]] = {}
        self._turn = threading.Lock()

    def of(self, spec: TableSpec, state: TableState, find: Callable[[], T]) -> T:
        """Return it of a version; it is found out if another version was asked of last."""
        with self._turn:
            known = self._known.get(spec.full_name)
        if known is None or known[0] != state:
            known = state, find()
            self.note(spec, *known)
        return known[1]

    def note(self, spec: TableSpec, state: TableState, found: T) -> None:
        """Note it of a version, as whoever wrote that version knows it."""
        with self._turn:
            self._known[spec.full_name] = state, found
