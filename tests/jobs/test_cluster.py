"""A cluster gives the tables that one machine gives: processes of their own, the zip alone, another folder."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.package import ROOT, as_zip, build_wheel

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CAPTURE = "kafka-4.2.0"


def test_a_standalone_cluster_gives_the_tables_that_one_machine_gives(
    spark: Any, lake_rows: Callable[[str], Any], capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    from tests.support.lakes import comparable, rows_of

    of_one_machine = lake_rows(CAPTURE)
    submitted = submit(tmp_path, capture_dir(CAPTURE))
    assert submitted.returncode == 0, submitted.stderr[-3000:]
    used = {folder.parents[1].name for folder in tmp_path.glob("cluster/worker-*/app-*/*")}
    assert used == {"worker-0", "worker-1"}, "both workers ran executors"
    assert "Replay:" in submitted.stdout
    assert (tmp_path / "lake" / "report" / "index.html").is_file()
    of_the_cluster = rows_of(tmp_path / "lake")
    for name, rows in of_one_machine.items():
        assert comparable(of_the_cluster[name]) == comparable(rows), name


def submit(folder: Path, capture: Path) -> Any:
    """Submit the pipeline to a cluster of its own, from a folder that holds nothing of ours but the zip."""
    from jobs.session.packages import DELTA, SHIPPED_WITH_SPARK
    from tests.support.lakes import arguments
    from tests.support.standalone_cluster import HOME, cluster, environment

    archive = as_zip(build_wheel(folder / "package"))
    script = folder / "run_pipeline.py"
    script.write_text((ROOT / "jobs" / "run_pipeline.py").read_text(encoding="utf-8"), encoding="utf-8")
    with cluster(folder / "cluster") as master:
        command = [
            str(HOME / "bin" / "spark-submit"),
            f"--master={master}",
            f"--properties-file={ROOT / 'conf' / 'spark-defaults-demo.conf'}",
            f"--packages={DELTA}",
            f"--exclude-packages={','.join(SHIPPED_WITH_SPARK)}",
            "--conf=spark.driver.host=127.0.0.1",
            "--conf=spark.driver.bindAddress=127.0.0.1",
            "--conf=spark.ui.enabled=false",
            "--conf=spark.databricks.delta.snapshotPartitions=1",
            "--conf=spark.sql.shuffle.partitions=2",
            "--conf=spark.sql.sources.parallelPartitionDiscovery.parallelism=2",
            "--conf=spark.executor.memory=1g",
            "--conf=spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            f"--py-files={archive}",
            str(script),
            *arguments(folder / "lake", capture),
            "--publish",
        ]
        return subprocess.run(
            command, cwd=folder, env=environment(folder / "cluster"), capture_output=True, text=True, timeout=600
        )
