"""From tables to findings: the rows around each finding as one piece of evidence, judged by a pure function.

Grain of what is packed: one row of one table, given to one finding of one (cluster, group_id):

    cluster STRING, group_id STRING, finding INT, kind STRING, row STRING

`row` is the row as JSON, times as epoch ms; `kind` names a list of
`transforms.findings.evidence.Evidence`, or is FRAME: what is known of the finding itself. A finding's rows of one kind
are read at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, GroupedData
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.silver import GROUP_REQUESTS
from transforms.arrow_columns import arrow_column
from transforms.findings.evidence import KINDS, Evidence, Request
from transforms.given_rows import given, held, rows_held
from transforms.sql import quoted

GROUP = ("cluster", "group_id")
FINDING = (*GROUP, "finding")

FRAME = "frame"

REQUEST = tuple(name for name in Request.__struct_fields__ if name in GROUP_REQUESTS.columns)
"""Columns that findings ask of a request."""

ASKED = tuple(dict.fromkeys((*GROUP, *REQUEST)))
"""And those that say of which group it is: a request has four times as many, and DuckDB would read all of each."""

AT_END = ("end_cause", "last_generation")
"""Columns of a stay that are not known before its end."""

_BUCKETS = 256
"""Findings are judged in so many calls, so that no task waits for one that has most of them."""

_ROWS_AT_ONCE = 1_000
"""Rows of findings are handed on when there are so many."""

MOST_JUDGED_HERE = 100
"""Findings that are judged in this process: to judge one takes some 5 ms, to start another process some seconds."""

_DECODERS = {kind: msgspec.json.Decoder(row, strict=False) for kind, row in KINDS.items()} | {
    FRAME: msgspec.json.Decoder(dict[str, Any])
}

RUN = (*FINDING, "kind")
"""What rows that are read at once have in common."""

_ONLY_FOR_TABLES = frozenset({"is_settled", "settled_at"})
"""Columns of gold that nobody asks for a finding."""

_USUAL = {
    kind: {field.name: field.default for field in msgspec.structs.fields(row) if isinstance(field.default, str | int)}
    for kind, row in KINDS.items()
}
"""What rows have in a column where nothing is said."""

_Finding = tuple[str, str, int]

Hold = Callable[[DataFrame], DataFrame | None]
"""Keeps what findings are made of, which is read many times; None = there is none, so that there are no findings."""

Few = Callable[[DataFrame], pa.Table | None]
"""Fetches evidence that is judged in this process, which saves the start of another; None = there is too much of it."""

Judge = Callable[[Evidence, dict[str, Any]], list[Any]]
"""Evidence, and what is known of the finding, to rows of the table of findings."""


def packed(rows: DataFrame, kind: str) -> DataFrame:
    """Pack rows that have `cluster`, `group_id` and `finding`; of their columns, those that the kind has."""
    return rows.selectExpr(*packing(rows.schema, kind))


def packing(fields: Iterable[T.StructField], kind: str) -> tuple[str, ...]:
    """Return the columns of rows that are packed, in SQL as Spark and DuckDB both have it."""
    asked = ", ".join(_field(field, kind) for field in fields if _is_asked(field.name, kind))
    return (*FINDING, f"'{kind}' AS kind", f"to_json(struct({asked})) AS row")


def _is_asked(name: str, kind: str) -> bool:
    if kind == FRAME:
        return name not in FINDING
    return name in KINDS[kind].__struct_fields__ and name not in _ONLY_FOR_TABLES


def _field(field: T.StructField, kind: str) -> str:
    """Return how a column is packed; where it has nothing, Spark says nothing, and DuckDB null."""
    name = quoted(field.name)
    if isinstance(field.dataType, T.TimestampType):
        return f"unix_micros({name}) / 1000.0D AS {name}"
    usual = _USUAL.get(kind, {}).get(field.name)
    return name if usual is None else f"coalesce({name}, {usual!r}) AS {name}"


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
    near = rows.join(spans.select(*FINDING, "since_us", "until_us"), list(GROUP)).where(is_near(begin, end))
    # Each frame is analysed as a whole, and a column takes several calls to the JVM: all are made at once, as text.
    names = (name for name in near.columns if name not in ("since_us", "until_us"))
    return near.selectExpr(*as_known(names, begin, end, told_at_end))


def is_near(begin: str, end: str) -> str:
    """Return the condition of rows beside a finding that they lie in its time, or reach into it (`around`)."""
    return f"coalesce(unix_micros({begin}) <= until_us, true) AND coalesce(unix_micros({end}) >= since_us, true)"


def as_known(names: Iterable[str], begin: str, end: str, told_at_end: Sequence[str]) -> Iterator[str]:
    """Yield columns of rows beside a finding, in SQL, as they are known in its time (`around`)."""
    ends = {name for name in (end, *told_at_end) if name != begin}
    is_known = f"NOT coalesce(unix_micros({end}) > until_us, false)"
    for name in names:
        own = quoted(name)
        yield f"CASE WHEN {is_known} THEN {own} END AS {own}" if name in ends else own


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
        return _by_buckets(evidence).applyInArrow(_bound(judge, nullable), nullable)
    return held(evidence.sparkSession, _judged_here(here, judge, nullable), nullable)


def _are_few(found: DataFrame) -> bool:
    """Tell whether there are few findings; of many the evidence is not fetched, only to see that it is too much."""
    known = rows_held(found)
    return known is not None and known.group_by([*FINDING]).aggregate([]).num_rows <= MOST_JUDGED_HERE


def _by_buckets(evidence: DataFrame) -> GroupedData:
    """Give each call a bucket of findings, one after the other: a call for each would take as long as judging it."""
    bucket = F.pmod(F.hash(*FINDING), F.lit(_BUCKETS)).alias("bucket")
    ordered = evidence.select("*", bucket).repartition("bucket").sortWithinPartitions("bucket", *RUN)
    return ordered.groupBy("bucket")


def _judged_here(evidence: pa.Table, judge: Judge, schema: T.StructType) -> pa.Table:
    ordered = evidence.sort_by([(name, "ascending") for name in RUN])
    return pa.Table.from_batches(judged_findings(iter(ordered.to_batches()), judge, schema), to_arrow_schema(schema))


def _bound(judge: Judge, schema: T.StructType) -> Callable[..., Any]:
    def of_bucket(evidence: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return judged_findings(evidence, judge, schema)

    return of_bucket


def judged_findings(evidence: Iterator[pa.RecordBatch], judge: Judge, schema: T.StructType) -> Iterator[pa.RecordBatch]:
    """Judge findings whose rows stand together; a function of this module, so that workers import its decoders."""
    told: list[Any] = []
    for finding, lists in groupby(_lists_of(evidence), key=itemgetter(0)):
        told += _judged_one(finding, lists, judge)
        if len(told) >= _ROWS_AT_ONCE:
            yield as_batch(told, schema)
            told = []
    yield as_batch(told, schema)


def _lists_of(evidence: Iterator[pa.RecordBatch]) -> Iterator[tuple[_Finding, str, list[Any]]]:
    """Read what stands together of one kind of one finding; what goes on in the next batch comes in two lists."""
    for batch in evidence:
        begins = _begins_of_runs(batch)
        ends = pa.array([*begins, batch.num_rows], pa.int32())
        runs = pa.ListArray.from_arrays(ends, batch.column("row").cast(pa.binary()))
        names = (batch.column(name).take(begins).to_pylist() for name in RUN)
        for *finding, kind, text in zip(*names, pc.binary_join(runs, b"\n").to_pylist(), strict=True):
            yield tuple(finding), kind, _DECODERS[kind].decode_lines(text)


def _begins_of_runs(batch: pa.RecordBatch) -> list[int]:
    """Return where in a batch something else begins."""
    if not batch.num_rows:
        return []
    columns = [batch.column(name) for name in RUN]
    others = reduce(pc.or_, (pc.not_equal(column[1:], column[:-1]) for column in columns))
    return [0, *(place + 1 for place in pc.indices_nonzero(others).to_pylist())]


def _judged_one(finding: _Finding, lists: Iterable[tuple[_Finding, str, list[Any]]], judge: Judge) -> list[Any]:
    rows: dict[str, list[Any]] = {kind: [] for kind in (FRAME, *KINDS)}
    for _, kind, of_kind in lists:
        rows[kind] += of_kind
    frame = rows.pop(FRAME)[-1:]
    cluster, group_id, _ = finding
    evidence = msgspec.structs.replace(Evidence(cluster=cluster, group_id=group_id), **rows)
    return judge(evidence, frame[0] if frame else {})


def as_batch(rows: Sequence[Any], schema: T.StructType) -> pa.RecordBatch:
    """Build the Arrow batch of some rows; moments come as epoch ms."""
    fields = to_arrow_schema(schema)
    columns = (
        arrow_column([msgspec.to_builtins(getattr(row, field.name)) for row in rows], field.type) for field in fields
    )
    return pa.RecordBatch.from_arrays([*columns], schema=fields)
