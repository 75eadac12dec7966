"""How large a compressed batch can become, told before it is inflated.

The parser of record batches inflates a batch in one piece, whatever comes out, and a few kilobytes can become
gigabytes. Each codec's framing bounds what a block can hold; only gzip has to be run, in small pieces, and only
where its best ratio could pass the limit.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from transforms.errors import BatchError, DecodeError, OversizedBatch
from transforms.wire.primitives import read_uvarint

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
"""Codecs, as the lowest three bits of a batch's attributes number them (CompressionType)."""

_GZIP_BEST_RATIO = 1032
_GZIP_STEP = 1 << 20
_XERIAL_HEADER = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
_LZ4_MAGIC = 0x184D2204
_LZ4_BEST_RATIO = 255
_LZ4_UNCOMPRESSED = 1 << 31
_ZSTD_MAGIC = 0xFD2FB528
_ZSTD_BLOCK_MAX = 128 << 10
_SKIPPABLE = 0x184D2A50
"""Frames that hold no data, in both lz4 and zstd; the lowest four bits are free."""


def check(codec: int, data: bytes, limit: int) -> None:
    """Check that compressed bytes do not become more than `limit` bytes.

    Args:
        codec: NONE, GZIP, SNAPPY, LZ4 or ZSTD.
        data: the compressed part of a batch.
        limit: in bytes.

    Raises:
        OversizedBatch: they can become more.
        BatchError: the framing is damaged, or the codec unknown.
    """
    if codec not in _BOUNDS:
        raise BatchError(f"compression codec {codec}")
    try:
        bound = _BOUNDS[codec](data, limit)
    except (struct.error, IndexError, zlib.error, DecodeError) as error:
        raise BatchError(f"compressed data of codec {codec}: {error}") from error
    if bound > limit:
        raise OversizedBatch(f"{len(data)} compressed bytes become more than {limit}")


def _gzip_bound(data: bytes, limit: int) -> int:
    if len(data) * _GZIP_BEST_RATIO <= limit:
        return len(data) * _GZIP_BEST_RATIO
    total = 0
    rest = data
    while rest:
        stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        while not stream.eof and total <= limit:
            piece = stream.decompress(rest, _GZIP_STEP)
            if not piece and not stream.unconsumed_tail and not stream.eof:
                raise BatchError("gzip stream ends early")
            total += len(piece)
            rest = stream.unconsumed_tail
        if total > limit:
            break
        rest = stream.unused_data.lstrip(b"\x00")
    return total


def _snappy_bound(data: bytes, limit: int) -> int:
    if not data.startswith(_XERIAL_HEADER):
        return read_uvarint(data, 0)[0]
    total, at = 0, len(_XERIAL_HEADER)
    while at < len(data) and total <= limit:
        (size,) = struct.unpack_from(">i", data, at)
        if size <= 0:
            raise BatchError(f"snappy block of {size} bytes")
        total += read_uvarint(data, at + 4)[0]
        at += 4 + size
    return total


def _frames_bound(magic: int, read_frame: Callable[[bytes, int, int], tuple[int, int]]) -> Callable[[bytes, int], int]:
    """Sum up the frames of lz4 or zstd; `read_frame` returns a frame's bound and where it ends."""

    def bound(data: bytes, limit: int) -> int:
        total, at = 0, 0
        while at < len(data) and total <= limit:
            (word,) = struct.unpack_from("<I", data, at)
            if word & ~0xF == _SKIPPABLE:
                at += 8 + struct.unpack_from("<I", data, at + 4)[0]
                continue
            if word != magic:
                raise BatchError(f"frame begins with {word:#x}")
            size, at = read_frame(data, at + 4, limit)
            total += size
        return total

    return bound


def _lz4_frame(data: bytes, at: int, limit: int) -> tuple[int, int]:
    total, end = _lz4_blocks(data, at, limit, is_exact=False)
    # Some writers cut blocks far below the frame's maximum: only now look closely.
    return (total, end) if total <= limit else _lz4_blocks(data, at, limit, is_exact=True)


def _lz4_blocks(data: bytes, at: int, limit: int, is_exact: bool) -> tuple[int, int]:
    """Sum up a frame's blocks by the most that each can hold, or by what its sequences say."""
    flags, descriptor = data[at], data[at + 1]
    block_max = 1 << (8 + 2 * (descriptor >> 4 & 0x7))
    at += 3 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    block_checksum = 4 if flags & 0x10 else 0
    total = 0
    while total <= limit:
        (word,) = struct.unpack_from("<I", data, at)
        at += 4
        if word == 0:
            at += 4 if flags & 0x04 else 0
            break
        size = word & ~_LZ4_UNCOMPRESSED
        if word & _LZ4_UNCOMPRESSED:
            total += size
        elif is_exact:
            total += _lz4_block_length(data, at, at + size, limit - total)
        else:
            total += min(block_max, size * _LZ4_BEST_RATIO)
        at += size + block_checksum
    return total, at


def _lz4_block_length(data: bytes, at: int, end: int, limit: int) -> int:
    """Walk a block's sequences, without inflating them, until it is through or beyond the limit."""
    total = 0
    while at < end and total <= limit:
        token = data[at]
        literals, at = _lz4_length(data, at + 1, token >> 4)
        total += literals
        at += literals + 2  # the literals, and how far back the match lies
        if at <= end:
            match, at = _lz4_length(data, at, token & 0xF)
            total += match + 4
    return total


def _lz4_length(data: bytes, at: int, nibble: int) -> tuple[int, int]:
    """Read a length that goes on in further bytes where four bits do not hold it."""
    length = nibble
    if nibble == 0xF:
        while data[at] == 0xFF:
            length += 0xFF
            at += 1
        length += data[at]
        at += 1
    return length, at


def _zstd_frame(data: bytes, at: int, limit: int) -> tuple[int, int]:
    descriptor = data[at]
    is_single_segment = bool(descriptor & 0x20)
    content_size_bytes = (1 if is_single_segment else 0, 2, 4, 8)[descriptor >> 6]
    at += 1 + (0 if is_single_segment else 1) + (0, 1, 2, 4)[descriptor & 0x3]
    announced = int.from_bytes(data[at : at + content_size_bytes], "little")
    at += content_size_bytes
    total, is_last = 0, False
    while not is_last and total <= limit:
        header = int.from_bytes(data[at : at + 3], "little")
        is_last, kind, size = bool(header & 1), header >> 1 & 0x3, header >> 3
        if at + 3 > len(data) or kind == 3:
            raise BatchError(f"zstd block at {at}")
        total += _ZSTD_BLOCK_MAX if kind == 2 else size
        at += 3 + (1 if kind == 1 else size)
    # What the header announces is what a decoder sets aside.
    return max(total, announced), at + (4 if descriptor & 0x04 else 0)


_BOUNDS: dict[int, Callable[[bytes, int], int]] = {
    NONE: lambda data, _: len(data),
    GZIP: _gzip_bound,
    SNAPPY: _snappy_bound,
    LZ4: _frames_bound(_LZ4_MAGIC, _lz4_frame),
    ZSTD: _frames_bound(_ZSTD_MAGIC, _zstd_frame),
}
