"""Our own log lines, as JSON where the settings want that: for a collector, not for people."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs import describe_group, ingest_logs
from jobs.frame import log_lines
from jobs.frame.exit_codes import guarded
from jobs.frame.log_lines import JsonReport
from schemas.tables.bronze import LOG_LINES
from transforms.errors import SourceError


@pytest.fixture(autouse=True)
def _text_again() -> Iterator[None]:
    yield
    log_lines.quiet()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_step_tells_when_it_begins_and_what_it_wrote(capsys: pytest.CaptureFixture[str]) -> None:
    log_lines.as_json("prod")
    report = JsonReport()
    with report.step("ingest_logs"):
        report.wrote(LOG_LINES, 12)
        report.note("files were rotated")
        report.say("for people")
        report.warn("broker-2 is silent")
    shown = capsys.readouterr()
    begun, warned, done = map(json.loads, shown.err.splitlines())
    assert shown.out == "for people\n"
    assert (begun["message"], begun["step"], begun["cluster"], begun["level"]) == (
        "step begins", "ingest_logs", "prod", "INFO",
    )  # fmt: skip
    assert begun["at"].endswith("Z")
    assert (warned["level"], warned["message"]) == ("WARNING", "broker-2 is silent")
    assert done["written"] == {"bronze.log_lines": 12}
    assert "files were rotated" in done["notes"]
    assert 0 <= done["seconds"] < 5


def test_an_error_is_a_line_with_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    log_lines.as_json("prod")
    report = JsonReport()

    def body() -> int:
        with report.step("ingest_offsets"):
            raise SourceError("no broker\nanswers")

    assert guarded(body) == 4
    _, failed, error = lines(capsys)
    assert (failed["message"], failed["step"]) == ("step failed", "ingest_offsets")
    assert (error["message"], error["exit_code"], error["level"]) == ("no broker answers", 4, "ERROR")


def test_a_bug_keeps_its_traceback_and_others_talk_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    log_lines.as_json("prod")
    logging.getLogger("great_expectations").setLevel(logging.INFO)
    logging.getLogger("great_expectations").info("validating")
    assert guarded(lambda: 1 // 0) == 1
    (bug,) = lines(capsys)
    assert "ZeroDivisionError" in bug["exception"]
    assert "\n" in bug["exception"], "and is still one line of JSON"


@pytest.mark.spark
def test_a_job_logs_as_its_settings_say(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], capture_dir: Callable[[str], Path]
) -> None:
    (tmp_path / "logs").mkdir()
    given = ["--cluster=c", f"--lake.root={tmp_path / 'lake'}", f"--logs.path={tmp_path / 'logs'}"]
    code = ingest_logs.main([*given, "--logging.format=json"])
    told = lines(capsys)
    assert code == told[-1].get("exit_code", 0)
    assert {"start Spark", "ingest_logs"} <= {line.get("step") for line in told}
    assert describe_group.main([*given, "--group=nobody"]) == 2
    assert capsys.readouterr().err.startswith("error: "), "text again, as it is not asked for"
