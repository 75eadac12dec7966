"""A JVM that runs out of memory ends the job with a sentence: Spark would wait for the thread that was lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.frame.exit_codes import ExitCode
from tests.support.package import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_JOB = """
import sys
from jobs.frame.job import execute

def body(job):
    job.spark.sql("SELECT length(repeat('x', 2147483000)) AS much").toArrow()

sys.exit(execute(body, "Asks for more than there is.", sys.argv[1:], step="ask"))
"""


def test_a_jvm_without_memory_ends_the_job(tmp_path: Path) -> None:
    properties = tmp_path / "spark.conf"
    properties.write_text("spark.driver.memory 1g\nspark.master local[1]\n")
    given = ["--cluster=c", f"--lake.root={tmp_path / 'lake'}", f"--spark.properties={properties}"]
    ended = subprocess.run(
        [sys.executable, "-c", _JOB, *given],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == ExitCode.UNREACHABLE, ended.stderr[-3000:]
    said = ended.stderr.splitlines()[-1]
    assert said.startswith("error: Spark's JVM ended with code 3 before the job did")
    assert "spark.driver.memory" in said
