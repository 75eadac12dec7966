"""Lines out of the bytes of a log file; of lines that tell nothing only how many there are.

A request log holds every Fetch and Produce of a broker. To make a text and an entry of each, only to leave it out,
takes as long as all else that is done with such a log: so these are skimmed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

_APART_BYTES = 1 << 20
"""Between two places of a file that are kept: to pass over so much takes a millisecond."""


@dataclass(frozen=True)
class Run:
    """Lines in a row that are an entry each, tell nothing, and were only counted.

    Attributes:
        line_numbers: their numbers in the file, from 1.
    """

    line_numbers: range

    @property
    def line_number(self) -> int:
        """The last of them."""
        return self.line_numbers[-1]

    def count_after(self, line_number: int) -> int:
        """Return how many stand behind a line."""
        return len(range(max(self.line_numbers.start, line_number + 1), self.line_numbers.stop))

    def after(self, line_number: int) -> Run:
        """Return those that stand behind a line."""
        return Run(self.line_numbers[-self.count_after(line_number) :])


class Place(NamedTuple):
    """Where a line begins.

    Attributes:
        line_number: its number in the file, from 1.
        byte: bytes before it.
    """

    line_number: int
    byte: int


BEGIN = Place(1, 0)
"""Where the first line of a file does."""


class Places:
    """Some of the lines of a file, where they begin: from there it can be read without what stands before.

    Args:
        first: the first of them.
    """

    def __init__(self, first: Place) -> None:
        self._known = [first]

    def pass_by(self, place: Place) -> None:
        """Keep a place, if it is far enough from the one before."""
        if place.byte - self._known[-1].byte >= _APART_BYTES:
            self._known.append(place)

    @property
    def are_several(self) -> bool:
        """Whether others than the first are kept."""
        return len(self._known) > 1

    def before(self, line_number: int) -> Place:
        """Return the last place that does not lie behind the begin of a line."""
        return self._known[bisect_right(self._known, (line_number, inf)) - 1]


Numbered = Iterable[tuple[int, str | Run]]
"""Lines with their numbers, or that of the first of several."""


class Lines:
    """Numbered lines of a file; bytes that are not UTF-8 stay visible as their hexadecimal escapes.

    Attributes:
        is_closed: the last line that was read has its end.
        places: where some of the lines begin.

    Args:
        chunks: bytes of the file, in order.
        skimmed: matches the head of a line that tells nothing, up to its milliseconds (a lookahead sees the rest). Of
            several such in a row with the same head, the last one becomes a line all the same: what follows may belong
            to it, and it shows up to when somebody logged.
        first: number of the line to begin with; those before it are passed over.
        begin: where the bytes begin; not behind the first line.
    """

    def __init__(
        self,
        chunks: Iterable[bytes],
        skimmed: re.Pattern[bytes] | None = None,
        first: int = 1,
        begin: Place = BEGIN,
    ) -> None:
        self.is_closed = True
        self.places = Places(begin)
        self._first = first
        self._begin = begin
        self._chunks = chunks
        self._skimmed = skimmed.match if skimmed else None

    def __iter__(self) -> Iterator[tuple[int, str | Run]]:
        number, byte = self._first - 1, self._begin.byte
        held: list[bytes] = []
        for passed, chunk in _behind(self._chunks, self._first - self._begin.line_number):
            byte += passed
            held.append(chunk)
            if b"\n" not in chunk:
                continue
            self.places.pass_by(Place(number + 1, byte))
            block = b"".join(held)
            begin = 0
            while (end := block.find(b"\n", begin)) >= 0:
                skimmed, begin = self._skim(block, begin)
                if skimmed:
                    yield number + 1, Run(range(number + 1, number + 1 + skimmed))
                    number += skimmed
                    end = block.index(b"\n", begin)
                number += 1
                yield number, _text(block[begin : end + 1])
                begin = end + 1
            held = [block[begin:]]
            byte += begin
        rest = b"".join(held)
        if rest:
            self.is_closed = False
            yield number + 1, _text(rest)

    def _skim(self, block: bytes, begin: int) -> tuple[int, int]:
        """Return how many lines can be skimmed from `begin` on, and where the one behind them begins."""
        if self._skimmed is None:
            return 0, begin
        found = self._skimmed(block, begin)
        second = found[0] if found else b""
        count = -1
        last = begin
        while found and found[0] == second and (end := block.find(b"\n", begin)) >= 0:
            count, last, begin = count + 1, begin, end + 1
            found = self._skimmed(block, begin)
        return max(count, 0), last


def _behind(chunks: Iterable[bytes], lines: int) -> Iterator[tuple[int, bytes]]:
    """Yield what stands behind so many lines, and before each piece how many bytes were passed over for it."""
    passed = 0
    for chunk in chunks:
        here = chunk.count(b"\n") if lines else 0
        if here < lines:
            lines -= here
            passed += len(chunk)
            continue
        begin = 0
        while lines:
            begin, lines = chunk.index(b"\n", begin) + 1, lines - 1
        passed += begin
        if begin < len(chunk):
            yield passed, chunk[begin:]
            passed = 0


def _text(line: bytes) -> str:
    return line.decode("utf-8", "backslashreplace")
