"""How findings put their advice into words: durations, settings, and who is meant."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from math import ceil, floor

SESSION_SETTINGS = {
    "classic": "session.timeout.ms",
    "consumer": "consumer.session.timeout.ms",
    "share": "share.session.timeout.ms",
    "streams": "streams.session.timeout.ms",
}
"""By type of the group: what says how long its members may be silent. But for classic groups it is a setting of the
group (GroupConfig), which clients have no say in and no record tells."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

_ROOM = 1.25
"""Advised timeouts are longer than the longest time seen by this factor: the next one may be a little longer."""


def duration(ms: float) -> str:
    """Return a duration as one reads it."""
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < 120_000:
        return f"{ms / 1000:.1f} s"
    minutes = round(ms / 60_000)
    if minutes <= 120:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours:,} h {rest} min" if rest else f"{hours:,} h"


def stamp(at: float) -> str:
    """Return a moment (epoch ms) as one reads it, in UTC; one that no calendar has as the number that it is."""
    try:
        return f"{_EPOCH + timedelta(seconds=floor(at / 1000)):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:
        return f"{at:.0f} ms"


def roomy_ms(seen_ms: float) -> int:
    """Return a timeout that covers what was seen, in whole seconds."""
    return ceil(seen_ms * _ROOM / 1000) * 1000


def setting(name: str, value: int, now: int | None) -> str:
    """Return a setting with the value advised, and the one it has; with the unit, where its name has none."""
    unit = "" if name.endswith("ms") else " ms"
    if now is None:
        return f"{name}={value}{unit}"
    return f"{name}={value}{unit} ({'as now' if value == now else f'now {now}{unit}'})"


def times(count: int) -> str:
    """Return how often."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def counted(count: int, one: str, many: str) -> str:
    """Return how many, with the verb."""
    return f"1 {one}" if count == 1 else f"{count} {many}"


def who(client_id: str | None, host: str | None) -> str:
    """Return a client with its host."""
    if client_id is None:
        return "a client that the data does not name"
    return f"{client_id} on {host}" if host else client_id


def listed(names: list[str], most: int = 3) -> str:
    """Return some names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
