"""The three lines of a broker's log that frame a rebalance, read with expressions of the tests' own.

`transforms.loglines` is not used: what is checked must not be the witness. Times are epoch milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from pathlib import Path

_STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\] ")
_PREPARING = re.compile(
    r"Preparing to rebalance group (\S+) in state \w+ with old generation (\d+) (?:\(__consumer_offsets-\d+\) )?"
    r"\(reason: (.*?)\)\.? \("
)
_STABILIZED = re.compile(r"Stabilized group (\S+) generation (\d+)(?: \(\S+\))?(?: with (\d+) members)?")
_EMPTY = re.compile(r"Group (\S+) with generation (\d+) is now empty")
_LEFT_JAVA = re.compile(
    r"\[Group (\S+)\] (Pending member|Member) (\S+) has left group through explicit `LeaveGroup` request; "
    r"client reason: (.*) \(org"
)
_LEFT_SCALA = re.compile(r"Member\[group\.instance\.id \S+, member\.id (\S+)\] in group (\S+) has left")
_MEMBER = re.compile(r"[\w.-]+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

CAUSES: tuple[tuple[str, str], ...] = (
    (r"Adding new member ", "member_joined"),
    (r"Updating metadata for static member ", "static_member_replaced"),
    (r"Group's selectedProtocol will change", "static_member_replaced"),
    (r"Updating metadata for member ", "subscription_changed"),
    (r"Leader .* client reason: cached metadata has changed$", "topic_metadata_changed"),
    (r"[Ll]eader .* re-joining", "leader_rejoined"),
    (r"Removing member .* client reason: consumer poll timeout has expired\.$", "poll_timeout"),
    (r"[Rr]emoving member .* on LeaveGroup", "member_left"),
    (r"removing member .* on heartbeat expiration", "session_expired"),
    (r"Removing .* on pending sync request expiration", "sync_timeout"),
    (r"Error \w+ when storing group assignment", "assignment_store_failed"),
)
"""Reason, as both coordinators print it from 2.1 on, and the trigger it stands for; the first match counts."""

JAVA_LEAVE_MS = 50
"""How long before its "Preparing" line the Java coordinator prints who left, at the most."""


@dataclass(frozen=True)
class Prepared:
    """A "Preparing to rebalance" line: the rebalance into generation `generation`."""

    group_id: str
    generation: int
    at: int
    reason: str
    trigger: str
    culprits: tuple[str, ...]


@dataclass(frozen=True)
class Reached:
    """A "Stabilized" or "is now empty" line; up to 2.7 the former has no count of members."""

    group_id: str
    generation: int
    at: int
    member_count: int | None


@dataclass(frozen=True)
class BrokerLines:
    """The lines of one capture, each kind in file order."""

    prepared: tuple[Prepared, ...]
    stabilized: tuple[Reached, ...]
    emptied: tuple[Reached, ...]


def moment(line: str) -> int | None:
    """Return when a line was logged."""
    match = _STAMP.match(line)
    if match is None:
        return None
    second = datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc)
    return int(second.timestamp()) * 1000 + int(match[2])


def _cause(reason: str, leaves: list[tuple[str, str, str]]) -> tuple[str, tuple[str, ...]]:
    """Trigger and culprits of a reason; `leaves` are the coordinator's own lines on who has just left.

    Those of the Java coordinator, and those of 2.4 to 2.8, which come before the rebalance as well.
    """
    culprits = tuple(_MEMBER.findall(reason))
    if reason == "removing member  on LeaveGroup":
        return "member_left", tuple(left for _, left, _ in leaves)
    if not reason.startswith("explicit `LeaveGroup` request"):
        return next((word for pattern, word in CAUSES if re.match(pattern, reason)), "unknown"), culprits
    # An admin names members by instance, and the reason then names nobody: all leaves just printed are meant.
    meant = [left for left in leaves if left[1] in culprits] or leaves
    kind, member, client_reason = meant[0] if meant else ("Member", "", "")
    culprits = tuple(left for _, left, _ in meant) or culprits
    if kind == "Pending member":
        return "pending_member_left", culprits
    return ("poll_timeout" if client_reason == "consumer poll timeout has expired." else "member_left"), culprits


def _server_lines(logs: Path) -> Iterator[str]:
    """Lines of one broker's log, or of each broker's in turn."""
    for path in sorted(logs.rglob("server.log")):
        yield from path.read_text(encoding="utf-8").splitlines()


@cache
def broker_lines(folder: Path) -> BrokerLines:
    """Read the lines of one unpacked capture."""
    prepared: list[Prepared] = []
    stabilized: list[Reached] = []
    emptied: list[Reached] = []
    leaves: dict[str, list[tuple[int, str, str, str]]] = {}
    for line in _server_lines(folder / "broker_logs"):
        at = moment(line)
        if at is None:
            continue
        if match := _LEFT_JAVA.search(line):
            leaves.setdefault(match[1], []).append((at, match[2], match[3], match[4]))
        elif match := _LEFT_SCALA.search(line):
            leaves.setdefault(match[2], []).append((at, "Member", match[1], ""))
        elif match := _PREPARING.search(line):
            group = match[1]
            recent = [left[1:] for left in leaves.pop(group, []) if at - left[0] <= JAVA_LEAVE_MS]
            trigger, culprits = _cause(match[3], recent)
            prepared.append(Prepared(group, int(match[2]) + 1, at, match[3], trigger, culprits))
        elif match := _STABILIZED.search(line):
            stabilized.append(Reached(match[1], int(match[2]), at, int(match[3]) if match[3] else None))
        elif match := _EMPTY.search(line):
            emptied.append(Reached(match[1], int(match[2]), at, 0))
    return BrokerLines(_begun_once(prepared, (*stabilized, *emptied)), tuple(stabilized), tuple(emptied))


def _begun_once(prepared: list[Prepared], reached: tuple[Reached, ...]) -> tuple[Prepared, ...]:
    """Leave out what was begun again because the coordinator had changed and knew nothing of it."""
    ends: dict[tuple[str, int], list[int]] = {}
    for line in reached:
        ends.setdefault((line.group_id, line.generation), []).append(line.at)
    following: dict[str, Prepared] = {}
    kept = []
    for line in sorted(prepared, key=lambda line: line.at, reverse=True):
        again = following.get(line.group_id)
        following[line.group_id] = line
        is_same = again is not None and again.generation == line.generation
        reached_at = ends.get((line.group_id, line.generation), ())
        if again is None or not is_same or any(line.at <= at < again.at for at in reached_at):
            kept.append(line)
    return tuple(reversed(kept))
