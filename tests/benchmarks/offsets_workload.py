"""Segment files of `__consumer_offsets` as a busy broker leaves them: nearly all commits, few groups' own records."""

from __future__ import annotations

import base64
import random
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

from aiokafka.record.default_records import DefaultRecordBatchBuilder

from schemas.records.classic_groups import GROUP_METADATA, OFFSET_COMMIT
from tests.support.record_writer import key_bytes, value_bytes

RECORDS_PER_FILE = 500_000
DISTINCT_FILES = 4
"""The other files are copies of these in folders of other partitions."""

_GROUPS, _TOPICS, _PARTITIONS = 25, 6, 32
_BATCH = range(4, 41)
"""Records of a batch: the partitions of a commit."""
_METADATA_EVERY = 2_000
_TOMBSTONE_EVERY = 500
_COMMENTED_EVERY = 50
_START_MS = 1_760_000_000_000
_BATCH_EVERY_MS = 10
_BATCH_BYTES = 1 << 20


def write(root: Path, records: int, per_file: int = RECORDS_PER_FILE) -> int:
    """Write segment files below a folder; return the number of records in them, at least `records`."""
    files = -(-records // per_file)
    for number in range(files):
        file = root / f"__consumer_offsets-{number}" / "00000000000000000000.log"
        file.parent.mkdir(parents=True)
        if number < DISTINCT_FILES:
            write_segment(file, per_file, seed=number)
        else:
            shutil.copyfile(root / f"__consumer_offsets-{number % DISTINCT_FILES}" / file.name, file)
    return files * per_file


def write_segment(
    file: Path,
    records: int,
    seed: int,
    tombstone_every: int = _TOMBSTONE_EVERY,
    metadata_every: int | None = _METADATA_EVERY,
    batch_every_ms: int = _BATCH_EVERY_MS,
) -> None:
    """Write a segment; of several with one seed, the longer ones begin as the shorter ones do."""
    draw = random.Random(seed)
    pairs = _pairs(draw, seed, tombstone_every, metadata_every)
    with file.open("wb", buffering=1 << 20) as out:
        written, now = 0, _START_MS
        while written < records:
            size = min(draw.choice(_BATCH), records - written)
            now += draw.randrange(2 * batch_every_ms)
            builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, _BATCH_BYTES)
            for index in range(size):
                key, value = next(pairs)
                builder.append(index, now, key, value, [])
            out.write(struct.pack(">q", written) + bytes(builder.build())[8:])
            written += size


def _pairs(
    draw: random.Random, seed: int, tombstone_every: int, metadata_every: int | None
) -> Iterator[tuple[bytes, bytes | None]]:
    """Keys and values without end: half of the groups commit as 2.1 to 3.x brokers do, half as 4.x ones."""
    keys = [
        (key_bytes(OFFSET_COMMIT, {"group": group, "topic": topic, "partition": partition}), flexible)
        for group, flexible in ((f"billing-service-{seed}-{number}", number % 2) for number in range(_GROUPS))
        for topic in (f"orders.{number}.events" for number in range(_TOPICS))
        for partition in range(_PARTITIONS)
    ]
    group_key = key_bytes(GROUP_METADATA, {"group": f"billing-service-{seed}-0"})
    group_value = _group_value()
    topic_id = base64.urlsafe_b64decode("q2Yv4S5oSn-Ch3fJ0Jr5cA==")
    offset = 1 << 20
    while True:
        for key, is_flexible in draw.sample(keys, len(keys)):
            offset += draw.randrange(100)
            note = b"checkpoint-0001" if offset % _COMMENTED_EVERY == 0 else b""
            if metadata_every and offset % metadata_every == 0:
                yield group_key, group_value
            elif offset % tombstone_every == 0:
                yield key, None
            elif is_flexible:
                head = struct.pack(">hqiB", 4, offset // len(keys), 7, len(note) + 1)
                yield key, head + note + struct.pack(">q", _START_MS + offset) + b"\x01\x00\x10" + topic_id
            else:
                head = struct.pack(">hqih", 3, offset // len(keys), -1, len(note))
                yield key, head + note + struct.pack(">q", _START_MS + offset)


def _group_value() -> bytes:
    member = {
        "memberId": "consumer-1-6a1f",
        "groupInstanceId": None,
        "clientId": "consumer-1",
        "clientHost": "/10.0.0.7",
        "rebalanceTimeout": 300_000,
        "sessionTimeout": 45_000,
        "subscription": bytes.fromhex("0001000000010008") + b"orders.0" + bytes.fromhex("ffffffff00000000"),
        "assignment": bytes.fromhex("0001000000010008") + b"orders.0" + bytes.fromhex("0000000100000000ffffffff"),
    }
    value = {
        "protocolType": "consumer",
        "generation": 12,
        "protocol": "range",
        "leader": "consumer-1-6a1f",
        "currentStateTimestamp": _START_MS,
        "members": [{**member, "memberId": f"consumer-{number}-6a1f"} for number in range(8)],
    }
    return value_bytes(GROUP_METADATA, value, 3)
