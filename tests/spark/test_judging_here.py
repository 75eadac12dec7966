"""Where findings are judged: few of them by the driver, which fetches their evidence, and many by Spark's workers."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from schemas.rows import AssignmentRow, CoordinatorRow
from schemas.spark import struct_type
from schemas.tables.gold import ASSIGNMENTS, COORDINATORS, REBALANCE_STORMS
from transforms.findings.evidence import Evidence
from transforms.given_rows import given
from transforms.gold.findings.kernel import FRAME, MOST_JUDGED_HERE, by_workers, judged, packed

pytestmark = pytest.mark.spark


def _nothing(evidence: Evidence, frame: dict[str, Any]) -> list[Any]:
    return []


@pytest.mark.parametrize("is_held", [True, False])
@pytest.mark.parametrize("more", [0, 1])
def test_evidence_is_fetched_of_few_findings_alone(spark: SparkSession, more: int, is_held: bool) -> None:
    """Of many it would be found to be too much when most of it has been gathered."""
    findings = [{"cluster": "c", "group_id": f"g{number // 2}", "finding": number % 2} for number in range(100 + more)]
    assert len(findings) == MOST_JUDGED_HERE + more
    found = given(spark, "cluster STRING, group_id STRING, finding INT", [*findings, *findings[:3]])
    evidence = given(
        spark,
        "cluster STRING, group_id STRING, finding INT, kind STRING, row STRING",
        ({**each, "kind": FRAME, "row": "{}"} for each in findings),
    )
    asked = list[DataFrame]()

    def few(rows: DataFrame) -> pa.Table:
        asked.append(rows)
        return rows.toArrow()

    rows = judged(found if is_held else found.where("true"), [evidence], _nothing, REBALANCE_STORMS, few)
    assert rows.columns == list(REBALANCE_STORMS.columns)
    assert len(asked) == (is_held and not more)


def _coordinators(evidence: Evidence, frame: dict[str, Any]) -> list[CoordinatorRow]:
    """A row for each coordinator that the finding was given, whose epoch is the finding's own number."""
    return [msgspec.structs.replace(row, epoch=frame["number"]) for row in evidence.coordinators]


@pytest.mark.parametrize("is_here", [True, False])
def test_each_finding_is_judged_by_its_own_evidence(spark: SparkSession, is_here: bool) -> None:
    """Also where they are of one group, and where one has so many rows that they come in several batches."""
    rows, expected = list[dict[str, Any]](), list[tuple[str, int, int, int]]()
    for group, finding in product(range(20), range(3)):
        key = {"cluster": "c", "group_id": f"g{group}", "finding": finding}
        number = 3 * group + finding
        rows.append({**key, "kind": FRAME, "row": json.dumps({"number": number})})
        for partition in range(25_000 if number == 31 else finding):
            told = {"cluster": "c", "group_id": f"g{group}", "computed_partition": partition, "from_at": 1000.5}
            rows.append({**key, "kind": COORDINATORS.name, "row": json.dumps(told)})
            expected.append((f"g{group}", partition, number, 1_000_500))
    found = given(spark, "cluster STRING, group_id STRING, finding INT", [])
    evidence = given(spark, "cluster STRING, group_id STRING, finding INT, kind STRING, row STRING", rows[::-1])
    few = DataFrame.toArrow if is_here else by_workers
    told = judged(found, [evidence], _coordinators, COORDINATORS, few)
    columns = ("group_id", "computed_partition", "epoch", "unix_micros(from_at)")
    assert sorted(map(tuple, told.selectExpr(*columns).collect())) == sorted(expected)


def _assignments(evidence: Evidence, frame: dict[str, Any]) -> list[AssignmentRow]:
    return evidence.assignments


@pytest.mark.parametrize("is_here", [True, False])
def test_rows_are_read_as_they_were_packed(spark: SparkSession, is_here: bool) -> None:
    """Also where they say what most rows say, or nothing."""
    whose = {
        "cluster": "c",
        "group_id": "g",
        "life": 1,
        "generation": 2,
        "member_id": 'a "b"\n',
        "topic": "t\u00e9",
        "is_settled": False,
    }
    asked = ("hold", "group_type", "client_id", "role")
    values = [("owned", "classic", None, None), ("pending", "consumer", "x", ""), ("owned", "share", "", "owned")]
    rows = [whose | {"partition": place} | dict(zip(asked, each, strict=True)) for place, each in enumerate(values)]
    table = given(spark, struct_type(ASSIGNMENTS), rows)
    evidence = packed(table.selectExpr("*", "1 AS finding"), ASSIGNMENTS.name)
    found = given(spark, "cluster STRING, group_id STRING, finding INT", [])
    told = judged(found, [evidence], _assignments, ASSIGNMENTS, DataFrame.toArrow if is_here else by_workers)
    columns = (*whose, "partition", *asked)
    assert sorted(map(tuple, told.select(*columns).collect())) == sorted(map(tuple, table.select(*columns).collect()))
