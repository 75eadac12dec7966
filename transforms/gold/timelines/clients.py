"""Lays what clients said of themselves beside the timelines of their groups; `transforms.coordinator.rows.clients`.

A group is taken whole: a line may come long after what it tells of, and by a clock of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.codegen import NOT_EVIDENCE
from schemas.rows import ClientEventRow, GenerationMemberRow, GenerationRow, MemberSessionRow
from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import CLIENT_TIMELINE, GENERATION_MEMBERS, GENERATIONS, MEMBER_SESSIONS
from schemas.tables.silver import CLIENT_EVENTS
from transforms.coordinator.rows.clients import take_clients
from transforms.coordinator.rows.tables import Rows
from transforms.gold.packing import as_json
from transforms.gold.timelines.columns import Parts, columns_of
from transforms.gold.timelines.evidence import GROUP

TOLD: dict[TableSpec, tuple[str, ...]] = {
    GENERATIONS: ("trigger", "client_reason", "evidence"),
    MEMBER_SESSIONS: ("end_cause",),
}
"""Columns that clients have a word in."""

INPUTS = (CLIENT_EVENTS, GENERATIONS, GENERATION_MEMBERS, MEMBER_SESSIONS)

LAID = Parts(
    {CLIENT_TIMELINE.name: struct_type(CLIENT_TIMELINE)}
    | {spec.name: columns_of(spec, (*spec.key, *told)) for spec, told in TOLD.items()}
)
"""What comes of it: rows of the clients' timeline, and what is to be told anew in other tables, by their keys."""


def laid(tables: dict[TableSpec, DataFrame], groups: DataFrame) -> DataFrame:
    """Lay clients' lines beside what is known of their groups.

    Args:
        tables: the tables `INPUTS`.
        groups: cluster and group_id of those that it is to be done for.

    Returns:
        One struct column for each part of `LAID`, one of them filled in each row.
    """
    packed = []
    for spec in INPUTS:
        rows = tables[spec]
        names = [name for name in rows.columns if spec is not CLIENT_EVENTS or name not in NOT_EVIDENCE]
        packed.append(rows.select(*GROUP, F.lit(spec.name).alias("kind"), F.expr(as_json(spec, names)).alias("row")))
    of_groups = reduce(DataFrame.unionByName, packed).join(groups.select(*GROUP).distinct(), [*GROUP], "left_semi")
    return of_groups.groupBy(*GROUP).applyInArrow(lay_group, LAID.result_type)


def lay_group(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Do it for one group; a function of this module, so that workers import it and its decoders."""
    found: dict[str, list[Any]] = {name: [] for name in _DECODERS}
    cluster = ""
    for batch in batches:
        columns = [batch.column(batch.schema.get_field_index(name)).to_pylist() for name in ("cluster", "kind", "row")]
        cluster = columns[0][-1]
        for kind, row in zip(*columns[1:], strict=True):
            found[kind].append(_DECODERS[kind].decode(row))
    rows = Rows(
        generations=found[GENERATIONS.name],
        generation_members=found[GENERATION_MEMBERS.name],
        member_sessions=found[MEMBER_SESSIONS.name],
    )
    refined = take_clients(rows, cluster, found[CLIENT_EVENTS.name])
    told: dict[str, Sequence[Any]] = {
        CLIENT_TIMELINE.name: rows.client_timeline,
        GENERATIONS.name: refined.generations,
        MEMBER_SESSIONS.name: refined.member_sessions,
    }
    yield from LAID.wide(LAID.batches(told))


_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    CLIENT_EVENTS.name: msgspec.json.Decoder(ClientEventRow),
    GENERATIONS.name: msgspec.json.Decoder(GenerationRow),
    GENERATION_MEMBERS.name: msgspec.json.Decoder(GenerationMemberRow),
    MEMBER_SESSIONS.name: msgspec.json.Decoder(MemberSessionRow),
}
