"""What reads the lake beside Spark's own API: delta-rs, DuckDB, and SQL by the names of the tables."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.catalog import BY_NAME, TABLES
from schemas.table import TableSpec

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CAPTURE = "kafka-4.2.0"
READER_VERSION = 1
"""Of Delta's protocol: every reader there is knows it. A table feature, such as deletion vectors, would raise it."""


def test_delta_rs_and_duckdb_read_every_table(lake: Callable[[str], Path], lake_rows: Any) -> None:
    import duckdb
    from deltalake import DeltaTable

    root = lake(CAPTURE)
    for spec in TABLES:
        table = DeltaTable(root / spec.layer.value / spec.name)
        assert table.protocol().min_reader_version == READER_VERSION, spec.full_name
        assert not table.protocol().reader_features, spec.full_name
        rows = table.to_pyarrow_table()
        assert set(rows.column_names) == set(spec.columns)
        count = duckdb.sql("SELECT count(*) FROM rows").fetchall()[0][0]
        assert count == rows.num_rows == len(lake_rows(CAPTURE)[spec.name]), spec.full_name
        assert table.metadata().description == spec.grain


def test_whoever_seeks_a_moment_can_leave_out_what_has_others(lake: Callable[[str], Path]) -> None:
    """INT96, the kind of timestamp that Spark writes unless told otherwise, has no first and last value."""
    from deltalake import DeltaTable
    from pyarrow import parquet

    for spec in TABLES:
        for file in DeltaTable(lake(CAPTURE) / spec.layer.value / spec.name).file_uris():
            schema = parquet.ParquetFile(file).schema
            kinds = {schema.column(place).physical_type for place in range(len(schema))}
            assert "INT96" not in kinds, file


def test_duckdb_answers_what_the_readme_of_an_analyst_would_ask(lake: Callable[[str], Path], lake_rows: Any) -> None:
    import duckdb
    from deltalake import DeltaTable

    generations = DeltaTable(lake(CAPTURE) / "gold" / "generations").to_pyarrow_table()  # noqa: F841 (named in the SQL)
    asked = "SELECT group_id, count(*) FROM generations WHERE outcome = 'stable' GROUP BY 1"
    stable = [row["group_id"] for row in lake_rows(CAPTURE)["generations"] if row["outcome"] == "stable"]
    assert dict(duckdb.sql(asked).fetchall()) == {group: stable.count(group) for group in stable}


@pytest.fixture
def database(spark: Any) -> Any:
    yield "analytics"
    spark.sql("DROP DATABASE IF EXISTS analytics CASCADE")
    spark.sql("DROP DATABASE IF EXISTS others CASCADE")


@pytest.mark.long
def test_a_database_has_every_table_of_the_lake_with_its_comments(
    spark: Any, copy: Path, lake_rows: Any, capture_dir: Callable[[str], Path], database: str
) -> None:
    """The lake was filled without one: what is there already is registered too."""
    from jobs import detect_findings
    from tests.support.lakes import arguments

    assert detect_findings.main([*arguments(copy, capture_dir(CAPTURE)), f"--lake.database={database}"]) == 0
    for spec in TABLES:
        assert _described(spark, database, spec) == {name: spec.column(name).meaning for name in spec.columns}
        described = spark.sql(f"DESCRIBE EXTENDED {database}.{spec.name}").collect()
        details = {row["col_name"]: row["data_type"] for row in described}
        assert details["Comment"] == spec.grain
        assert spark.table(f"{database}.{spec.name}").count() == len(lake_rows(CAPTURE)[spec.name])


@pytest.mark.long
def test_a_name_that_another_lake_has_is_told(
    spark: Any,
    copy: Path,
    capture_dir: Callable[[str], Path],
    tmp_path: Path,
    database: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from jobs import detect_findings
    from tests.support.lakes import arguments

    other = Path(shutil.copytree(copy, tmp_path / "other"))
    capture = capture_dir(CAPTURE)
    assert detect_findings.main([*arguments(copy, capture), f"--lake.database={database}"]) == 0
    capsys.readouterr()
    assert detect_findings.main([*arguments(other, capture), f"--lake.database={database}"]) == 2
    error = capsys.readouterr().err
    assert f"is a table at {copy}" in error.replace("file:", "")
    assert "set lake.database to a database of its own" in error


@pytest.mark.long
def test_spark_sql_reads_what_a_run_registered_in_a_metastore(
    copy: Path, capture_dir: Callable[[str], Path], tmp_path: Path, lake_rows: Any
) -> None:
    """Two processes of their own that share nothing but the metastore."""
    import pyspark

    from tests.support.lakes import arguments
    from tests.support.spark_session import DEFAULTS, LOG4J2

    own = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": tmp_path / "warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={tmp_path}/metastore;create=true",
    }
    properties = tmp_path / "hive.conf"
    lines = [DEFAULTS.read_text(encoding="utf-8"), *(f"{key} {value}" for key, value in own.items())]
    properties.write_text("\n".join(lines), encoding="utf-8")
    given = [*arguments(copy, capture_dir(CAPTURE)), "--lake.database=analytics"]
    started = [f"--spark.properties={properties}", f"--spark.log4j2={LOG4J2}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    job = [sys.executable, "-m", "jobs", "detect-findings", *given, *started]
    done = subprocess.run(job, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]

    from jobs.session.packages import DELTA, SHIPPED_WITH_SPARK
    from jobs.session.spark_session import REQUIRED

    query = "SELECT group_id FROM analytics.rebalance_storms ORDER BY 1; DESCRIBE analytics.rebalance_storms pattern"
    asked = [
        str(Path(pyspark.__file__).parent / "bin" / "spark-sql"),
        f"--properties-file={properties}",
        f"--packages={DELTA}",
        f"--exclude-packages={','.join(SHIPPED_WITH_SPARK)}",
        *(f"--conf={key}={REQUIRED[key]}" for key in ("spark.sql.extensions", "spark.sql.catalog.spark_catalog")),
        "-e",
        query,
    ]
    answered = subprocess.run(asked, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert answered.returncode == 0, answered.stderr[-2000:]
    storms = sorted(row["group_id"] for row in lake_rows(CAPTURE)["rebalance_storms"])
    assert [line for line in answered.stdout.splitlines() if line in storms] == storms
    assert BY_NAME["rebalance_storms"].column("pattern").meaning in answered.stdout


def _described(spark: Any, database: str, spec: TableSpec) -> dict[str, str]:
    rows = spark.sql(f"DESCRIBE TABLE {database}.{spec.name}").collect()
    return {row["col_name"]: row["comment"] for row in rows if row["col_name"] in spec.columns and row["comment"]}
