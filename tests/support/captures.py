"""The captures of real brokers that the tests and the demonstration run on."""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

ARCHIVES = Path(__file__).resolve().parents[1] / "data" / "captures"

CALM = ("kafka-3.9.1", "kafka-4.2.0")
CHAOTIC = ("chaos-3.9.1", "chaos-4.2.0")
CAPTURES = (*CALM, *CHAOTIC)


def capture(name: str, into: Path) -> Path:
    """Unpack one capture, unless it lies there already, and return its folder, `<into>/<name>`."""
    folder = into / name
    if not folder.exists():
        into.mkdir(parents=True, exist_ok=True)
        # Unpacked aside and renamed, so that a folder that exists is a whole one.
        with tempfile.TemporaryDirectory(dir=into) as aside, tarfile.open(ARCHIVES / f"{name}.tar.xz") as archive:
            if sys.version_info >= (3, 12):
                archive.extractall(aside, filter="data")
            else:
                archive.extractall(aside)
            (Path(aside) / name).rename(folder)
    return folder
