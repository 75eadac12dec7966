"""Files for others to read, on the disk of the machine that the driver runs on: there whole, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from transforms.errors import LakeError


@contextmanager
def written(path: Path, key: str) -> Iterator[TextIO]:
    """Write a file beside its place and put it there at the end; if that fails, what was there stays.

    Until then it has another ending, so that nobody who looks for such files takes it in.

    Args:
        path: where it goes.
        key: the setting that says so.

    Raises:
        LakeError: it cannot be written.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise LakeError(f"{key} = {path} cannot be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)


def text_of(path: Path, key: str) -> str:
    """Return a file's text; empty if there is none.

    Raises:
        LakeError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise LakeError(f"{key} = {path} cannot be read: {error.strerror or error}") from error
