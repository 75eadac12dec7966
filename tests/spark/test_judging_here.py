"""Where findings are judged: few of them by the driver, which fetches their evidence, and many by Spark's workers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from schemas.tables.gold import REBALANCE_STORMS
from transforms.findings.evidence import Evidence
from transforms.given_rows import given
from transforms.gold.findings.kernel import FRAME, MOST_JUDGED_HERE, judged

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
