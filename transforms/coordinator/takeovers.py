"""Takes the lines by which a coordinator takes a group over or gives it up."""

from __future__ import annotations

from collections.abc import Callable

from transforms.coordinator.conversion import CLASSIC_TYPES, become_modern, converted
from transforms.coordinator.events import Cause, Event
from transforms.coordinator.evidence import Row
from transforms.coordinator.records import load
from transforms.coordinator.replaying import Replay

SOURCE = "broker_log"


def _cause(line: Row) -> Cause:
    return Cause(float(line["logged_at"]), source=SOURCE)


def _load_scheduled(replay: Replay, line: Row) -> None:
    replay.has_loaded.discard(line["broker"])


def _loaded(replay: Replay, line: Row) -> None:
    """A broker found the group in the partition; one that coordinates it already keeps what it has."""
    replay.has_loaded.add(line["broker"])
    if (line["attributes"] or {}).get("group_type", "classic") not in CLASSIC_TYPES:
        replay.coordinator = line["broker"]
        become_modern(replay, _cause(line))
    elif replay.coordinator != line["broker"] or replay.machine.present is None:
        replay.coordinator = line["broker"]
        load(replay, line, _cause(line))


def _load_finished(replay: Replay, line: Row) -> None:
    """A new coordinator that did not find the group has none, whatever the old one held."""
    broker, at = line["broker"], float(line["logged_at"])
    if broker in replay.has_loaded or replay.coordinator == broker:
        return
    if replay.coordinator is not None:
        _unload(replay, line)
        replay.take_note(at, None)  # in the life that may end here
        rows = list(replay.timeline.of_life(replay.life))
        counted = [row for row in rows if row.is_counted]
        if counted and not any("offsets" in row.facts.sources for row in counted):
            replay.begin_life(at, SOURCE)  # none of its generations was stored
        for row in rows:
            row.was_lost = not row.is_counted
    replay.coordinator = broker
    replay.is_absence_known = True


def _unloaded(replay: Replay, line: Row) -> None:
    if replay.coordinator in (None, line["broker"]):
        _unload(replay, line)


def _unload(replay: Replay, line: Row) -> None:
    replay.is_absence_known = False
    if replay.machine.present is not None:
        replay.machine.apply(Event.GROUP_UNLOADED, _cause(line))


def _started(replay: Replay, line: Row) -> None:
    """A broker begins with nothing: what it coordinated before is gone, until it or another loads it."""
    if replay.coordinator == line["broker"]:
        replay.coordinator = None


def _converted(replay: Replay, line: Row) -> None:
    converted(replay, line, _cause(line))


TAKEOVERS: dict[str, Callable[[Replay, Row], None]] = {
    "load_scheduled": _load_scheduled,
    "group_loaded": _loaded,
    "load_finished": _load_finished,
    "group_unloaded": _unloaded,
    "coordinator_started": _started,
    "group_converted": _converted,
}
"""What each such event does."""
