"""What Kafka's own `kafka-dump-log --offsets-decoder` says of a capture's segment files."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = re.compile(r"Dumping .*__consumer_offsets-(\d+)/")
_BATCH = re.compile(
    r"baseOffset: .* producerId: (-?\d+) producerEpoch: (-?\d+) .* isTransactional: (\w+) isControl: (\w+)"
)
_RECORD = re.compile(r"\| offset: (\d+) CreateTime: (\d+) keySize: (-?\d+) valueSize: (-?\d+) .*?headerKeys: \[\] (.*)")


@dataclass(frozen=True)
class DumpedRecord:
    """One record as Kafka's tool prints it; `data` is None for a control record."""

    partition: int
    offset: int
    timestamp: int
    key_size: int
    value_size: int
    producer_id: int
    producer_epoch: int
    is_transactional: bool
    control_type: str | None
    key: dict[str, Any] | None
    value: dict[str, Any] | None


def read_dump(capture: Path) -> Iterator[DumpedRecord]:
    """Read the dump of a capture, in its order."""
    partition, batch = -1, ("", "", "", "")
    with gzip.open(capture / "dump.txt.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            if found := _FILE.match(line):
                partition = int(found[1])
            elif found := _BATCH.match(line):
                batch = found.groups()
            elif found := _RECORD.match(line):
                yield _record(partition, batch, found)


def _record(partition: int, batch: tuple[str, ...], found: re.Match[str]) -> DumpedRecord:
    control, key, value = None, None, None
    text = found[5]
    if text.startswith("endTxnMarker"):
        control = text.split()[1].lower()
    else:
        decoder = json.JSONDecoder()
        key, end = decoder.raw_decode(text, len("key: "))
        payload = text[end + len(" payload: ") :].strip()
        value = None if payload == "<DELETE>" else json.loads(payload)
    return DumpedRecord(
        partition,
        *(int(found[index]) for index in range(1, 5)),
        producer_id=int(batch[0]),
        producer_epoch=int(batch[1]),
        is_transactional=batch[2] == "true",
        control_type=control,
        key=key,
        value=value,
    )
