"""The whole pipeline: once is enough, twice changes nothing, and what was lost comes back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.catalog import TABLES
from schemas.tables.gold import REPLAY_SNAPSHOTS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CAPTURE = "kafka-4.2.0"


def test_a_second_run_changes_no_table_and_says_so(
    spark: Any, copy: Path, capture_dir: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.support.lakes import fill, versions

    before = versions(spark, copy)
    fill(copy, capture_dir(CAPTURE))
    assert versions(spark, copy) == before
    assert "Nothing new was found" in capsys.readouterr().out


def test_every_table_exists_with_the_declared_columns(spark: Any, lake: Callable[[str], Path]) -> None:
    from schemas.spark import struct_type

    root = lake(CAPTURE)
    for spec in TABLES:
        table = spark.read.format("delta").load(str(root / spec.layer.value / spec.name))
        declared = [(field.name, field.dataType.simpleString()) for field in struct_type(spec)]
        assert [(field.name, field.dataType.simpleString()) for field in table.schema] == declared, spec.full_name


def test_what_comes_in_two_parts_ends_the_same(
    spark: Any, lake_rows: Any, capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    """First one partition and the logs, then the rest.

    Only the snapshots differ: there is one more of each run.
    """
    from jobs import detect_findings, ingest_logs, ingest_offsets, rebuild_timelines
    from tests.support.lakes import arguments, comparable, rows_of

    capture = capture_dir(CAPTURE)
    folders = sorted((capture / "consumer_offsets").iterdir())
    root, arrived = tmp_path / "lake", tmp_path / "arrived"
    given = [*arguments(root, capture), f"--offsets.path={arrived}"]
    for part, with_logs in ((folders[:1], True), (folders[1:], False)):
        for folder in part:
            shutil.copytree(folder, arrived / folder.name)
        assert ingest_offsets.main(given) == 0
        assert not with_logs or ingest_logs.main(given) == 0
        assert rebuild_timelines.main(given) == 0
    assert detect_findings.main(given) == 0
    rows = rows_of(root)
    for spec in TABLES:
        if spec.layer.value == "gold" and spec is not REPLAY_SNAPSHOTS:
            assert comparable(rows[spec.name]) == comparable(lake_rows(CAPTURE)[spec.name]), spec.full_name


def test_other_thresholds_give_other_findings(
    spark: Any, copy: Path, lake_rows: Any, capture_dir: Callable[[str], Path]
) -> None:
    from jobs import detect_findings
    from tests.support.lakes import arguments, comparable, rows_of

    expected = lake_rows(CAPTURE)
    assert expected["rebalance_storms"]
    code = detect_findings.main([*arguments(copy, capture_dir(CAPTURE)), "--storms.min_rebalances=1000"])
    assert code == 0
    rows = rows_of(copy)
    assert not rows["rebalance_storms"]
    bursts = "illegal_generation_bursts"
    assert comparable(rows[bursts]) == comparable(expected[bursts])


def test_the_summary_names_what_was_found(
    spark: Any, copy: Path, capture_dir: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.support.lakes import fill

    fill(copy, capture_dir(CAPTURE))
    told = capsys.readouterr().out
    storm = next(line for line in told.splitlines() if "checkout-storm" in line)
    assert "rebalances" in storm
    assert "main trigger" in storm
    assert "culprit" in storm
    assert any("fraud-zombie" in line and "ILLEGAL_GENERATION" in line for line in told.splitlines())
    assert "requests were answered as the replayed state machine predicts" in told


def test_a_table_with_a_key_twice_closes_the_gate(
    spark: Any, copy: Path, capture_dir: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    from jobs import check_quality
    from tests.support.lakes import arguments

    path = str(copy / "gold" / "generations")
    row = spark.read.format("delta").load(path).limit(1)
    row.write.format("delta").mode("append").save(path)
    row.selectExpr(*("'whim' AS trigger" if name == "trigger" else name for name in row.columns)).write.format(
        "delta"
    ).mode("append").save(path)
    assert check_quality.main(arguments(copy, capture_dir(CAPTURE))) == 3
    error = capsys.readouterr().err
    assert "gold.generations" in error
    assert "unique(cluster, group_id, life, generation) of gold.generations" in error
    assert "one_of(trigger) of gold.generations" in error
    assert "whim" in error


def test_a_group_is_described_as_of_a_moment(
    spark: Any, lake: Callable[[str], Path], lake_rows: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from jobs import describe_group

    row = next(
        row
        for row in lake_rows(CAPTURE)["generations"]
        if row["group_id"] == "billing-steady" and row["outcome"] == "stable" and row["member_count"] == 3
    )
    settings = ["--cluster=test", f"--lake.root={lake(CAPTURE)}"]
    assert describe_group.main([*settings, "--group=billing-steady", f"--at={row['stable_at'] + 10}"]) == 0
    told = capsys.readouterr().out
    assert "Stable" in told
    assert f"generation  {row['generation']} " in told
    assert "(leader)" in told
    assert describe_group.main([*settings, "--group=nobody"]) == 2
    assert describe_group.main([*settings, "--group=billing-steady", "--at=1"]) == 2


def test_maintenance_changes_no_row(spark: Any, copy: Path, capture_dir: Callable[[str], Path], lake_rows: Any) -> None:
    from jobs import maintain_tables
    from tests.support.lakes import arguments, comparable, fill, rows_of

    assert maintain_tables.main(arguments(copy, capture_dir(CAPTURE))) == 0
    fill(copy, capture_dir(CAPTURE))
    assert comparable(rows_of(copy)["generations"]) == comparable(lake_rows(CAPTURE)["generations"])
