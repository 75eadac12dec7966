"""Bad input ends in one clear sentence and the right exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs import describe_group, ingest_offsets, run_pipeline
from jobs.frame.exit_codes import ExitCode, exit_code_of, guarded
from transforms.errors import DecodeError, LakeError, QualityError, SettingsError, SourceError


def sentence(capsys: pytest.CaptureFixture[str]) -> str:
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingsError("x"), 2),
        (QualityError("x"), 3),
        (SourceError("x"), 4),
        (LakeError("x"), 4),
        (DecodeError("x"), 1),
        (ValueError("x"), 1),
    ],
)
def test_each_kind_of_error_has_its_code(error: Exception, code: int) -> None:
    assert exit_code_of(error) == code


def test_user_errors_are_one_line_and_bugs_keep_their_traceback(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def fails(error: Exception) -> Any:
        raise error

    assert guarded(lambda: fails(SourceError("two\nlines"))) == ExitCode.UNREACHABLE
    assert sentence(capsys) == "error: two lines"
    assert guarded(lambda: fails(ZeroDivisionError("oops"))) == ExitCode.BUG
    assert "ZeroDivisionError: oops" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--settings", "nowhere.toml"], "nowhere.toml"),
        (["--cluster=c", "--lake.root=x", "--lake.rott=y"], "lake.rott"),
        (["--cluster=c", "--lake.root=x", "--storms.window_ms=soon"], "storms.window_ms"),
        (["--cluster=c", "--lake.root=x", "--offsets.kind=segments", "--offsets.path=/no/such"], "/no/such"),
        (["--cluster=c", "--lake.root=x", "--logs.path=/no/such"], "/no/such"),
        (["--lake.root=x"], "cluster is missing"),
        (["--cluster=c", "--lake.root=x"], "there is no source: set offsets.kind"),
    ],
)
def test_bad_settings_end_before_spark_starts(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_pipeline.main(arguments) == ExitCode.BAD_SETTINGS
    assert message in sentence(capsys)
    assert not list(tmp_path.iterdir()), "nothing was written"


def test_bad_arguments_of_a_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert describe_group.main(["--cluster=c", "--lake.root=x"]) == ExitCode.BAD_SETTINGS
    assert "--group" in sentence(capsys)
    assert describe_group.main(["--cluster=c", "--lake.root=x", "--group=g", "--at=noon"]) == ExitCode.BAD_SETTINGS
    assert "noon" in sentence(capsys)


@pytest.mark.spark
def test_an_empty_folder_is_no_source(spark: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    arguments = ["--cluster=c", f"--lake.root={tmp_path / 'lake'}", "--offsets.kind=segments"]
    assert ingest_offsets.main([*arguments, f"--offsets.path={tmp_path / 'empty'}"]) == ExitCode.UNREACHABLE
    assert str(tmp_path / "empty") in sentence(capsys)


@pytest.mark.spark
def test_a_lake_that_cannot_be_written(spark: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    arguments = ["--cluster=c", f"--lake.root={tmp_path / 'file'}", f"--logs.path={tmp_path}"]
    assert run_pipeline.main(arguments) == ExitCode.UNREACHABLE
    assert "lake" in sentence(capsys)
