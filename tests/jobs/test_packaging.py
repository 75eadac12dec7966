"""What would only show on a cluster: hidden packages, versions that drift apart, a zip that lacks a module."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.package import as_zip, build_wheel

ROOT = Path(__file__).resolve().parents[2]


def test_no_job_hides_an_installed_package() -> None:
    """The folder of a submitted script comes first on the path: jobs/delta.py would be imported as `delta`."""
    installed = set(importlib.metadata.packages_distributions()) | set(sys.stdlib_module_names)
    ours = {path.stem for path in (ROOT / "jobs").iterdir() if not path.name.startswith("__")}
    assert not ours & installed


def test_the_cluster_takes_the_delta_that_is_pinned() -> None:
    from jobs.session.local_start import read_properties
    from jobs.session.packages import DELTA
    from jobs.session.spark_session import REQUIRED

    submitted = read_properties(str(ROOT / "conf" / "spark-defaults-cluster.conf"))
    assert submitted["spark.jars.packages"] == str(DELTA)
    assert submitted.items() >= {key: value for key, value in REQUIRED.items() if "sql" in key}.items() - {
        ("spark.sql.execution.pythonUDF.arrow.enabled", "true")
    }


def test_the_lock_is_of_the_declared_dependencies() -> None:
    if sys.version_info < (3, 11):
        import tomli as tomllib
    else:
        import tomllib
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = (ROOT / "requirements.lock").read_text()
    pinned: dict[str, list[str]] = {}
    for line in lock.splitlines():
        if "==" in line and not line.startswith((" ", "#")):
            name, _, rest = line.partition("==")
            pinned.setdefault(name, []).append(rest.split()[0])
    for text in (*project["dependencies"], *project["optional-dependencies"]["dev"]):
        wanted = Requirement(text)
        versions = pinned.get(wanted.name.lower().replace("_", "-"), [])
        assert versions, f"{wanted.name} is not in the lock"
        assert all(wanted.specifier.contains(version) for version in versions), text
    assert "://" not in lock


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip for --py-files."""
    return as_zip(build_wheel(tmp_path_factory.mktemp("package")))


@pytest.mark.slow
def test_the_zip_holds_all_modules_and_nothing_else(archive: Path) -> None:
    names = zipfile.ZipFile(archive).namelist()
    packed = {name for name in names if name.endswith(".py")}
    modules = {
        str(path.relative_to(ROOT)).removeprefix("jobs/launcher/")
        for package in ("jobs", "transforms", "schemas")
        for path in (ROOT / package).rglob("*.py")
    }
    assert packed == modules
    folders = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert folders == {"jobs", "transforms", "schemas", "rebalance_analytics"}


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    """What is released can be built again by others, whenever, wherever and by whomever their copy was made."""
    usual = os.umask(0o077)
    try:
        again = build_wheel(tmp_path / "elsewhere" / "again", copied_at=1_000_000_000)
    finally:
        os.umask(usual)
    assert again.read_bytes() == archive.read_bytes()


@pytest.mark.slow
def test_the_report_finds_its_files_in_the_zip(archive: Path, tmp_path: Path) -> None:
    script = "from jobs.report.pages import assets, layout; print(len(assets()), layout())"
    from jobs.report.pages import assets, layout

    environment = os.environ | {"PYTHONPATH": str(archive)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(len(assets())), layout()]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_spark_submit_of_the_zip_from_another_folder(archive: Path, capture_dir: Any, tmp_path: Path) -> None:
    """Neither the repository nor its folder is on the path: driver and executors have the zip alone."""
    import pyspark

    from jobs.session.packages import DELTA, SHIPPED_WITH_SPARK
    from tests.support.lakes import arguments

    script = tmp_path / "run_pipeline.py"
    script.write_text((ROOT / "jobs" / "run_pipeline.py").read_text())
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "SPARK_"))}
    environment |= {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(Path(pyspark.__file__).parent)}
    command = [
        str(Path(pyspark.__file__).parent / "bin" / "spark-submit"),
        "--master=local[2]",
        f"--properties-file={ROOT / 'conf' / 'spark-defaults-laptop.conf'}",
        f"--packages={DELTA}",
        f"--exclude-packages={','.join(SHIPPED_WITH_SPARK)}",
        f"--py-files={archive}",
        str(script),
        *arguments(tmp_path / "lake", capture_dir("chaos-4.2.0")),
        "--publish",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Replay:" in done.stdout
    assert (tmp_path / "lake" / "gold" / "generations" / "_delta_log").is_dir()
    assert (tmp_path / "lake" / "report" / "index.html").is_file()
