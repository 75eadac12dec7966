"""Work that processes of this machine do side by side, each a share of it.

They are kept until this process ends: what they import takes each of them a second, and a run has work for them five
times.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

from jobs.frame.garbage import collect_rarely
from transforms.errors import SourceError

S = TypeVar("S")
R = TypeVar("R")

_Place = tuple[int, Path]
"""How many processes work at a time, and the folder that they take names of files to be below."""

_kept: dict[_Place, ProcessPoolExecutor] = {}
"""The processes of this one, of which there are some for one place at a time."""

_turn = threading.Lock()


def side_by_side(work: Callable[[S], R], shares: Sequence[S], processes: int) -> Iterator[R]:
    """Yield what comes of each share, in their order; a single one is done in this process.

    Args:
        work: a function of a module, which new processes import.
        shares: what it is called with; goes to another process.
        processes: how many work at a time, whoever asks.

    Raises:
        SourceError: a process was ended from outside.
    """
    if len(shares) <= 1 or processes <= 1:
        yield from map(work, shares)
        return
    place = (processes, Path.cwd())
    results = _begun(work, shares, place)
    try:
        yield from results  # whoever stops asking takes back what was not begun
    except BrokenProcessPool as error:
        with _turn:
            _kept.clear()
        raise SourceError("a process that was reading was ended from outside: was there too little memory?") from error


def _begun(work: Callable[[S], R], shares: Sequence[S], place: _Place) -> Iterator[R]:
    """Have shares worked through, and return what comes of them."""
    with _turn:
        try:
            return _processes(place).map(work, shares)
        except BrokenProcessPool:  # one was ended while there was nothing to do
            _kept.clear()
            return _processes(place).map(work, shares)


def _processes(place: _Place) -> ProcessPoolExecutor:
    if place not in _kept:
        _kept.clear()  # they end once they have done what they were given
        # Spawned, not forked: this process has the threads of a JVM's gateway.
        _kept[place] = ProcessPoolExecutor(place[0], multiprocessing.get_context("spawn"), _begin)
    return _kept[place]


def _begin() -> None:
    """Set a process up: it ends as soon as the one that started it has, else it would wait for work for ever."""
    collect_rarely()
    parent = multiprocessing.parent_process()
    assert parent is not None, "it was started by one"

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
