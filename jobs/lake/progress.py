"""How far the steps came: what each noted when it was last through, as long as the tables it wrote are still there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from jobs.lake.notes import Notes, understood
from schemas.table import Layer, TableSpec

Note = dict[str, Any]
T = TypeVar("T")


class Progress:
    """What the steps noted, for one cluster.

    A note names the tables that it holds for, by the ids that Delta gave them: one that is gone, or was made anew, by
    whomever and whenever, makes the step begin anew. So does a table of gold that is declared otherwise by now: the
    next run puts an empty one in its place (`jobs.lake.layouts`), and what is new would be all that it gets.

    Args:
        notes: where they are kept.
        table_id: returns the id of a table; None if it does not exist.
    """

    def __init__(self, notes: Notes, table_id: Callable[[TableSpec], str | None]) -> None:
        self._notes = notes
        self._table_id = table_id

    def of(self, step: str, outputs: Sequence[TableSpec]) -> Note | None:
        """Return what a step noted when it was last through, or None if it has to begin anew.

        Args:
            step: name of the step.
            outputs: all tables that the step writes.
        """
        kept, ids = self._notes.get(_name(step)), self._ids(outputs)
        if kept is None or kept.get("tables") != ids or None in ids.values():
            return None
        note: Note = kept["note"]
        return note

    def of_kind(self, step: str, outputs: Sequence[TableSpec], kind: type[T]) -> T | None:
        """Return the same as a value of a type; None also if it is none, as that of another release may be."""
        note = self.of(step, outputs)
        return None if note is None else understood(note, kind)

    def last(self, step: str) -> Note | None:
        """Return what a step noted last, whatever has become of its tables since; None = nothing."""
        kept = self._notes.get(_name(step))
        return None if kept is None else kept["note"]

    def note(self, step: str, outputs: Sequence[TableSpec], note: Note) -> None:
        """Note how far a step came, after its last write."""
        kept = {"tables": self._ids(outputs), "note": note}
        if self._notes.get(_name(step)) != kept:
            self._notes.put(_name(step), kept)

    def begin_anew(self, step: str) -> None:
        """Forget what a step noted, before it does all over again: should it be cut short, the next run begins anew."""
        self._notes.drop(_name(step))

    def _ids(self, specs: Sequence[TableSpec]) -> dict[str, str | None]:
        return {spec.full_name: self._id(spec) for spec in specs}

    def _id(self, spec: TableSpec) -> str | None:
        found = self._table_id(spec)
        return found if found is None or spec.layer is not Layer.GOLD else f"{found}/{_declared(spec)}"


def _declared(spec: TableSpec) -> str:
    """Return what changes with the columns of a table."""
    return hashlib.blake2b(repr((sorted(spec.columns), spec.partitions)).encode(), digest_size=4).hexdigest()


def _name(step: str) -> str:
    return f"progress/{step}"
