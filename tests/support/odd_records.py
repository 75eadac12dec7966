"""Records of `__consumer_offsets` as no broker writes them, beside those that one does."""

from __future__ import annotations

from schemas.records.classic_groups import OFFSET_COMMIT
from tests.support.record_writer import key_bytes, value_bytes
from tests.unit.wire.test_wire_vectors import VECTORS


def odd_pairs() -> list[tuple[bytes | None, bytes | None]]:
    """Commits at and beyond the border of the ordinary shape, and damage of all kinds."""
    commit = {"group": "gruppe-ü", "topic": "t", "partition": -7}
    key = key_bytes(OFFSET_COMMIT, commit)
    pairs: list[tuple[bytes | None, bytes | None]] = [
        (bytes.fromhex(each["key"]), each["value"] and bytes.fromhex(each["value"])) for each in VECTORS
    ]
    for version in range(6):
        for metadata in ("", "é", "x" * 126, "x" * 127, "x" * 128, "x" * 4096):
            for moment in (-1, 0, 1_700_000_000_123, 253_402_300_799_999, 253_402_300_800_000, 2**63 - 1):
                value = {
                    "offset": -moment,
                    "leaderEpoch": -1 if moment < 0 else 2**31 - 1,
                    "metadata": metadata,
                    "commitTimestamp": moment,
                    "expireTimestamp": moment,
                    "topicId": "__________-_-_-_-_-_-w",
                }
                raw = value_bytes(OFFSET_COMMIT, value, version)
                pairs += [(key, raw), (key, raw + b"\x00"), (key + b"\x00", raw)]
    raw = value_bytes(OFFSET_COMMIT, value, 4)
    pairs += [(key[:size], raw) for size in range(len(key))]
    for version in (1, 3, 4):
        whole = value_bytes(OFFSET_COMMIT, {**value, "metadata": "ab"}, version)
        pairs += [(key, whole[:size]) for size in range(len(whole))]
        pairs += [
            (key, whole[:at] + bytes([byte]) + whole[at + 1 :])
            for at in range(len(whole))
            for byte in (0, 1, 0x7F, 0x80, 0xFF)
        ]
    pairs += [(key[:at] + bytes([byte]) + key[at + 1 :], raw) for at in range(len(key)) for byte in (0, 1, 0x80, 0xFF)]
    long_key = key_bytes(OFFSET_COMMIT, {"group": "g" * 32_767, "topic": "t" * 32_767, "partition": 2**31 - 1})
    overlong = b"\x00\x01\x80\x00" + b"g" * 32_768 + b"\x00\x01t\x00\x00\x00\x01"
    nothing: list[tuple[bytes | None, bytes | None]] = [(None, None), (None, raw), (b"", b""), (key, b""), (key, None)]
    return [*pairs, *nothing, (long_key, raw), (long_key, None), (overlong, None)]
