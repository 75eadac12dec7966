"""Whether another process of this machine is still there, where the operating system lets one tell."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")
_START_FIELD = 19
"""Of /proc/<pid>/stat, counted behind the name in brackets: when the process began, in ticks since the boot."""


@lru_cache(maxsize=1)
def machine() -> str:
    """Return what is the same for two processes only if they see each other's numbers; empty where that is not known.

    It is of the present boot, as numbers are given anew after it; and two containers on one machine each count their
    own processes.
    """
    try:
        return f"{_BOOT_ID.read_text(encoding='ascii').strip()}/{_NAMESPACE.readlink()}"
    except OSError:
        return ""


def process_start(process_id: int) -> int | None:
    """Return when a process began, in ticks since the boot; None if it does not exist, or is about to end."""
    try:
        status = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *fields = status.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[_START_FIELD - 1])


def is_alive(process_id: int, start: int) -> bool:
    """Tell whether a process is the one that began then, and not another one that has got its number."""
    return process_start(process_id) == start
