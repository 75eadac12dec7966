"""What the evidence says of the brokers: their dialect and settings, and when they coordinated the group."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from transforms.coordinator.answers import Error
from transforms.coordinator.evidence import Row
from transforms.coordinator.order import offsets_partition
from transforms.coordinator.settings import CoordinatorSettings

LOAD_EVENTS = {
    "coordinator_elected": Error.COORDINATOR_LOAD_IN_PROGRESS,
    "load_scheduled": Error.COORDINATOR_LOAD_IN_PROGRESS,
    "load_finished": Error.NONE,
    "load_failed": Error.NOT_COORDINATOR,
    "coordinator_resigned": Error.NOT_COORDINATOR,
    "unload_scheduled": Error.NOT_COORDINATOR,
    "unload_finished": Error.NOT_COORDINATOR,
}
"""What a broker answers for the groups of a partition after each event of the partition's coordinator."""

BROKER_EVENTS = frozenset({"broker_settings", "broker_version"})
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
        loads: by broker, times and answers of `LOAD_EVENTS`, in order.
    """

    settings: CoordinatorSettings
    are_settings_printed: bool = False
    begins_empty: bool = False
    loads: dict[str, list[tuple[float, Error]]] = field(default_factory=dict)

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
        for row in events:
            answer = LOAD_EVENTS.get(row["event"])
            if answer is not None:
                brokers.loads.setdefault(row["broker"], []).append((float(row["logged_at"]), answer))
        brokers.begins_empty = _begins_empty(group_id, records, events, requests)
        return brokers

    def refusal(self, broker: str, at: float) -> Error | None:
        """Return what a broker answers that does not coordinate the group; None if no line says so."""
        loads = self.loads.get(broker)
        if not loads:
            return None
        # A line has whole milliseconds, so it may have been written up to one later than it says.
        index = bisect_right(loads, (at - 1.0, Error.UNKNOWN_MEMBER_ID))
        if index == 0:
            return Error.NOT_COORDINATOR
        answer = loads[index - 1][1]
        return answer if answer is not Error.NONE else Error.NOT_COORDINATOR if index < len(loads) else None


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
    loaded = [row["logged_at"] for row in events if row["event"] == "load_finished"]
    taken_over = any(row["event"] == "group_loaded" and row["group_id"] == group_id for row in events)
    first = min((row["answered_at"] for row in requests), default=None)
    if loaded and not taken_over and first is not None and loaded[0] <= first + 1000:
        return True
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
        reigns = _reigns([row for row in ordered if row["topic_partition_of_group"] in (partition, computed)])
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
    """Stretches of time in which a broker held the partition, from its load until it gave it up."""
    reigns: list[dict[str, Any]] = []
    open_reigns: dict[str, dict[str, Any]] = {}
    for row in events:
        epoch = (row["attributes"] or {}).get("epoch", "")
        if row["event"] == "load_finished" and row["broker"] not in open_reigns:
            reign = {
                "broker": row["broker"],
                "epoch": int(epoch) if epoch.isdigit() else None,
                "from_at": row["logged_at"],
                "to_at": None,
            }
            open_reigns[row["broker"]] = reign
            reigns.append(reign)
        elif row["event"] in ("coordinator_resigned", "unload_scheduled") and row["broker"] in open_reigns:
            open_reigns.pop(row["broker"])["to_at"] = row["logged_at"]
    return reigns
