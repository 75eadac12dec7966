"""Captures, unpacked once for all pages, for as long as the process lives."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from tests.support.captures import capture


@cache
def unpacked(name: str) -> Path:
    """Return the folder of a capture."""
    return capture(name, Path(_scratch().name))


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()
