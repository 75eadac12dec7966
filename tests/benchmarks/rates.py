"""How fast something goes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def median_rate(
    count: int, run: Callable[[], object], runs: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Things per second: the median of several runs after one that does not count.

    Args:
        count: things in one run.
        run: one run.
        runs: how many count.
        clock: what the seconds are of; `time.process_time` = of this process's CPU time.
    """
    rates = []
    for _ in range(runs + 1):
        begin = clock()
        run()
        rates.append(count / (clock() - begin))
    return statistics.median(rates[1:])
