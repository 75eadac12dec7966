"""Numbers, moments and names as the report writes them: one way each, in every chart and table.

Moments are epoch milliseconds in UTC; None is "not known" everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

NOT_KNOWN = "not known"

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000))


def moment(at: float | None) -> str:
    """Return a moment with its date and milliseconds."""
    return NOT_KNOWN if at is None else f"{_date_time(at):%Y-%m-%d %H:%M:%S}.{int(at) % 1000:03d}"


def clock(at: float | None) -> str:
    """Return a moment without its date."""
    return NOT_KNOWN if at is None else f"{_date_time(at):%H:%M:%S}.{int(at) % 1000:03d}"


def span(begin: float | None, end: float | None) -> str:
    """Return two moments to the second, the date of the second one only where it is another day."""
    if begin is None or end is None:
        return f"{'?' if begin is None else _second(begin)} to {'?' if end is None else _second(end)}"
    first, last = _second(begin), _second(end)
    return f"{first} to {last[11:] if first[:10] == last[:10] else last}"


def duration(ms: float | None) -> str:
    """Return a length of time in its two largest units."""
    if ms is None:
        return NOT_KNOWN
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1000:.0f} s" if ms % 1000 == 0 else f"{ms / 1000:.1f} s"
    place = next(at for at, (_, size) in enumerate(_UNITS) if ms >= size)
    (large, size), (small, part) = _UNITS[place], _UNITS[place + 1]
    rest = int(ms % size // part)
    return f"{int(ms // size)} {large} {rest} {small}" if rest else f"{int(ms // size)} {large}"


def number(value: float | None) -> str:
    """Return a number with its thousands apart."""
    return NOT_KNOWN if value is None else f"{value:,}"


def count(value: int | None, noun: str, plural: str = "") -> str:
    """Return a number of things."""
    if value is None:
        return f"{noun}: {NOT_KNOWN}"
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def share(part: float | None, whole: float | None = 1) -> str:
    """Return a share in per cent; one that is not whole is never rounded up to 100 %, nor one that is there to 0 %."""
    if part is None or not whole:
        return NOT_KNOWN
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "< 0.1 %"
    if 99.9 < percent < 100:
        return f"{int(percent * 1000) / 1000:.3f} %"
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1f} %"


def words(code: str | None) -> str:
    """Return a coded value in words: session_expired is "session expired"."""
    return NOT_KNOWN if code is None else code.replace("_", " ")


def tally(counts: Mapping[str, int] | None) -> str:
    """Return counted words, the most frequent first."""
    ordered = sorted((counts or {}).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{words(name)} {value:,}" for name, value in ordered)


def client(client_id: str | None, host: str | None) -> str:
    """Return who a client is, and where."""
    if client_id is None:
        return NOT_KNOWN
    return f"{client_id} at {host}" if host else client_id


def _second(at: float) -> str:
    return f"{_date_time(at):%Y-%m-%d %H:%M:%S}"


def _date_time(at: float) -> datetime:
    return _EPOCH + timedelta(milliseconds=at)
