"""Small files are joined in passing, so that a run is as quick as the tenth was, however many there were before it.

Each run adds a file to most tables, and whoever reads a table opens its files. So of the tables that have come to many
a run joins those of a few when all else is done: a run takes some tenths of a second longer, and none much longer. What
has grown large is left to `maintain_tables`, and so are tables that lie elsewhere than on a disk of this machine.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from jobs.lake.cluster_files import ClusterFile
from jobs.lake.tables import Tables
from schemas.table import TableSpec
from transforms.errors import RebalanceError

log = logging.getLogger(__name__)

MANY_FILES = 12
"""So many files of a table are joined."""

SMALL_BYTES = 8 << 20
"""Of files that are smaller."""

_ANYWAY_BYTES = 64 << 10
_TIMES = 2
"""A file that is so many times as large as all smaller ones together, and as this at least, stays: so each row is
written anew as often as the table grows twofold, and not whenever files are joined."""

MOST_TABLES = 4
"""Of so many tables one run joins files: a day's worth of runs every ten minutes comes by each of them often enough."""


def join_in_passing(tables: Tables, specs: Sequence[TableSpec]) -> None:
    """Join files of those tables that have most to be joined, if these are many; that it fails ends no run."""
    try:
        counts = {spec: tables.most_chosen(spec, many_alike) for spec in specs}
        for spec in sorted(specs, key=lambda spec: -counts[spec])[:MOST_TABLES]:
            if counts[spec]:
                tables.join(spec, many_alike)
    except (RebalanceError, OSError) as error:
        log.warning("small files could not be joined: %s", error)


def many_alike(files: Sequence[ClusterFile]) -> list[ClusterFile]:
    """Choose the small files that are not far larger than the others, if these are many; else none."""
    found, together = list[ClusterFile](), _ANYWAY_BYTES
    for file in sorted(files, key=lambda file: file.size):
        if file.size >= SMALL_BYTES or file.size > _TIMES * together:
            break
        found.append(file)
        together += file.size
    return found if len(found) >= MANY_FILES else []
