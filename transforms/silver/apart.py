"""Rows that lie apart in their files: few of many, and those that nearly all questions are about.

Of the requests to a busy coordinator most are heartbeats and commits that it takes. Findings are made of the others:
refusals, and who comes and goes. A file has these in groups of rows of their own, as to which a reader sees that the
rest has none of them, and leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from schemas.table import TableSpec
from schemas.tables.silver import GROUP_REQUESTS
from schemas.words import COMES_AND_GOES

Tells = Callable[[pa.Table], pa.ChunkedArray]
"""Of each row, whether it is one of the few."""


def _of_requests(requests: pa.Table) -> pa.ChunkedArray:
    """Tell which requests were refused, or come or go: a member of a newer protocol does with an epoch of 0 or less."""
    is_refused = pc.not_equal(requests["error"], "NONE")
    comes_or_goes = pc.is_in(requests["api"], pa.array(COMES_AND_GOES))
    has_no_epoch = pc.less_equal(requests["generation"], 0)
    return pc.fill_null(pc.or_(pc.or_(is_refused, comes_or_goes), has_no_epoch), True)


_TELLS: dict[str, Tells] = {GROUP_REQUESTS.full_name: _of_requests}


def apart(spec: TableSpec, rows: pa.Table) -> Iterator[pa.Table]:
    """Yield the few of a table's rows, and the many, each as they stand; without rows none of the two.

    Args:
        spec: the table.
        rows: rows of it.
    """
    tells = _TELLS.get(spec.full_name)
    if tells is None:
        yield rows
        return
    is_told = tells(rows)
    for part in (rows.filter(is_told), rows.filter(pc.invert(is_told))):
        if part.num_rows:
            yield part
