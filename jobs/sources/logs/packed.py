"""Compressed log files, told by their first bytes, whatever they are called."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from typing import IO, Any, NamedTuple

_GZIP_BITS = 31
_TAR_AT, _TAR = 257, b"ustar"

_FOREIGN = {
    b"\x28\xb5\x2f\xfd": "is compressed with zstd: unpack it",
    b"\x04\x22\x4d\x18": "is compressed with lz4: unpack it",
    b"PK\x03\x04": "is an archive (zip): unpack it",
    b"\xff\xfe": "is UTF-16: write it as UTF-8",
    b"\xfe\xff": "is UTF-16: write it as UTF-8",
}
"""First bytes of what is not read, and what to do about it."""


class Packing(NamedTuple):
    """A way of compressing that is read.

    Attributes:
        first: its first bytes.
        opened: gives the plain bytes of an open file.
        decompressor: gives what takes pieces of it, and returns what they are unpacked.
    """

    first: bytes
    opened: Callable[[IO[bytes]], Any]
    decompressor: Callable[[], Any]


_GZIP = Packing(b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file), lambda: zlib.decompressobj(_GZIP_BITS))

_PACKINGS = (
    _GZIP,
    Packing(b"BZh", bz2.BZ2File, bz2.BZ2Decompressor),
    Packing(b"\xfd7zXZ\0", lzma.LZMAFile, lzma.LZMADecompressor),
)

DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError)
"""What is raised where such a file is damaged."""

ENDINGS = (".gz", ".bz2", ".xz")
"""How names of such files end, as a rule."""


def packing_of(first: bytes, name: str) -> Packing | None:
    """Return how a file is compressed that begins so; None = it is not, or not in a way that is read."""
    found = next((each for each in _PACKINGS if first.startswith(each.first)), None)
    return _GZIP if found is None and name.endswith(".gz") else found


def what_else(first: bytes, text: bytes) -> str | None:
    """Return what a file is that holds no lines of a log, and what to do about it; None = nothing that is known.

    Args:
        first: its first bytes, as they are stored.
        text: the same unpacked.
    """
    if text[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "is an archive (tar): unpack it"
    return next((words for begin, words in _FOREIGN.items() if first.startswith(begin)), None)
