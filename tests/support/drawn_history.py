"""The history of one group, drawn so that it reads like a log.

    kafka = 3.9.1
    group.max.size = 2

       0  a       JoinGroup                                 -> MEMBER_ID_REQUIRED as a-1
       2  a       JoinGroup a-1                             -> 3002 generation 1, leader a-1, members a-1
       2  log     Preparing to rebalance group orders in state PreparingRebalance with old generation 0 (reason: …)
    3010  a       SyncGroup a-1 generation 1, assigns a-1: t-0 t-1    -> t-0 t-1
    3011  record  generation 1, since 3002, leader a-1, members a-1: t-0 t-1

Each line has a moment in milliseconds, who speaks, and what. Lines are in the order of their moments. Who speaks is

* `log`: a line of the broker's log, as Kafka prints it; its head, prefix and logger are put before and behind.
* `record`: a GroupMetadata record, by what it holds:
      generation 2, since 3002, leader a-1, members a-1: t-0; b-1[t u]: u-0
      generation 2, protocol roundrobin, session 6000, rebalance 9000, leader a-1, members a-1: t-0
      generation 3, empty                  nobody is left
      generation 0, new                    the Java coordinator's marker of a new group
      tombstone
  `since` is its currentStateTimestamp, and its own moment where it is not written.
* anything else: a client, and what it asks, at the moment when the broker takes it up, with the broker's answer. A
  client has one connection to each broker. See `tests.support.drawn_requests`.

`log@2` is broker 2's, `a@2` asks broker 2; `log/7` and `record/7` are of partition 7 of `__consumer_offsets` instead of
the one that the group belongs to. Lines that begin with `#` are for the reader.

The group is called `orders`. `kafka` is the version of its brokers: below 4 it is the Scala coordinator. Where other
settings are given, the broker prints them and its version at its start ("KafkaConfig values", "Kafka version"); without
any there are no such lines.

What is drawn becomes bytes of records, lines of broker logs and lines of the request log, and these become evidence by
the product's own readers: rows of the silver tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from schemas.catalog import BY_NAME
from schemas.records.classic_groups import GROUP_METADATA
from tests.support.drawn_members import CLIENT_HOST, assignments
from tests.support.drawn_requests import (
    PROTOCOL,
    PROTOCOL_TYPE,
    REBALANCE_TIMEOUT_MS,
    SESSION_TIMEOUT_MS,
    Said,
    connection_of,
    request_line,
)
from tests.support.record_writer import key_bytes, value_bytes
from transforms.coordinator.kafka.java_hashing import offsets_partition
from transforms.loglines.parse import parse_entry
from transforms.wire.records import decode

Row = dict[str, Any]

GROUP_ID = "orders"
CLUSTER = "demo"
PARTITION_COUNT = 50
PARTITION = offsets_partition(GROUP_ID, PARTITION_COUNT)

ORIGIN = datetime(2024, 1, 1, tzinfo=timezone.utc)
"""Moment 0 of every history."""

ORIGIN_MS = int(ORIGIN.timestamp() * 1000)

STARTED = -60_000
"""When the broker prints its settings."""

_SPEAKER = r"(?P<who>[^\s@/]+)(?:@(?P<broker>\d+))?(?:/(?P<partition>\d+))?"
_LINE = re.compile(rf"(?P<at>\d+(?:\.\d+)?)\s+{_SPEAKER}\s+(?P<what>.+)")

_RECORD_WORDS = {"generation", "since", "leader", "members", "protocol", "session", "rebalance", "empty", "new"}

_OF_ALL_GROUPS = ("Startup complete.", "Shutdown complete.")
_PARTITION_IN_TEXT = "__consumer_offsets-"


@dataclass
class History:
    """Evidence of one group: rows of the silver tables, with the moments as epoch milliseconds."""

    version: str = "4.2.0"
    records: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    requests: list[Row] = field(default_factory=list)

    @property
    def is_java(self) -> bool:
        """Whether the Java coordinator speaks."""
        return int(self.version.split(".")[0]) >= 4

    @property
    def silver(self) -> dict[str, list[Row]]:
        """The rows by their tables."""
        return {
            "group_metadata": self.records,
            "coordinator_events": self.events,
            "group_requests": self.requests,
        }


def read(path: Path) -> History:
    """Read a history from a file."""
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> History:
    """Read a history; what is not understood, or not in order, is a ValueError."""
    settings, lines = _parted(text)
    writer = _Writer(History(settings.pop("kafka", "4.2.0")))
    if settings:
        printed = "".join(f"\n\t{name} = {value}" for name, value in settings.items())
        writer.log(STARTED, f"KafkaConfig values: {printed}", "kafka.server.KafkaConfig")
        version = f"Kafka version: {writer.history.version}"
        writer.log(STARTED, version, "org.apache.kafka.common.utils.AppInfoParser")
    last = 0.0
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None or float(match["at"]) < last:
            raise ValueError(f"not understood, or not in the order of time: {line}")
        last = float(match["at"])
        writer.take(last, match)
    return writer.history


def _parted(text: str) -> tuple[dict[str, str], list[str]]:
    """Part the settings from the lines."""
    settings: dict[str, str] = {}
    lines = []
    for line in map(str.strip, text.splitlines()):
        if line[:1].isdigit():
            lines.append(line)
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            settings[name.strip()] = value.strip()
    return settings, lines


class _Writer:
    """Writes what is drawn as Kafka would, and reads it back as the product does."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._line_numbers: dict[str, int] = {}
        self._connections: dict[tuple[str, str], dict[str, Any]] = {}

    def take(self, at: float, match: re.Match[str]) -> None:
        speaker, what = match["who"], match["what"].strip()
        broker, partition = match["broker"] or "1", int(match["partition"] or PARTITION)
        if speaker == "log":
            self._log_of_group(at, what, broker, partition)
        elif speaker == "record":
            self._record(at, what, partition)
        else:
            self._request(at, speaker, what, broker)

    # --- lines ---------------------------------------------------------------------------------------------------

    def _log_of_group(self, at: float, message: str, broker: str, partition: int) -> None:
        if not self.history.is_java:
            self.log(at, f"[GroupCoordinator {broker}]: {message}", "kafka.coordinator.group.GroupCoordinator", broker)
            return
        is_of_all = message in _OF_ALL_GROUPS or _PARTITION_IN_TEXT in message
        of_partition = "" if is_of_all else f" topic=__consumer_offsets partition={partition}"
        logger = "org.apache.kafka.coordinator.group.GroupMetadataManager"
        self.log(at, f"[GroupCoordinator id={broker}{of_partition}] {message}", logger, broker)

    def log(self, at: float, message: str, logger: str, broker: str = "1") -> None:
        """Write a line of a broker's log."""
        head, _, rest = message.partition("\n")
        text = f"[{_stamp(at)}] INFO {head} ({logger})" if not rest else f"[{_stamp(at)}] INFO {message}\n ({logger})"
        found = self._read(text, at, f"{broker}/server.log", broker)
        events = [row for table, row in found if table == "coordinator_events" and row["event"] != "unrecognised"]
        if not events:
            raise ValueError(f"no line of a coordinator: {message}")
        self.history.events += events

    # --- requests ------------------------------------------------------------------------------------------------

    def _request(self, at: float, client: str, what: str, broker: str) -> None:
        said = Said(what, at)
        name = connection_of(50_000 + len(self._connections), self.history.is_java)
        connection = self._connections.setdefault((client, broker), {"connection": name, "correlationId": 0})
        connection["correlationId"] += 1
        text = request_line(said, _stamp(said.until), at, GROUP_ID, client, connection)
        for table, row in self._read(text, said.until, f"{broker}/kafka-request.log", broker):
            if table != "group_requests":
                raise ValueError(f"{row['detail']}: {what}")
            self.history.requests.append(row)

    def _read(self, text: str, at: float, source_file: str, broker: str) -> Iterable[tuple[str, Row]]:
        self._line_numbers[source_file] = number = self._line_numbers.get(source_file, 0) + 1
        place = {"cluster": CLUSTER, "broker": broker, "source_file": source_file, "line_number": number}
        for fact in parse_entry(text, ORIGIN_MS + int(at)):
            yield fact.table, _complete(fact.table, {**asdict(fact), **place})

    # --- records -------------------------------------------------------------------------------------------------

    def _record(self, at: float, what: str, partition: int) -> None:
        key = key_bytes(GROUP_METADATA, {"group": GROUP_ID})
        value = None if what == "tombstone" else value_bytes(GROUP_METADATA, _record_value(at, what), 3)
        place = {
            "cluster": CLUSTER,
            "topic_partition_of_record": partition,
            "record_offset": len(self.history.records),
            "recorded_at": ORIGIN_MS + int(at),
        }
        read_back = decode(key, value)
        self.history.records.append(_complete(read_back.table, {**read_back.row, **place}))


def _record_value(at: float, what: str) -> Row:
    """Return the fields of a GroupMetadata value by Kafka's names."""
    said = {word: rest for word, _, rest in (phrase.strip().partition(" ") for phrase in what.split(","))}
    unknown = set(said) - _RECORD_WORDS
    if unknown or not {"members", "empty", "new"} & set(said):
        raise ValueError(f"no record: {what}")
    has_members = "members" in said
    return {
        "protocolType": "" if "new" in said else PROTOCOL_TYPE,
        "generation": int(said["generation"]),
        "protocol": said.get("protocol", PROTOCOL) if has_members else None,
        "leader": said["leader"] if has_members else None,
        "currentStateTimestamp": ORIGIN_MS + int(said.get("since", at)),
        "members": [
            {
                "memberId": member.member_id,
                "groupInstanceId": member.group_instance_id,
                "clientId": member.client_id,
                "clientHost": CLIENT_HOST,
                "rebalanceTimeout": int(said.get("rebalance", REBALANCE_TIMEOUT_MS)),
                "sessionTimeout": int(said.get("session", SESSION_TIMEOUT_MS)),
                "subscription": member.subscription,
                "assignment": assigned,
            }
            for member, assigned in (assignments(said["members"]) if has_members else [])
        ],
    }


def _stamp(at: float) -> str:
    return (ORIGIN + timedelta(milliseconds=int(at))).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]


def _complete(table: str, row: Row) -> Row:
    """Give a row all the columns of its table."""
    return {column: row.get(column) for column in BY_NAME[table].columns}
