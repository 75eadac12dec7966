"""How often Python looks for objects that hold each other alive, in processes that work through many rows."""

from __future__ import annotations

import gc

_NEW_OBJECTS = (50_000, 20, 100)
"""New objects after which it looks: rows are many objects and no rings."""


def collect_rarely() -> None:
    """Have it look less often in this process.

    It is a tenth of the time of a replay, a sixth of that of reading logs; and half of that of judging a storm of
    thousands of rebalances, whose evidence is looked through each time.
    """
    gc.set_threshold(*_NEW_OBJECTS)
