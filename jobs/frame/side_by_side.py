"""Work that processes of this machine do side by side, each a share of it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from jobs.frame.garbage import collect_rarely
from transforms.errors import SourceError

S = TypeVar("S")
R = TypeVar("R")


def side_by_side(work: Callable[[S], R], shares: Sequence[S], processes: int) -> Iterator[R]:
    """Yield what comes of each share, in their order; a single one is done in this process.

    Args:
        work: a function of a module, which new processes import.
        shares: what it is called with; goes to another process.
        processes: how many work at a time.

    Raises:
        SourceError: a process was ended from outside.
    """
    if len(shares) <= 1 or processes <= 1:
        yield from map(work, shares)
        return
    # Spawned, not forked: this process has the threads of a JVM's gateway.
    how = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(shares)), how, _begin) as pool:
        try:
            yield from pool.map(work, shares)
        except BrokenProcessPool as error:
            raise SourceError(
                "one of this job's processes was ended from outside, perhaps for want of memory; nothing is lost: "
                "give the job more memory, or fewer cores (spark.master), and run it again"
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin() -> None:
    """Set a process up: it ends as soon as the one that started it has, else it would wait for work for ever."""
    collect_rarely()
    parent = multiprocessing.parent_process()
    assert parent is not None, "it was started by one"

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
