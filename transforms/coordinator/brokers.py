"""What the evidence says of the brokers: their dialect and settings, and when they coordinated the group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from transforms.coordinator.answers import Error
from transforms.coordinator.evidence import Row
from transforms.coordinator.order import offsets_partition
from transforms.coordinator.ownership import BROKER_LIFE, Ownership
from transforms.coordinator.settings import CoordinatorSettings

BROKER_EVENTS = frozenset({"broker_settings", "broker_version"}) | BROKER_LIFE
"""Events that concern every group of a broker."""

MARKER_GENERATION = 0
"""Only the Java coordinator writes a record of generation 0, when a classic group comes into being."""


@dataclass(slots=True)
class Brokers:
    """The brokers, as far as they concern one group.

    Attributes:
        settings: settings in force when the evidence begins.
        are_settings_printed: a broker printed its settings; else they are Kafka's defaults, bent to what it let in.
        begins_empty: the group's partition was loaded while the evidence lasts, and the group was not in it.
        ownership: which of them coordinated the group's partition when.
    """

    settings: CoordinatorSettings
    are_settings_printed: bool = False
    begins_empty: bool = False
    ownership: Ownership = field(default_factory=lambda: Ownership("java"))

    @classmethod
    def of(cls, group_id: str, records: list[Row], events: list[Row], requests: list[Row]) -> Brokers:
        """Read dialect, settings and loads from a group's evidence."""
        events = sorted((row for row in events if row["logged_at"] is not None), key=_moment)
        settings = CoordinatorSettings(dialect=_dialect(records, events, requests))
        version = next((row for row in events if row["event"] == "broker_version"), None)
        if version is not None:
            settings = settings.of_version((version["attributes"] or {}).get("version", ""))
        printed = next((row for row in events if row["event"] == "broker_settings"), None)
        if printed is not None:
            settings = settings.updated(printed["attributes"] or {})
        else:
            settings = _allowing(settings, requests)
        brokers = cls(settings, are_settings_printed=printed is not None)
        brokers.ownership = Ownership.of(events, settings.dialect)
        brokers.begins_empty = _begins_empty(group_id, records, events, requests)
        return brokers


def _moment(row: Row) -> tuple[float, str, int, int]:
    return (row["logged_at"], row["source_file"], row["line_number"], row["seq"])


def _dialect(records: list[Row], events: list[Row], requests: list[Row]) -> str:
    """Find the coordinator's dialect: from its lines, else from what only one of the two does."""
    spoken = [row["dialect"] for row in events if row["dialect"] is not None]
    if spoken:
        return str(max(sorted(set(spoken)), key=spoken.count))
    if any(row["generation"] == MARKER_GENERATION and not row["members"] for row in records):
        return "java"
    connections = [row["connection"] for row in requests if row["connection"]]
    if connections:
        # Kafka 4 adds the number of the processor: local:port-remote:port-processor-index.
        return "java" if connections[0].count("-") >= 3 else "scala"
    return "java"


def _allowing(settings: CoordinatorSettings, requests: list[Row]) -> CoordinatorSettings:
    """Widen the bounds of session timeouts to those that the broker accepted."""
    accepted = [
        row["session_timeout_ms"]
        for row in requests
        if row["api"] == "JoinGroup"
        and row["session_timeout_ms"]
        and row["error_code"] != Error.INVALID_SESSION_TIMEOUT
    ]
    if not accepted:
        return settings
    return replace(
        settings,
        min_session_timeout_ms=min(settings.min_session_timeout_ms, *accepted),
        max_session_timeout_ms=max(settings.max_session_timeout_ms, *accepted),
    )


def _begins_empty(group_id: str, records: list[Row], events: list[Row], requests: list[Row]) -> bool:
    """Whether the group is known not to have been there when the evidence begins."""
    loaded = next((row["logged_at"] for row in events if row["event"] == "load_finished"), None)
    taken_over = next((row["logged_at"] for row in events if row["event"] == "group_loaded"), None)
    first = min((row["answered_at"] for row in requests), default=None)
    if loaded is not None and first is not None and loaded <= first + 1000:
        return taken_over is None or taken_over > loaded
    joins = [row for row in requests if row["api"] == "JoinGroup" and row["error_code"] == Error.NONE]
    told = min(joins, key=lambda row: row["answered_at"], default=None)
    return told is not None and told["answered_generation"] == 1


DEFAULT_PARTITION_COUNT = 50
"""offsets.topic.num.partitions unless set otherwise."""


def coordinator_rows(
    group_id: str, records: Iterable[Row], events: Iterable[Row], partitions: Iterable[int], partition_count: int | None
) -> list[dict[str, Any]]:
    """Return who coordinated a group when: rows of `gold.coordinators`, without the cluster."""
    ordered = sorted((row for row in events if row["logged_at"] is not None), key=_moment)
    count = partition_count or _printed_partition_count(ordered) or DEFAULT_PARTITION_COUNT
    computed = offsets_partition(group_id, count)
    observed = (
        {row["topic_partition_of_record"] for row in records}
        | set(partitions)
        | {
            row["topic_partition_of_group"]
            for row in ordered
            if row["group_id"] == group_id and row["topic_partition_of_group"] is not None
        }
    )
    rows = []
    for partition in sorted(observed) or [None]:
        place = {
            "group_id": group_id,
            "observed_partition": partition,
            "computed_partition": computed,
            "agrees": None if partition is None else partition == computed,
        }
        reigns = _reigns(
            [
                row
                for row in ordered
                if row["topic_partition_of_group"] == (computed if partition is None else partition)
                or row["event"] in BROKER_LIFE
            ]
        )
        unknown: list[dict[str, Any]] = [{"broker": None, "epoch": None, "from_at": None, "to_at": None}]
        rows += [{**place, **reign} for reign in reigns or unknown]
    return rows


def _printed_partition_count(events: list[Row]) -> int | None:
    for row in reversed(events):
        text = (row["attributes"] or {}).get("offsets.topic.num.partitions", "")
        if row["event"] == "broker_settings" and text.isdigit():
            return int(text)
    return None


def _reigns(events: list[Row]) -> list[dict[str, Any]]:
    """Stretches of time in which a broker held the partition, from its load until it gave it up.

    A broker that died says nothing any more: its time is up when the partition is loaded by the next.
    """
    reigns: list[dict[str, Any]] = []
    for row in events:
        epoch, event = (row["attributes"] or {}).get("epoch", ""), row["event"]
        now = reigns[-1] if reigns and reigns[-1]["to_at"] is None else None
        if event == "load_finished":
            if now is not None:
                now["to_at"] = row["logged_at"]
            number = int(epoch) if epoch.isdigit() else None
            reigns.append({"broker": row["broker"], "epoch": number, "from_at": row["logged_at"], "to_at": None})
        elif now is not None and now["broker"] == row["broker"] and event in _GIVES_UP:
            now["to_at"] = row["logged_at"]
    return reigns


_GIVES_UP = frozenset({"coordinator_resigned", "unload_scheduled"}) | BROKER_LIFE
"""Events by which a broker ends its own time."""
