"""The price of a change: deaths that the coordinator would have noticed later, whose partitions lie idle until then."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from transforms.whatif.draw import History
from transforms.whatif.processes import Life, Process
from transforms.whatif.simulation import Course

NOTEWORTHY_MS = 500.0
"""Deaths noticed later by less than this are noticed as before."""


class Death(Struct, frozen=True, kw_only=True):
    """A process that went and never came back.

    Attributes:
        at: its last sign of life, epoch ms.
        noticed_after_ms: how long the coordinator really took to put it out; None = it did not.
        low_ms: how long it would have taken, at least.
        high_ms: at most; None = until after the end of the evidence, in some run.
    """

    client_id: str | None
    client_host: str | None
    group_instance_id: str | None
    at: float
    noticed_after_ms: float | None
    low_ms: float
    high_ms: float | None

    @property
    def later_by_ms(self) -> float:
        """By how much later it is noticed, at least."""
        return 0.0 if self.noticed_after_ms is None else self.low_ms - self.noticed_after_ms


def deaths_noticed_later(history: History, courses: Iterable[Course]) -> list[Death]:
    """Return the deaths within the window that are noticed later, in order of their moments."""
    runs = list(courses)
    deaths = [
        _death(history, runs, number, process, process.lives[-1])
        for number, process in enumerate(history.processes)
        if process.lives
    ]
    found = [death for death in deaths if death is not None and death.later_by_ms >= NOTEWORTHY_MS]
    return sorted(found, key=lambda death: death.at)


def _death(history: History, courses: list[Course], number: int, process: Process, life: Life) -> Death | None:
    if life.ends_at is None or not history.window.holds(life.ends_at.earliest):
        return None
    at = life.ends_at.earliest
    took = [_noticed_after(course, number, at) for course in courses]
    known = [each for each in took if each is not None]
    unseen = history.ends_at - at
    return Death(
        client_id=process.client_id,
        client_host=process.client_host,
        group_instance_id=process.group_instance_id,
        at=at,
        noticed_after_ms=None if life.removed_at is None else max(0.0, life.removed_at - at),
        low_ms=min([*known, unseen] if len(known) < len(took) else known),
        high_ms=max(known) if known and len(known) == len(took) else None,
    )


def _noticed_after(course: Course, number: int, at: float) -> float | None:
    removals = (each.at - at for each in course.removals if each.process == number and each.at >= at - NOTEWORTHY_MS)
    return next((max(0.0, each) for each in removals), None)
