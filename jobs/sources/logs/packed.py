"""The bytes of log files, compressed or not, told by their first ones, whatever the files are called."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, Any, NamedTuple

_HEAD_BYTES = 256 << 10
_CHUNK_BYTES = 256 << 10
_PIECE_BYTES = 4 << 10

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


def _packing_of(first: bytes, name: str) -> Packing | None:
    """Return how a file is compressed that begins so; None = it is not, or not in a way that is read."""
    found = next((each for each in _PACKINGS if first.startswith(each.first)), None)
    return _GZIP if found is None and name.endswith(".gz") else found


class Head(NamedTuple):
    """The beginning of a file.

    Attributes:
        text: unpacked; of a compressed file that is cut or damaged, what there is before that.
        raw: as it is stored.
        packing: how it is compressed; None = it is not.
    """

    text: bytes
    raw: bytes
    packing: Packing | None = None


def head_of(opened: IO[bytes], name: str) -> Head:
    """Return the beginning of a file, and go back to it."""
    raw = opened.read(_HEAD_BYTES)
    opened.seek(0)
    packing = _packing_of(raw, name)
    if packing is None:
        return Head(raw, raw)
    unpacking, text = packing.decompressor(), b""
    with suppress(*DAMAGE):  # who reads on will say so
        for start in range(0, len(raw), _PIECE_BYTES):
            text += unpacking.decompress(raw[start : start + _PIECE_BYTES])
            if len(text) >= _HEAD_BYTES:
                break
    return Head(text[:_HEAD_BYTES], raw, packing)


def chunks(opened: IO[bytes], packing: Packing | None) -> Iterator[bytes]:
    """Yield the bytes of a file, unpacked; what comes before damage is not lost."""
    plain: Any = opened if packing is None else packing.opened(opened)
    return iter(lambda: plain.read1(_CHUNK_BYTES), b"")


def what_else(head: Head, is_dated: bool) -> str | None:
    """Return what a file is that holds no lines of a log, and what to do about it; None = nothing that is known.

    Args:
        head: its beginning.
        is_dated: a line with a time was found there.
    """
    if head.text[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "is an archive (tar): unpack it"
    foreign = next((words for begin, words in _FOREIGN.items() if head.raw.startswith(begin)), None)
    if foreign is None and not is_dated and b"\0" in head.text.strip(b"\0"):
        return "holds no log: there are zero bytes in it"
    return foreign
