"""Small files are joined in passing, so that a run is as quick as the tenth was, however many there were before it.

Each run adds a file to most tables, and whoever reads a table opens its files. So of the tables that have come to many
a run joins those of a few when all else is done: a run takes some tenths of a second longer, and none much longer. What
has grown large is left to `maintain_tables`, and so are tables that lie elsewhere than on a disk of this machine.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from jobs.lake.tables import Tables
from schemas.table import TableSpec
from transforms.errors import RebalanceError

log = logging.getLogger(__name__)

MANY_FILES = 12
"""So many small files of a table are joined."""

SMALL_BYTES = 8 << 20
"""What is smaller is small: a row is written anew until it lies in a file of this size."""

MOST_TABLES = 4
"""Of so many tables one run joins files: a day's worth of runs every ten minutes comes by each of them often enough."""


def join_in_passing(tables: Tables, specs: Sequence[TableSpec]) -> None:
    """Join small files of those tables that have most of them, if these are many; that it fails ends no run."""
    try:
        counts = {spec: tables.most_small(spec, SMALL_BYTES) for spec in specs}
        for spec in sorted(specs, key=lambda spec: -counts[spec])[:MOST_TABLES]:
            if counts[spec] >= MANY_FILES:
                tables.join_in_passing(spec, SMALL_BYTES, MANY_FILES)
    except (RebalanceError, OSError) as error:
        log.warning("small files could not be joined: %s", error)
