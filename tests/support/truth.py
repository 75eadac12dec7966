"""What the clients of a capture saw, from its `truth.jsonl`, as plain values.

Nothing here is read from the broker, and nothing of the product is used to read it. Times are epoch milliseconds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

RAW_APIS = ("JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "LeaveGroup")
"""APIs of which the raw clients noted every answer."""


@dataclass(frozen=True)
class Request:
    """One request of a raw client and its answer."""

    api: str
    group_id: str
    client: str
    member_ids: tuple[str, ...]
    generation: int | None
    error: int
    sent_at: int
    answered_at: int
    tag: str | None = None


@dataclass(frozen=True)
class Join(Request):
    """A JoinGroup: the member set that the leader was told, and nothing for the others."""

    members: frozenset[str] = frozenset()
    leader: str = ""
    protocol: str | None = None


@dataclass(frozen=True)
class Sync(Request):
    """A SyncGroup: the assignment that the member was told, as (topic, partition)."""

    partitions: frozenset[tuple[str, int]] = frozenset()

    @property
    def member_id(self) -> str:
        """Member that asked."""
        return self.member_ids[0]


@dataclass(frozen=True)
class Snapshot:
    """What the admin API said of one group at one moment."""

    group_id: str
    at: int
    state: str
    assignor: str
    kind: str
    members: dict[str, frozenset[tuple[str, int]]]

    def says_the_same_as(self, other: Snapshot) -> bool:
        """Whether two snapshots differ in nothing but their time."""
        return (self.state, self.assignor, self.kind, self.members) == (
            other.state,
            other.assignor,
            other.kind,
            other.members,
        )


@dataclass(frozen=True)
class Truth:
    """Everything that the clients of one capture noted."""

    name: str
    folder: Path
    requests: tuple[Request, ...]
    snapshots: dict[str, tuple[Snapshot, ...]] = field(default_factory=dict)

    @cached_property
    def joins(self) -> list[Join]:
        """The JoinGroup requests."""
        return [request for request in self.requests if isinstance(request, Join)]

    @cached_property
    def syncs(self) -> list[Sync]:
        """The SyncGroup requests."""
        return [request for request in self.requests if isinstance(request, Sync)]

    @cached_property
    def raw_groups(self) -> frozenset[str]:
        """Groups whose every client noted what it did."""
        return frozenset(request.group_id for request in self.requests)

    @property
    def modern_groups(self) -> frozenset[str]:
        """Groups that the admin API never called classic."""
        return frozenset(
            group for group, series in self.snapshots.items() if all(shot.kind != "CLASSIC" for shot in series)
        )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _partitions(names: list[str]) -> frozenset[tuple[str, int]]:
    pairs = (name.rsplit("-", 1) for name in names)
    return frozenset((topic, int(partition)) for topic, partition in pairs)


def _request(line: dict) -> Request:
    member = line["member"]
    common = {
        "api": line["api"],
        "group_id": line["group"],
        "client": line["name"],
        "member_ids": tuple(member) if isinstance(member, list) else (member,),
        "generation": line.get("generation"),
        "error": line["error"],
        "sent_at": _ms(line["t0"]),
        "answered_at": _ms(line["t1"]),
        "tag": line.get("tag"),
    }
    if line["api"] == "JoinGroup":
        return Join(**common, members=frozenset(line["members"]), leader=line["leader"], protocol=line["protocol"])
    if line["api"] == "SyncGroup":
        told = ((topic, number) for topic, numbers in line["assignment"].items() for number in numbers)
        return Sync(**common, partitions=frozenset(told))
    return Request(**common)


def _snapshot(line: dict) -> Snapshot:
    return Snapshot(
        group_id=line["group"],
        at=_ms(line["t0"]),
        state=line["state"],
        assignor=line["assignor"],
        kind=line["gtype"],
        members={member: _partitions(told["parts"]) for member, told in line["members"].items()},
    )


@cache
def read_truth(folder: Path) -> Truth:
    """Read the truth of one unpacked capture."""
    requests: list[Request] = []
    series: dict[str, list[Snapshot]] = {}
    with (folder / "truth.jsonl").open(encoding="utf-8") as lines:
        for text in lines:
            line = json.loads(text)
            if line["api"] in RAW_APIS:
                requests.append(_request(line))
            elif line["api"] == "_describe":
                series.setdefault(line["group"], []).append(_snapshot(line))
    return Truth(
        name=folder.name,
        folder=folder,
        requests=tuple(requests),
        snapshots={group: tuple(sorted(shots, key=lambda shot: shot.at)) for group, shots in series.items()},
    )
