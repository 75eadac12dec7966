"""Tables are tidied in passing, so that a run is as quick as the tenth was, however many there were before it.

Each run adds a commit and a file to most tables. Whoever reads one opens its files, and who opens it when somebody has
written goes through its log. So when all else is done a run sums up logs that have grown long, and of the tables that
have come to many small files joins those of a few: that takes some tenths of a second, and never much longer. What has
grown large is left to `maintain_tables`, and so are tables that lie elsewhere than on a disk of this machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from jobs.lake.cluster_files import ClusterFile
from jobs.lake.tables import Tables
from schemas.table import TableSpec

MANY_FILES = 12
"""So many files of a table are joined."""

SMALL_BYTES = 512 << 10
"""Of files that are smaller."""

MOST_BYTES = 6 << 20
"""So much of a table is written anew at a time, which takes about half a second."""

_TIMES, _ANYWAY_BYTES = 2, 128 << 10
"""Files that are more than so many times as large as all smaller ones together are not joined with them, unless they
are small anyway: so each row is written anew as often as the table grows twofold, and not whenever files are joined."""

MOST_TABLES = 3
"""Of so many tables one run joins files: a day's worth of runs every ten minutes comes by each of them often enough."""

MANY_COMMITS = 10
"""After so many commits a log is summed up."""


Each = Callable[[TableSpec], AbstractContextManager[None]]
"""What is done with one table is done in it: it may let it fail, and the others go on."""


def tidy(tables: Tables, specs: Sequence[TableSpec], each: Each) -> None:
    """Join files of those tables that have most to be joined, and sum logs up."""
    counts = Counter[TableSpec]()
    for spec in specs:
        with each(spec):
            counts[spec] = tables.most_chosen(spec, many_alike)
    for spec, count in counts.most_common(MOST_TABLES):
        if count:
            with each(spec):
                tables.join(spec, many_alike)
    for spec in specs:
        with each(spec):
            tables.sum_up(spec, MANY_COMMITS)


def many_alike(files: Sequence[ClusterFile]) -> list[ClusterFile]:
    """Choose the smallest files of which none is far larger than those before it, if they are many; else none."""
    found, together = list[ClusterFile](), 0
    for file in sorted((file for file in files if file.size < SMALL_BYTES), key=lambda file: file.size):
        if len(found) >= MANY_FILES and together + file.size > MOST_BYTES:
            break
        if found and file.size > max(_TIMES * together, _ANYWAY_BYTES):
            if len(found) >= MANY_FILES:
                break
            found, together = [], 0
        found.append(file)
        together += file.size
    return found if len(found) >= MANY_FILES else []
