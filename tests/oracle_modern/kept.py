"""What Kafka 4.2's own coordinator did, as it is kept in `tests/data/oracle`: one JSON object a line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ORACLE = Path(__file__).resolve().parents[1] / "data" / "oracle"


def kept(name: str) -> Iterator[dict[str, Any]]:
    """Yield the cases of one file."""
    with gzip.open(ORACLE / f"{name}_4.2.0.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
