"""Writes what brokers leave behind as a capture: the layout of the archives in `tests/data/captures`."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from tests.support.kafka_broker import Brokers


def write_capture(brokers: Brokers, folder: Path, node: int = 1) -> Path:
    """Copy the offsets topic of one stopped node and the logs of all of them, and, lastly, dump the former.

    With several nodes each has a folder of its own in `broker_logs`, named by its id.
    """
    for segment in sorted(brokers.log_dir(node).glob("__consumer_offsets-*/*.log")):
        if segment.stat().st_size:
            copy = folder / "consumer_offsets" / segment.parent.name / segment.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(segment, copy)
    logs = folder / "broker_logs"
    for each in brokers.nodes:
        into = logs / str(each) if len(brokers.nodes) > 1 else logs
        into.mkdir(parents=True)
        for log in brokers.server_log_dir(each).glob("*.log"):
            shutil.copyfile(log, into / log.name)
    dump = brokers.dump_offsets(sorted(folder.glob("consumer_offsets/*/*.log")))
    with gzip.open(folder / "dump.txt.gz", "wt", encoding="utf-8") as file:
        file.write(dump.replace(f"{folder}/", ""))
    return folder
