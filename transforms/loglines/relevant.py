"""Which entries of a log are worth keeping: the request log of a broker holds every Fetch and Produce."""

from __future__ import annotations

from math import inf

from transforms.loglines.entries.entry import Entry
from transforms.loglines.entries.layouts import head_length
from transforms.loglines.entries.lines import Run
from transforms.loglines.parse import may_tell


class Selection:
    """Chooses entries of one log, offered in their order, once each.

    Kept are entries that some reader may make something of, with the pieces that an overlong one was cut into, and
    beside them the newest entry, whatever it is: it shows up to when the one who logs was there. Of lines that were
    only skimmed the last one of their second stands for all.

    Attributes:
        left_out: number of entries that are not kept, of those behind the line that an earlier run has counted up to.
        line_number: first line of the last entry.

    Args:
        counted_to: line that an earlier run has counted up to.
        keeps_all: nothing is left out.
        shown_to: time up to which an earlier run has shown that the one who logs was there (epoch ms).
    """

    def __init__(self, counted_to: int = 0, keeps_all: bool = False, shown_to: float | None = None) -> None:
        self.left_out = self.line_number = 0
        self._keeps_all = keeps_all
        self._counted_to = counted_to
        self._is_in_kept = False
        self._newest_at = -inf if shown_to is None else shown_to
        self._newest: Entry | None = None
        self._last: Entry | None = None

    def takes(self, entry: Entry) -> bool:
        """Tell whether an entry is kept for what it may tell."""
        number, logged_at, text = entry
        self.line_number, self._last = number, entry
        if self._keeps_all:
            return True
        if may_tell(text, logged_at) or (self._is_in_kept and head_length(text) < 0):
            self._is_in_kept = True
            if logged_at is not None and logged_at >= self._newest_at:
                self._newest_at, self._newest = logged_at, None
            return True
        self._is_in_kept = False
        if number > self._counted_to:
            self.left_out += 1
        if logged_at is not None and logged_at > self._newest_at:
            self._newest_at, self._newest = logged_at, entry
        return False

    def passes(self, run: Run) -> None:
        """Leave out lines that were skimmed."""
        self.line_number = run.line_number
        self._is_in_kept = False
        self.left_out += run.count_after(self._counted_to)

    @property
    def landmark(self) -> Entry | None:
        """The last entry that was offered, if its log can be read on from there: it begins with its time."""
        last = self._last
        return None if last is None or last.logged_at is None or head_length(last.text) < 0 else last

    def end(self) -> Entry | None:
        """Return the newest entry if it was not taken: now it is, and counts as kept."""
        newest, self._newest = self._newest, None
        if newest is not None and newest.line_number > self._counted_to:
            self.left_out -= 1
        return newest
