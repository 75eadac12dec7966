"""The wheel, and the same bytes under the name of a zip: executors take .zip, .egg and .jar from --py-files alone.

    python -m tests.support.package FOLDER

builds both. They are built from a copy, so that the tree stays as it is, and so that the same sources give the same
bytes whenever, wherever and by whomever they were checked out: the times in them are those of the commit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("jobs", "transforms", "schemas")
_FILES = ("pyproject.toml", "README.md", "LICENSE")
_EARLIEST = "315532800"
"""The first moment that a zip can hold, for a copy without a history."""


def build_wheel(copy: Path, copied_at: float | None = None) -> Path:
    """Copy the sources into a folder of one's own, build there, and return the wheel.

    Args:
        copy: the folder.
        copied_at: time that the files of the copy bear; None = those of the sources.
    """
    for name in _PACKAGES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy(ROOT / name, copy / name)
    for path in copy.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
        if copied_at is not None:
            os.utime(path, (copied_at, copied_at))
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", "."]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment.setdefault("SOURCE_DATE_EPOCH", _committed_at())
    done = subprocess.run(build, cwd=copy, check=False, capture_output=True, text=True, env=environment, umask=0o022)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    (wheel,) = (copy / "dist").glob("*.whl")
    return wheel


def as_zip(wheel: Path) -> Path:
    """Return the wheel under the name that executors take from --py-files."""
    return Path(shutil.copy(wheel, wheel.with_name(wheel.name.replace("-py3-none-any.whl", ".zip"))))


def _committed_at() -> str:
    """Return the time of the commit that is checked out, in seconds since 1970."""
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() or _EARLIEST
    except (OSError, subprocess.CalledProcessError):
        return _EARLIEST


if __name__ == "__main__":
    into = Path(sys.argv[1])
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        sys.stdout.write(f"{as_zip(Path(shutil.copy(build_wheel(Path(scratch) / 'package'), into)))}\n")
