"""The wheel as `make zip` builds it, made from a copy so that the tree stays as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EPOCH = "1700000000"


def build_wheel(copy: Path, copied_at: float | None = None) -> Path:
    """Copy the sources into a folder of one's own, build there, and return the wheel.

    Args:
        copy: the folder.
        copied_at: time that the files of the copy bear; None = those of the sources.
    """
    for name in ("jobs", "transforms", "schemas"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    for path in copy.rglob("*") if copied_at is not None else ():
        os.utime(path, (copied_at, copied_at))
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", "."]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(build, cwd=copy, check=True, capture_output=True, env=environment | {"SOURCE_DATE_EPOCH": EPOCH})
    (wheel,) = (copy / "dist").glob("*.whl")
    return wheel


def as_zip(wheel: Path) -> Path:
    """Return the wheel under the name that executors take from --py-files."""
    return Path(shutil.copy(wheel, wheel.with_name(wheel.name.replace("-py3-none-any.whl", ".zip"))))
