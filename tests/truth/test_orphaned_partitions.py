"""What nobody had although a target gave it, against what a real broker described of its Stable groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.support.captures import MODERN
from tests.support.pure_pipeline import Row, Tables
from tests.truth.described_groups import SLACK_MS, described, parts_told, timelines, topics_of

_LEAST = {
    "modern-4.2.0": (1_000, 4),
    "modern-4.1.1": (1_000, 0),
    "modern-3.9.1": (300, 0),
    "modern-chaos-4.2.0": (250, 0),
    "modern-failover-4.1.1": (20, 0),
    "modern-policy-disabled-4.2.0": (40, 0),
    "modern-policy-upgrade-4.2.0": (80, 0),
    "modern-policy-downgrade-4.2.0": (8, 0),
}
"""How many describes of Stable groups are compared at least, and how many of them show partitions that nobody has."""

_BY_A_NEW_REGEX = {("logs-regex", 6): 5, ("logs-regex", 8): 3}
"""By group and epoch, partitions of a member that changed its regular expression.

The broker looks at a new one ten seconds after the last at the earliest. Until then it matches nothing: the member has
to give back what it had, and no bump gives that to anybody else.
"""

Part = tuple[str, int]


def _left_over(line: Row) -> set[Part]:
    """What members are to have, and none has, by the broker; of share groups it does not say what they are to have."""
    held = {part for member in line["members"].values() for part in _read(member)}
    return {part for member in line["members"].values() for part in _read(_targets(member))} - held


def _targets(member: Row) -> Row:
    """What a member is to have, told as what members have is."""
    return {"tasks" if "tasks" in member else "parts": member["target"]}


def _read(member: Row) -> Iterator[Part]:
    """What is read: no standby tasks."""
    return ((topic, number) for topic, number, role in parts_told(member) if role in (None, "active"))


def test_what_nobody_has_is_what_the_broker_describes(folder: Path, tables: Tables):
    topics, found = topics_of(folder), Counter[bool]()
    known = timelines(tables, topics)
    for line in described(folder):
        since, until = line["t0"] * 1000 - SLACK_MS, line["t1"] * 1000 + SLACK_MS
        if line["gtype"] == "SHARE" or not known[line["group"], line["gtype"]].stands_still(since, until):
            continue
        told = {
            (topics.get(row["topic"], row["topic"]), row["partition"])
            for row in tables["orphaned_partitions"]
            if row["group_id"] == line["group"] and row["from_at"] <= until and (row["to_at"] or until) >= until
        }
        if line["state"] == "STABLE":
            assert told == _left_over(line), line
            found[bool(told)] += 1
        else:
            assert not told, line
    assert found.total() >= _LEAST[folder.name][0], found
    assert found[True] >= _LEAST[folder.name][1], found


def test_partitions_are_left_over_where_a_member_changed_its_regular_expression_and_nowhere_else(
    folder: Path, tables: Tables
):
    rows = tables["orphaned_partitions"]
    found = Counter((row["group_id"], row["generation"]) for row in rows)
    assert found == (_BY_A_NEW_REGEX if folder.name in MODERN else {})
    for row in rows:
        changes = [
            each["recorded_at"]
            for each in tables["modern_group_records"]
            if (each["member_id"], each["record_type"]) == (row["member_id"], 5)
        ]
        assert any(row["from_at"] - 200 < at < row["from_at"] for at in changes), row
        assert 2_000 < row["to_at"] - row["from_at"] < 10_000
