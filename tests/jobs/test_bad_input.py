"""Bad input ends in one clear sentence and the right exit code."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from jobs import check_quality, describe_group, ingest_offsets, run_pipeline, what_if
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
        (["--cluster=c", "--lake.root=x", "--findings.prometheus=/no/such/f.prom"], "/no/such does not exist"),
        (["--cluster=c", "--lake.root=x", "--findings.prometheus=f.txt"], "must end in .prom"),
        (["--cluster=c", "--lake.root=x", "--findings.json_lines=."], "is a folder"),
        (["--cluster=c", "--lake.root=x", "--findings.json_lines=s3a://b/f"], "on a disk of the machine"),
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


def test_a_run_that_cannot_begin_is_noted_in_the_metrics_beside_the_last_one_that_was_done(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "rebalance.prom"
    done = 'rebalance_last_success_timestamp_seconds{cluster="c"} 7\n'
    file.write_text(f"# HELP rebalance_last_success_timestamp_seconds When\n{done}", encoding="utf-8")
    arguments = ["--cluster=c", f"--lake.root={tmp_path}", f"--findings.prometheus={file}", "--logs.path=/no/such"]
    assert run_pipeline.main(arguments) == ExitCode.BAD_SETTINGS
    assert "/no/such" in sentence(capsys)
    told = file.read_text(encoding="utf-8")
    assert 'rebalance_last_run_exit_code{cluster="c"} 2\n' in told
    assert done in told
    assert [path.name for path in tmp_path.iterdir()] == ["rebalance.prom"]


def test_bad_arguments_of_a_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert describe_group.main(["--cluster=c", "--lake.root=x"]) == ExitCode.BAD_SETTINGS
    assert "--group" in sentence(capsys)
    assert describe_group.main(["--cluster=c", "--lake.root=x", "--group=g", "--at=noon"]) == ExitCode.BAD_SETTINGS
    assert "noon" in sentence(capsys)
    for job in (describe_group, what_if):
        assert job.main(["--cluster=c", "--lake.root=x", "--group=\udcff"]) == ExitCode.BAD_SETTINGS
        assert "is not UTF-8" in sentence(capsys)


@pytest.mark.parametrize("moment", ["99999999999999999999", "9999999999999999", "²", "0001-01-01T00:00:00+14:00"])
def test_a_moment_that_is_none_is_told_as_such(moment: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert describe_group.main(["--cluster=c", "--lake.root=x", "--group=g", f"--at={moment}"]) == 2
    assert f"{moment} is no time such as" in sentence(capsys)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to ask about: give --static or --set"),
        (["--static", "--set=group.protocol=consumer"], "is asked about alone"),
        (["--set=session.timeout.ms=1", "--set=session.timeout.ms=2"], "is set twice"),
        (["--static", "--from=2026-11-21", "--to=2026-11-20"], "--from must lie before --to"),
    ],
)
def test_a_what_if_that_cannot_be_asked_ends_before_spark_starts(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert what_if.main(["--cluster=c", "--lake.root=/no/such", "--group=g", *arguments]) == ExitCode.BAD_SETTINGS
    assert message in sentence(capsys)


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


def test_an_object_store_without_its_classes(spark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code = check_quality.main(["--cluster=c", "--lake.root=s3a://bucket/lake"])
    assert code == ExitCode.BAD_SETTINGS
    assert "name the package of the object store in spark.jars.packages" in sentence(capsys)


def test_a_console_that_cannot_show_everything_ends_no_run(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="ascii", write_through=True))
    assert check_quality.main(["--cluster=größe", f"--lake.root={tmp_path / 'lake'}"]) == ExitCode.DONE
    assert b"? check_quality" in shown.getvalue()
