"""Rows that lie apart in their files: few of many, and those that nearly all questions are about.

Of the requests to a busy coordinator most are heartbeats and commits that it takes. Findings are made of the others:
refusals, and who comes and goes. A file has these in groups of rows of their own, as to which a reader sees that the
rest has none of them, and leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from schemas.table import TableSpec
from schemas.tables.silver import GROUP_REQUESTS
from schemas.words import COMES_AND_GOES


def _tell(requests: pa.Table) -> pa.ChunkedArray:
    """Tell which requests were refused, or come or go: a member of a newer protocol does with an epoch of 0 or less."""
    is_refused = pc.not_equal(requests["error"], "NONE")
    comes_or_goes = pc.is_in(requests["api"], pa.array(COMES_AND_GOES))
    has_no_epoch = pc.less_equal(requests["generation"], 0)
    return pc.fill_null(pc.or_(pc.or_(is_refused, comes_or_goes), has_no_epoch), True)


def apart(spec: TableSpec, rows: pa.Table) -> Iterator[pa.Table]:
    """Yield the few of a table's rows, and the many, each as they stand; without rows none of the two.

    Args:
        spec: the table.
        rows: rows of it.
    """
    if spec != GROUP_REQUESTS:
        yield rows
        return
    tell = _tell(rows)
    for part in (rows.filter(tell), rows.filter(pc.invert(tell))):
        if part.num_rows:
            yield part
