"""What had become of the share state of partitions, against what a real broker wrote, described and gave to members."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

from tests.support.pure_pipeline import Row, Tables
from tests.truth.described_groups import SLACK_MS, described, parts_told

_STATE_PARTITIONS = 15

Part = tuple[str, int]


def _states(tables: Tables, group: str, since: float, until: float) -> dict[Part, set[str]]:
    """The states in which a partition was within a stretch of time."""
    found: dict[Part, set[str]] = defaultdict(set)
    for row in tables["share_partitions"]:
        if row["group_id"] == group and row["from_at"] <= until and (row["to_at"] is None or row["to_at"] > since):
            found[row["topic"], row["partition"]].add(row["state"])
    return found


def _written(body: str, listed: str) -> set[Part]:
    return {(topic["topicName"], number) for topic in json.loads(body)[listed] for number in topic["partitions"]}


def test_after_each_record_partitions_are_in_the_states_that_it_has_until_the_next(tables: Tables):
    records: dict[str, list[Row]] = defaultdict(list)
    for row in tables["modern_group_records"]:
        if row["record_type"] == _STATE_PARTITIONS:
            records[row["group_id"]].append(row)
    for group, of_group in records.items():
        of_group.sort(key=lambda row: row["record_offset"])
        for row, following in zip(of_group, [*of_group[1:], None], strict=True):
            until = float("inf") if following is None else following["recorded_at"]
            if row["recorded_at"] == until or row["body"] is None:
                continue
            states = _states(tables, group, row["recorded_at"], row["recorded_at"])
            ready, begun = _written(row["body"], "initializedTopics"), _written(row["body"], "initializingTopics")
            assert {part for part, of in states.items() if of == {"initialised"}} == ready, (group, row["recorded_at"])
            assert {part for part, of in states.items() if of == {"initialising"}} == begun, (group, row["recorded_at"])
    assert bool(records) == bool(tables["share_partitions"])


def test_members_are_given_what_is_initialised_and_all_of_it(folder: Path, tables: Tables):
    """At the moments at which the broker described a group; all of it, where members have got to its epoch."""
    found = Counter[str]()
    for line in described(folder):
        if line["gtype"] != "SHARE" or not line["members"]:
            continue
        states = _states(tables, line["group"], line["t0"] * 1000 - SLACK_MS, line["t1"] * 1000 + SLACK_MS)
        held = {(topic, number) for each in line["members"].values() for topic, number, _ in parts_told(each)}
        for part in held:
            assert "initialised" in states[part], (line, part)
        found["held"] += len(held)
        wanted = {topic for each in line["members"].values() for topic in each["topics"]}
        is_settled = all(each["epoch"] == line["epoch"] for each in line["members"].values())
        if held and is_settled and line["assignment_epoch"] == line["epoch"]:
            ready = {part for part, of in states.items() if of == {"initialised"} and part[0] in wanted}
            assert held >= ready, line
            found["whole"] += 1
    has_share_groups = any(line["gtype"] == "SHARE" and line["members"] for line in described(folder))
    assert (found["held"] > 20) == has_share_groups, found
