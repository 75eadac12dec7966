"""A JVM that ends before the job does ends it with a sentence; of one that lacks memory Spark would wait for ever."""

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
    {what}

sys.exit(execute(body, "Loses its JVM.", sys.argv[1:], step="ask"))
"""


@pytest.mark.parametrize(
    ("what", "code", "sentence"),
    [
        (
            "job.spark.sql(\"SELECT length(repeat('x', 2147483000)) AS much\").toArrow()",
            ExitCode.BAD_SETTINGS,
            "error: Spark's JVM ran out of memory: give it more with spark.driver.memory",
        ),
        (
            "job.spark._jvm.java.lang.Runtime.getRuntime().halt(137)",
            ExitCode.UNREACHABLE,
            "error: Spark's JVM was ended from outside (exit code 137)",
        ),
    ],
)
def test_a_job_that_loses_its_jvm_says_so(tmp_path: Path, what: str, code: int, sentence: str) -> None:
    properties = tmp_path / "spark.conf"
    properties.write_text("spark.driver.memory 1g\nspark.master local[1]\n")
    given = ["--cluster=c", f"--lake.root={tmp_path / 'lake'}", f"--spark.properties={properties}"]
    ended = subprocess.run(
        [sys.executable, "-c", _JOB.format(what=what), *given],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == code, ended.stderr[-3000:]
    assert ended.stderr.splitlines()[-1].startswith(sentence)
