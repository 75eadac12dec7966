"""What targets of Kafka's own groups gave and nobody had while they were Stable is told, from moment to moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import pytest

from tests.oracle_modern.histories import Step
from tests.oracle_modern.kept import kept
from tests.unit.coordinator.evidence_rows import GROUP, modern_records
from transforms.coordinator.replay import replay_group

Orphan = tuple[str, int, str, int]
"""Topic id or subtopology, partition, member that is to have it, and epoch."""

_PARTS = {
    "consumer": ("target", ("assigned", "pendingRevocation")),
    "share": ("target", ("assigned",)),
    "streams": ("targetActive", ("active", "activePendingRevocation")),
}
"""By type, where the oracle prints what a member is to have, and what it has."""

_WITH_SOME = {("regex", 68): 3}
"""Histories with rows, and how many: in this one a target has a topic that the member did not subscribe to."""


def _orphans(group: Step) -> Iterator[Orphan]:
    """What a group gives to members and nobody has; several members may be to have one, the first by id stands."""
    if group["type"] not in _PARTS or not _is_settled(group):
        return
    target, having = _PARTS[group["type"]]
    had = {part for member in group["members"].values() for name in having for part in _parts(member[name])}
    told: set[tuple[str, int]] = set()
    for name, member in sorted(group["members"].items()):
        for part in _parts(member[target]):
            if part not in had | told:
                told.add(part)
                yield (*part, name, group["epoch"])


def _is_settled(group: Step) -> bool:
    """Share groups are Stable whatever their members have got to."""
    epochs = {group["epoch"], group["assignmentEpoch"], *(member["epoch"] for member in group["members"].values())}
    return group["state"] == "Stable" and len(epochs) == 1


def _parts(numbers: dict[str, Iterable[str | int]]) -> Iterator[tuple[str, int]]:
    return ((name, int(number)) for name, each in numbers.items() for number in each)


def _expected(steps: list[Step]) -> set[tuple[Orphan, int, int | None]]:
    since: dict[Orphan, int] = {}
    found: set[tuple[Orphan, int, int | None]] = set()
    now: set[Orphan] = set()
    for step in steps:
        if step["group"] != "same":
            now = set(_orphans(step["group"]))
        found |= {(each, at, step["t"]) for each, at in since.items() if each not in now and at < step["t"]}
        since = {each: since.get(each, step["t"]) for each in now}
    return found | {(each, at, None) for each, at in since.items()}


def _replayed(steps: list[Step]) -> list[tuple[Orphan, int, int | None]]:
    records = modern_records(
        *(
            (step["t"], [(each["type"], _name(each["key"]), each["value"]) for each in step["records"]])
            for step in steps
        )
    )
    own = [record for record in records if record["record_type"] > 2]
    rows = replay_group("c", GROUP, [], [], [], 50, modern_records=own)["orphaned_partitions"]
    return [
        (
            (row["topic"], row["partition"], row["member_id"], row["generation"]),
            row["from_at"],
            row["to_at"],
        )
        for row in rows
    ]


def _name(key: dict[str, str]) -> str:
    return key.get("memberId") or key.get("regularExpression") or ""


@pytest.mark.parametrize("name", ["histories_modern", "histories_share_streams"])
def test_what_nobody_has_of_a_target_is_told_from_the_moment_to_the_moment(name: str):
    found: dict[tuple[str, int], int] = {}
    for key, of_history in groupby(kept(name), lambda step: (step["kind"], step["history"])):
        steps = list(of_history)
        told = _replayed(steps)
        assert len(set(told)) == len(told), key
        assert set(told) == _expected(steps), key
        if told:
            found[key] = len(told)
    assert found == (_WITH_SOME if name == "histories_modern" else {})
