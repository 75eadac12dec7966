"""Gold's generations against the lines that the broker printed."""

from __future__ import annotations

from collections import defaultdict

from tests.support.captures import FAILOVER
from tests.support.truth import Truth
from tests.truth.broker_lines import Prepared, broker_lines
from tests.truth.timelines import Differences, Row, Tables, Timelines, generation_key, label

RECORD_MS, COLD_RECORD_MS = 1, 5
"""A record's time of a state and the line about it are taken one after the other; by a cold broker not at once."""

_BY_NUMBER = dict[tuple[str, int], list[Row]]


def _by_number(tables: Tables) -> _BY_NUMBER:
    rows: _BY_NUMBER = defaultdict(list)
    for row in tables["generations"]:
        rows[(row["group_id"], row["generation"])].append(row)
    return rows


def rebalances_started(truth: Truth, tables: Tables) -> Differences:
    """Each "Preparing to rebalance" line is exactly one generation, begun in that millisecond, and no other begins."""
    found = Differences()
    rows = _by_number(tables)
    witnessed: set[tuple[str, int, int]] = set()
    for line in broker_lines(truth.folder).prepared:
        begun = [row for row in rows[(line.group_id, line.generation)] if row["preparing_at"] == line.at]
        words = f"{line.group_id} generation {line.generation}"
        others = [row["preparing_at"] for row in rows[(line.group_id, line.generation)]]
        found.expect(len(begun) == 1, f"{words}: prepared at {line.at}, gold has preparing_at {others}")
        witnessed.update(generation_key(row) for row in begun)
    for row in tables["generations"]:
        is_witnessed = row["preparing_at"] is None or generation_key(row) in witnessed
        found.expect(is_witnessed, f"{label(row)}: preparing_at {row['preparing_at']} without a line")
    return found


def triggers_named(truth: Truth, tables: Tables) -> Differences:
    """Each rebalance has the trigger, the reason and the culprit that its line says."""
    found = Differences()
    rows = _by_number(tables)
    timelines = Timelines(tables)
    for line in broker_lines(truth.folder).prepared:
        for row in rows[(line.group_id, line.generation)]:
            if row["preparing_at"] != line.at:
                continue
            allowed = _triggers(line, row, timelines)
            found.expect(
                row["trigger"] in allowed, f"{label(row)}: trigger {row['trigger']}, the line says: {line.reason}"
            )
            culprit = row["trigger_member_id"]
            found.expect(
                culprit in line.culprits, f"{label(row)}: trigger_member_id {culprit}, the line names {line.culprits}"
            )
            found.expect(
                row["reason"] is not None and line.reason.startswith(row["reason"].split("; client reason:")[0]),
                f"{label(row)}: reason {row['reason']!r}, the line says {line.reason!r}",
            )
    return found


def _triggers(line: Prepared, row: Row, timelines: Timelines) -> set[str]:
    """Triggers that a line allows.

    A leader's rejoin is told apart further by what it brought: another subscription, or other partitions to assign.
    """
    allowed = {line.trigger}
    if line.trigger == "leader_rejoined":
        earlier = [
            other
            for other in timelines.generations[row["group_id"]]
            if other["life"] == row["life"]
            and other["generation"] < row["generation"]
            and other["stable_at"] is not None
        ]
        if row["is_subscription_changed"]:
            allowed = {"subscription_changed", "leader_rejoined"}
        elif earlier and row["stable_at"] is not None and row["partitions_total"] != earlier[-1]["partitions_total"]:
            allowed = {"topic_metadata_changed", "leader_rejoined"}
    return allowed


def phases_reached(truth: Truth, tables: Tables) -> Differences:
    """Each "Stabilized" line is a completing_at with that many members, each "is now empty" an empty generation."""
    found = Differences()
    rows = _by_number(tables)
    lines = broker_lines(truth.folder)
    apart_ms = COLD_RECORD_MS if truth.name in FAILOVER else RECORD_MS
    for line, column in (
        *((line, "completing_at") for line in lines.stabilized),
        *((line, "emptied_at") for line in lines.emptied),
    ):
        numbered = rows[(line.group_id, line.generation)]
        reached = [row for row in numbered if row[column] is not None and abs(row[column] - line.at) <= apart_ms]
        words = f"{line.group_id} generation {line.generation}"
        times = [row[column] for row in numbered]
        found.expect(len(reached) == 1, f"{words}: reached at {line.at}, gold has {column} {times}")
        for row in reached:
            count = row["member_count"]
            said = line.member_count in (None, count)
            found.expect(said, f"{words}: {line.member_count} members, member_count {count}")
            if column == "emptied_at":
                found.expect(row["outcome"] == "empty", f"{words}: is empty, outcome {row['outcome']}")
            else:
                found.expect(row["outcome"] != "empty", f"{words}: has members, outcome empty")
    reached_rows = [row for row in tables["generations"] if row["completing_at"] is not None]
    found.expect(
        len(reached_rows) == len(lines.stabilized),
        f"{len(lines.stabilized)} join phases ended with members, gold has {len(reached_rows)}",
    )
    emptied_rows = [row for row in tables["generations"] if row["outcome"] == "empty"]
    found.expect(
        len(emptied_rows) == len(lines.emptied),
        f"{len(lines.emptied)} join phases ended empty, gold has {len(emptied_rows)}",
    )
    return found
