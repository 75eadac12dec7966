"""What `pip install` of the wheel gives: one command, which refuses to run with others' packages of the same names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs.frame.commands import commands, main, summary
from jobs.frame.neighbours import PACKAGES
from tests.support.package import ROOT, build_wheel

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_each_job_is_a_command_that_says_what_it_does() -> None:
    known = commands()
    assert known["run"] == "jobs.run_pipeline"
    assert known["describe-group"] == "jobs.describe_group"
    assert {module.removeprefix("jobs.") for module in known.values()} == {
        path.stem for path in (ROOT / "jobs").glob("*.py") if not path.name.startswith("__")
    }
    assert all(summary(module).endswith((".", ":")) for module in known.values())


def test_without_a_command_all_of_them_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    capsys.readouterr()
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in commands())


def test_a_command_that_is_none_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe_grup"]) == 2
    assert "did you mean describe-group?" in capsys.readouterr().err


def test_a_command_has_the_arguments_and_exit_codes_of_its_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--cluster=c", "--lake.root=x"]) == 2
    assert "there is no source" in capsys.readouterr().err


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheel is installed, its dependencies aside."""
    folder = tmp_path_factory.mktemp("site")
    wheel = build_wheel(tmp_path_factory.mktemp("wheel"))
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(folder), str(wheel)]
    subprocess.run([sys.executable, *install], check=True, capture_output=True)
    return folder


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    """Run the installed command in a folder of its own, with further folders before it on Python's path."""

    def installed(*arguments: str, before: tuple[Path, ...] = (), place: Path = site) -> Any:
        path = os.pathsep.join(map(str, (*before, place)))
        command = [sys.executable, str(place / "bin" / "rebalance-analytics"), *arguments]
        environment = os.environ | {"PYTHONPATH": path}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)

    return installed


@pytest.mark.slow
def test_the_installed_command_runs_from_anywhere(run: Run) -> None:
    assert run("--version").stdout.startswith("rebalance-analytics 0.")
    done = run("run", "--cluster=c", "--lake.root=x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no source" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_of_somebody_else_that_comes_first_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    foreign = tmp_path / "foreign"
    (foreign / name).mkdir(parents=True)
    (foreign / name / "__init__.py").write_text("theirs = True\n")
    done = run("run", "--cluster=c", "--lake.root=x", before=(foreign,))
    assert done.returncode == 2
    assert f"the package {name} in {foreign / name} is not that of Rebalance Analytics" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "said"),
    [("transforms/geometry.py", "belongs to another package"), ("schemas/__init__.py", "was written over by another")],
)
def test_a_package_of_somebody_else_in_the_same_folder_is_refused(
    run: Run, site: Path, tmp_path: Path, file: str, said: str
) -> None:
    shared = Path(shutil.copytree(site, tmp_path / "shared"))
    (shared / file).write_text("theirs = True\n")
    done = run("run", "--cluster=c", "--lake.root=x", place=shared)
    assert done.returncode == 2
    assert file in done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
