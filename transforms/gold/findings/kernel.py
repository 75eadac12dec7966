"""From tables to findings: the rows around each finding as one piece of evidence, judged by a pure function.

Grain of what is packed: one row of one table, given to one finding of one (cluster, group_id):

    cluster STRING, group_id STRING, finding INT, kind STRING, row STRING

`row` is the row as JSON, without its nulls, times as epoch ms; `kind` names a list of
`transforms.findings.evidence.Evidence`, or is FRAME: what is known of the finding itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.silver import GROUP_REQUESTS
from transforms.findings.evidence import KINDS, Evidence, Request
from transforms.given_rows import given, held, rows_held

GROUP = ("cluster", "group_id")
FINDING = (*GROUP, "finding")

FRAME = "frame"

REQUEST = tuple(name for name in Request.__struct_fields__ if name in GROUP_REQUESTS.columns)
"""Columns that findings ask of a request."""

AT_END = ("end_cause", "last_generation")
"""Columns of a stay that are not known before its end."""

MOST_JUDGED_HERE = 100
"""Findings that are judged in this process: to judge one takes some 20 ms, to start another process some seconds."""

_DECODERS = {kind: msgspec.json.Decoder(row, strict=False) for kind, row in KINDS.items()}

Hold = Callable[[DataFrame], DataFrame | None]
"""Keeps what findings are made of, which is read many times; None = there is none, so that there are no findings."""

Few = Callable[[DataFrame], pa.Table | None]
"""Fetches evidence that is judged in this process, which saves the start of another; None = there is too much of it."""

Judge = Callable[[Evidence, dict[str, Any]], list[Any]]
"""Evidence, and what is known of the finding, to rows of the table of findings."""


def packed(rows: DataFrame, kind: str) -> DataFrame:
    """Pack rows that have `cluster`, `group_id` and `finding`."""
    fields = (
        f"unix_micros({field.name}) / 1000.0D AS {field.name}"
        if isinstance(field.dataType, T.TimestampType)
        else field.name
        for field in rows.schema
        if field.name != "finding"
    )
    return rows.selectExpr(*FINDING, f"'{kind}' AS kind", f"to_json(struct({', '.join(fields)})) AS row")


def around(rows: DataFrame, spans: DataFrame, begin: str, end: str, told_at_end: Sequence[str] = ()) -> DataFrame:
    """Give findings the rows that lie in their time, or reach into it; a row without a begin or an end reaches far.

    What came after that time is not known to the finding, whenever it is judged: such an end is as good as none.

    Args:
        rows: with `cluster`, `group_id`, and the two columns.
        spans: `cluster`, `group_id`, `finding`, and from when to when it is looked at: `since_us`, `until_us`; grain:
            one finding.
        begin: column that has the begin.
        end: column that has the end.
        told_at_end: columns that are not known before the end.
    """
    is_near = f"coalesce(unix_micros({begin}) <= until_us, true) AND coalesce(unix_micros({end}) >= since_us, true)"
    near = rows.join(spans.select(*FINDING, "since_us", "until_us"), list(GROUP)).where(is_near)
    # Each frame is analysed as a whole, and a column takes several calls to the JVM: all are made at once, as text.
    ends = {name for name in (end, *told_at_end) if name != begin}
    names = (name for name in near.columns if name not in ("since_us", "until_us"))
    return near.selectExpr(
        *(
            f"CASE WHEN NOT coalesce(unix_micros({end}) > until_us, false) THEN {name} END AS {name}"
            if name in ends
            else name
            for name in names
        )
    )


def as_it_is(rows: DataFrame) -> DataFrame:
    """Keep nothing: a `Hold` for those who look for findings once, and see what comes of it."""
    return rows


def by_workers(rows: DataFrame) -> None:
    """Fetch nothing: a `Few` for those who leave it to Spark's workers to judge."""


def nothing(like: DataFrame, spec: TableSpec) -> DataFrame:
    """Return a table of findings without a row."""
    return given(like.sparkSession, struct_type(spec))


def judged(
    found: DataFrame, parts: Sequence[DataFrame], judge: Judge, spec: TableSpec, few: Few = by_workers
) -> DataFrame:
    """Judge every finding.

    Args:
        found: what findings are made of, as `Hold` keeps it.
        parts: packed rows.
        judge: gives the rows of one finding; sent to the workers, so it must be a function of a module or bound to
            plain values.
        spec: table of the findings.
        few: fetches evidence if there is little of it.

    Returns:
        Rows of that table.
    """
    schema = struct_type(spec)
    nullable = T.StructType([T.StructField(field.name, field.dataType) for field in schema])
    evidence = reduce(DataFrame.unionByName, parts)
    here = few(evidence) if _are_few(found) else None
    if here is None:
        return evidence.groupBy(*FINDING).applyInArrow(_bound(judge, nullable), nullable)
    return held(evidence.sparkSession, _judge_here(here, judge, nullable), nullable)


def _are_few(found: DataFrame) -> bool:
    """Tell whether there are few findings; of many the evidence is not fetched, only to see that it is too much."""
    known = rows_held(found)
    return known is not None and known.group_by([*FINDING]).aggregate([]).num_rows <= MOST_JUDGED_HERE


def _judge_here(evidence: pa.Table, judge: Judge, schema: T.StructType) -> pa.Table:
    rows: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row, finding in enumerate(zip(*(evidence[name].to_pylist() for name in FINDING), strict=True)):
        rows[finding].append(row)
    told = [judge_one(evidence.take(pa.array(of_finding)), judge, schema) for of_finding in rows.values()]
    return pa.concat_tables([to_arrow_schema(schema).empty_table(), *told])


def _bound(judge: Judge, schema: T.StructType) -> Callable[[pa.Table], pa.Table]:
    def of_finding(table: pa.Table) -> pa.Table:
        return judge_one(table, judge, schema)

    return of_finding


def judge_one(table: pa.Table, judge: Judge, schema: T.StructType) -> pa.Table:
    """Judge one finding; a function of this module, so that workers import it and its decoders."""
    rows: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    frame: dict[str, Any] = {}
    for kind, text in zip(table["kind"].to_pylist(), table["row"].to_pylist(), strict=True):
        if kind == FRAME:
            frame = msgspec.json.decode(text)
        else:
            rows[kind].append(_DECODERS[kind].decode(text))
    cluster, group_id = (table[name][0].as_py() for name in GROUP)
    evidence = msgspec.structs.replace(Evidence(cluster=cluster, group_id=group_id), **rows)
    return as_table(judge(evidence, frame), schema)


def as_table(rows: Sequence[Any], schema: T.StructType) -> pa.Table:
    """Build the Arrow table of some rows; times come in milliseconds, and Arrow counts microseconds."""
    fields = to_arrow_schema(schema)
    columns = []
    for field in fields:
        values = [getattr(row, field.name) for row in rows]
        if pa.types.is_timestamp(field.type):
            moments = [None if value is None else round(value * 1000) for value in values]
            columns.append(pa.array(moments, pa.int64()).cast(field.type))
        else:
            columns.append(pa.array([msgspec.to_builtins(value) for value in values], field.type))
    return pa.Table.from_arrays(columns, schema=fields)
