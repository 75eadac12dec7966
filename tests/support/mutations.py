"""Real bytes, damaged at random: flipped, cut, grown."""

from __future__ import annotations

import random

EDGES = (0x00, 0x01, 0x7F, 0x80, 0xFF)
"""Bytes at which lengths, varints and signs turn."""


def mutated(raw: bytes, draw: random.Random) -> bytes:
    """Damage bytes in one to three places."""
    out = bytearray(raw)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(out) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            out[at : at + 1] = bytes([draw.choice(EDGES)])
        elif kind == 1 and at < len(out):
            out[at] ^= 1 << draw.randrange(8)
        elif kind == 2:
            del out[at : at + draw.randint(1, 8)]
        else:
            out[at:at] = draw.randbytes(draw.randint(1, 8))
    return bytes(out)
