"""The whole product on one capture in plain Python: no Spark, no lake, a second or two.

    python -m tests.support.pure_pipeline <folder of an unpacked capture>

prints what came of it, the replay's agreement first. Entry points are the product's own pure functions; this module
only reads files and sorts rows by group, as the Spark jobs do.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from schemas.catalog import BY_NAME
from schemas.tables.gold import REPLAYED
from schemas.tables.silver import CLIENT_EVENTS
from transforms.coordinator.evidence.brokers import BROKER_EVENTS
from transforms.coordinator.evidence.ownership import LOAD_EVENTS
from transforms.coordinator.kafka.java_hashing import offsets_partition
from transforms.coordinator.replay import replay_group
from transforms.loglines.entries.entries import entries
from transforms.loglines.parse import parse_entry
from transforms.wire import segments
from transforms.wire.records import decode

Row = dict[str, Any]
Tables = dict[str, list[Row]]

CLUSTER = "demo"
BROKER = "1"
PARTITION_COUNT = 50
SILVER = (
    "offset_commits",
    "group_metadata",
    "modern_group_records",
    "coordinator_events",
    "group_requests",
    "client_events",
    "rejected",
)


@cache
def read_silver(folder: Path) -> Tables:
    """Decode and parse the files of one unpacked capture; the rows are shared, so leave them as they are."""
    tables: Tables = {name: [] for name in SILVER}
    for table, row in (*_records(folder / "consumer_offsets"), *_lines(folder / "broker_logs")):
        tables[table].append(row)
    return tables


def _records(folder: Path) -> Iterator[tuple[str, Row]]:
    for path in sorted(folder.glob("__consumer_offsets-*/*.log")):
        partition = int(path.parent.name.rpartition("-")[2])
        with path.open("rb") as file:
            for record in segments.read(file):
                if isinstance(record, segments.RejectedBatch):
                    position = f"{path.parent.name}@{record.byte_position}"
                    yield "rejected", _rejected(record.reason_code, record.detail, record.raw, "offsets", position)
                elif record.control_type is None:
                    yield _record(partition, record)


def _record(partition: int, record: Any) -> tuple[str, Row]:
    decoded: Any = decode(record.key, record.value)
    table, row = decoded.table, decoded.row
    if table == "rejected":
        return table, _rejected(**row, source="offsets", position=f"{partition}:{record.offset}")
    place = {
        "cluster": CLUSTER,
        "topic_partition_of_record": partition,
        "record_offset": record.offset,
        "recorded_at": record.timestamp,
    }
    return table, _complete(table, {**row, **place})


def _lines(folder: Path) -> Iterator[tuple[str, Row]]:
    for path in sorted(folder.rglob("*.log")):
        name = path.relative_to(folder).as_posix()
        broker = BROKER if path.parent == folder else path.parent.name
        with path.open(encoding="utf-8") as lines:
            for entry in entries(lines):
                for fact in parse_entry(entry.text, entry.logged_at):
                    table, row = fact.table, asdict(fact)
                    if table == "rejected":
                        yield table, _rejected(**row, source=name, position=str(entry.line_number))
                        continue
                    place = {
                        "cluster": CLUSTER,
                        "host" if table == CLIENT_EVENTS.name else "broker": broker,
                        "source_file": name,
                        "line_number": entry.line_number,
                    }
                    yield table, _complete(table, {**row, **place})


def _rejected(reason_code: str, detail: str, raw: bytes, source: str, position: str) -> Row:
    row = {"source": source, "position": position, "reason_code": reason_code, "detail": detail, "raw": raw}
    return {"cluster": CLUSTER, **row, "seen_at": None}


def _complete(table: str, row: Row) -> Row:
    """Give a row all the columns of its table, in their order; a column that the table has not is a mistake."""
    columns = BY_NAME[table].columns
    strangers = set(row) - set(columns)
    if strangers:
        raise ValueError(f"{table} has no column {sorted(strangers)}")
    return {column: row.get(column) for column in columns}


def evidence_by_group(silver: Tables) -> dict[str, tuple[list[Row], list[Row], list[Row]]]:
    """Group to its records, its events (with those of its coordinator) and its requests."""
    found: dict[str, tuple[list[Row], list[Row], list[Row]]] = defaultdict(lambda: ([], [], []))
    for index, table in enumerate(("group_metadata", "coordinator_events", "group_requests")):
        for row in silver[table]:
            if row["group_id"] is not None:
                found[row["group_id"]][index].append(row)
    for table in ("offset_commits", "modern_group_records"):
        for row in silver[table]:
            _ = found[row["group_id"]]  # a group that only commits has no other evidence
    wide = {*LOAD_EVENTS, *BROKER_EVENTS}
    of_coordinator = [row for row in silver["coordinator_events"] if row["group_id"] is None and row["event"] in wide]
    for group, (_, events, _) in found.items():
        partition = offsets_partition(group, PARTITION_COUNT)
        events += [row for row in of_coordinator if row["topic_partition_of_group"] in (None, partition)]
    return dict(found)


def partitions_by_group(silver: Tables) -> dict[str, set[int]]:
    """Group to the partitions of `__consumer_offsets` that hold offset commits of it."""
    found: dict[str, set[int]] = defaultdict(set)
    for row in silver["offset_commits"]:
        found[row["group_id"]].add(row["topic_partition_of_record"])
    return found


def topic_names(silver: Tables) -> dict[str, str]:
    """Topic id to name, as far as commits and what coordinators noted tell."""
    names = {row["topic_id"]: row["topic"] for row in silver["offset_commits"] if row["topic_id"]}
    for row in silver["modern_group_records"]:
        if "topicName" not in (row["body"] or ""):
            continue
        for listed in json.loads(row["body"]).values():
            topics = listed if isinstance(listed, list) else []
            names |= {each["topicId"]: each["topicName"] for each in topics if "topicName" in each}
    return names


def modern_by_group(silver: Tables) -> dict[str, list[Row]]:
    """Group to its records of newer protocols."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in silver["modern_group_records"]:
        found[row["group_id"]].append(row)
    return found


def replay(silver: Tables) -> Tables:
    """Replay every group of some silver tables."""
    gold: Tables = {spec.name: [] for spec in REPLAYED}
    places, modern, names = partitions_by_group(silver), modern_by_group(silver), topic_names(silver)
    clients: dict[str, list[Row]] = defaultdict(list)
    for row in silver["client_events"]:
        clients[row["group_id"]].append(row)
    for group, (records, events, requests) in sorted(evidence_by_group(silver).items()):
        replayed = replay_group(
            CLUSTER,
            group,
            records,
            events,
            requests,
            PARTITION_COUNT,
            places.get(group, ()),
            clients[group],
            modern.get(group, ()),
            names,
        )
        for table, rows in replayed.items():
            gold[table] += [_complete(table, row) for row in rows]
    return gold


@cache
def run_pipeline(folder: Path) -> Tables:
    """Silver and replayed gold of one unpacked capture, by table name; times are epoch milliseconds."""
    silver = read_silver(folder)
    return {**silver, **replay(silver)}


def summary(tables: Tables) -> list[str]:
    """Row counts, the audit's agreement for each API, and every row that does not agree."""
    lines = [f"{name:24}{len(rows):>8}" for name, rows in tables.items()]
    by_api: dict[str, Counter[Any]] = defaultdict(Counter)
    for row in tables["replay_audit"]:
        by_api[row["api"]][row["agrees"]] += 1
        by_api["all"][row["agrees"]] += 1
    for api, counts in sorted(by_api.items()):
        lines.append(f"{api:24}{counts[True]:>8} agree {counts[False]:>6} differ {counts[None]:>6} not predicted")
    reasons = Counter(row["why"] for row in tables["replay_audit"] if row["why"] is not None)
    lines += [f"why {reason!r}: {count}" for reason, count in reasons.most_common()]
    for row in tables["replay_audit"]:
        if not row["agrees"]:
            lines.append(
                ", ".join(f"{name}={value}" for name, value in row.items() if name not in ("cluster", "broker"))
            )
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(summary(run_pipeline(Path(sys.argv[1])))) + "\n")
