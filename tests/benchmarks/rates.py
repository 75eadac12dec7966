"""How fast something goes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def median_rate(count: int, run: Callable[[], object], runs: int) -> float:
    """Things per second: the median of several runs after one that does not count."""
    rates = []
    for _ in range(runs + 1):
        begin = time.perf_counter()
        run()
        rates.append(count / (time.perf_counter() - begin))
    return statistics.median(rates[1:])
