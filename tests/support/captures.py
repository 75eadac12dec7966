"""The captures of real brokers that the tests and the demonstration run on."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

ARCHIVES = Path(__file__).resolve().parents[1] / "data" / "captures"

CALM = ("kafka-3.9.1", "kafka-4.2.0")
CHAOTIC = ("chaos-3.9.1", "chaos-4.2.0")


def capture(name: str, into: Path) -> Path:
    """Unpack one capture and return its folder, `<into>/<name>`."""
    with tarfile.open(ARCHIVES / f"{name}.tar.xz") as archive:
        if sys.version_info >= (3, 12):
            archive.extractall(into, filter="data")
        else:
            archive.extractall(into)
    return into / name
