"""What must hold within gold whatever the clients did."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby

from tests.support.truth import Truth
from tests.truth.timelines import TOLERANCE_MS, Differences, Row, Tables, Timelines, generation_key, label

CLOCK_MS = 1
"""Two witnesses of one moment (a record, a line) may differ by this."""

LEGAL_STEPS = {
    ("Empty", "PreparingRebalance"),
    ("PreparingRebalance", "CompletingRebalance"),
    ("PreparingRebalance", "Empty"),
    ("CompletingRebalance", "Stable"),
    ("CompletingRebalance", "PreparingRebalance"),
    ("Stable", "PreparingRebalance"),
    ("Empty", "Dead"),
    ("PreparingRebalance", "Dead"),
    ("CompletingRebalance", "Dead"),
    ("Stable", "Dead"),
}
"""Steps that Kafka's coordinator can take (ClassicGroupState.validPreviousStates)."""


def _in_order(found: Differences, words: str, moments: list[tuple[str, float | None]]) -> None:
    known = [(name, moment) for name, moment in moments if moment is not None]
    for (name, moment), (later, at) in zip(known, known[1:], strict=False):
        found.expect(moment <= at + CLOCK_MS, f"{words}: {name} {moment} after {later} {at}")


def phases_in_order(truth: Truth, tables: Tables) -> Differences:
    """Each generation's phases follow each other, and generations follow each other within a life."""
    found = Differences()
    for rows in Timelines(tables).generations.values():
        for row in rows:
            _in_order(
                found,
                label(row),
                [
                    (name, row[name])
                    for name in ("preparing_at", "completing_at", "stable_at", "emptied_at", "ended_at")
                ],
            )
            end = row["stable_at"] if row["stable_at"] is not None else row["emptied_at"]
            is_known = end is not None and row["preparing_at"] is not None
            lasted = end - row["preparing_at"] if is_known else None
            found.expect(
                row["rebalance_ms"] == lasted, f"{label(row)}: rebalance_ms {row['rebalance_ms']}, not {lasted}"
            )
        for row, following in zip(rows, rows[1:], strict=False):
            _follows(found, row, following)
        first = [next(of_life) for _, of_life in groupby(rows, key=lambda row: row["life"])]
        lives = [row["life"] for row in first]
        found.expect(lives == list(range(1, len(lives) + 1)), f"{rows[0]['group_id']}: lives {lives}")
        for row in first:
            found.expect(
                row["missing_before"] == (0 if row["trigger"] == "coordinator_failover" else row["generation"] - 1),
                f"{label(row)}: missing_before {row['missing_before']}",
            )
    return found


def _follows(found: Differences, row: Row, following: Row) -> None:
    words = f"{label(row)} then {following['generation']}"
    _in_order(found, words, [("ended_at", row["ended_at"]), ("preparing_at", following["preparing_at"])])
    if row["life"] != following["life"]:
        return
    gap = following["generation"] - row["generation"] - 1
    found.expect(
        following["missing_before"] == gap, f"{words}: missing_before {following['missing_before']}, not {gap}"
    )
    if gap == 0 and following["preparing_at"] is not None:
        found.expect(
            row["ended_at"] == following["preparing_at"],
            f"{words}: ended_at {row['ended_at']}, next preparing_at {following['preparing_at']}",
        )


def outcomes_hold(truth: Truth, tables: Tables) -> Differences:
    """An outcome agrees with the moments, members and assignments of its generation."""
    found = Differences()
    timelines = Timelines(tables)
    assigned = {generation_key(row) for row in tables["assignments"]}
    for rows in timelines.generations.values():
        for row in rows:
            outcome, members = row["outcome"], timelines.members[generation_key(row)]
            is_assigned = generation_key(row) in assigned
            words = f"{label(row)} {outcome}"
            found.expect(
                (outcome == "stable") == (row["stable_at"] is not None), f"{words}: stable_at {row['stable_at']}"
            )
            found.expect(
                (outcome == "empty") == (row["emptied_at"] is not None), f"{words}: emptied_at {row['emptied_at']}"
            )
            found.expect(outcome == "stable" or not is_assigned, f"{words}: has assignments")
            if outcome == "empty":
                found.expect(row["member_count"] == 0, f"{words}: member_count {row['member_count']}")
                found.expect(not members, f"{words}: has members {sorted(members)}")
            elif members:
                count = len(timelines.founding_members(row))
                found.expect(row["member_count"] == count, f"{words}: member_count {row['member_count']}, not {count}")
                leaders = sorted(name for name, member in members.items() if member["is_leader"])
                found.expect(
                    row["leader_member_id"] in leaders, f"{words}: leader {row['leader_member_id']}, {leaders}"
                )
    return found


def members_counted(truth: Truth, tables: Tables) -> Differences:
    """Members' partitions are counted right, they were told in their generation, and who came and went is right."""
    found = Differences()
    timelines = Timelines(tables)
    for rows in timelines.generations.values():
        final: dict[int, frozenset[str]] = {}
        for row in rows:
            _told_inside(found, timelines, row)
            before = final.get(row["life"], frozenset())
            if timelines.members[generation_key(row)] or row["outcome"] == "empty":
                _came_and_went(found, timelines, row, before)
            if row["outcome"] == "stable" and timelines.members[generation_key(row)]:
                final[row["life"]] = timelines.final_members(row)
    return found


def _told_inside(found: Differences, timelines: Timelines, row: Row) -> None:
    begin = row["completing_at"] if row["completing_at"] is not None else row["stable_at"]
    for member_id, member in timelines.members[generation_key(row)].items():
        words = f"{label(row)}, {member_id}"
        count = len(timelines.partitions(row, member_id))
        if row["outcome"] == "stable":
            found.expect(
                member["partitions_assigned"] in (None, count),
                f"{words}: partitions_assigned {member['partitions_assigned']}, {count} rows",
            )
        told = member["told_at"]
        if told is not None:
            is_inside = begin is not None and begin - CLOCK_MS <= told
            is_inside = is_inside and (row["ended_at"] is None or told <= row["ended_at"] + TOLERANCE_MS)
            found.expect(is_inside, f"{words}: told_at {told} outside [{begin}, {row['ended_at']}]")
        replaced = member["replaces_member_id"]
        if replaced is not None:
            is_there = replaced in timelines.members[generation_key(row)]
            found.expect(is_there, f"{words}: replaces {replaced}, which is no member")


def _came_and_went(found: Differences, timelines: Timelines, row: Row, before: frozenset[str]) -> None:
    for column, sets in (
        ("joined_member_ids", [timelines.founding_members(row) - before, timelines.final_members(row) - before]),
        ("departed_member_ids", [before - timelines.founding_members(row), before - timelines.final_members(row)]),
    ):
        if row[column] is not None:
            given = row[column]
            is_right = len(set(given)) == len(given) and frozenset(given) in sets
            found.expect(is_right, f"{label(row)}: {column} {sorted(given)}, not {sorted(sets[0])}")


def assignments_exclusive(truth: Truth, tables: Tables) -> Differences:
    """Nobody owns a partition from later than until; no partition has two owners at one moment."""
    found = Differences()
    timelines = Timelines(tables)
    recorded = {generation_key(row) for row in tables["generations"] if "offsets" in (row["evidence"] or ())}
    by_key = {generation_key(row): row for row in tables["generations"]}
    owned: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for rows in timelines.owned.values():
        for row in rows:
            words = f"{label(row)}, {row['member_id']} {row['topic']}-{row['partition']}"
            _in_order(found, words, [("valid_from", row["valid_from"]), ("valid_to", row["valid_to"])])
            generation = by_key.get(generation_key(row))
            found.expect(generation is not None, f"{words}: no such generation")
            member = timelines.members[generation_key(row)].get(row["member_id"])
            found.expect(member is not None, f"{words}: no such member")
            if generation is not None and member is not None:
                _valid_in_generation(found, words, row, generation, member)
            if generation_key(row) in recorded and row["valid_from"] is not None:
                owned[(row["group_id"], row["topic"], row["partition"])].append(row)
    for (group, topic, partition), rows in owned.items():
        rows.sort(key=lambda row: (row["valid_from"], row["valid_to"] or float("inf")))
        for row, following in zip(rows, rows[1:], strict=False):
            is_apart = row["valid_to"] is not None and row["valid_to"] <= following["valid_from"]
            found.expect(
                is_apart,
                f"{group} {topic}-{partition}: {row['member_id']} in generation {row['generation']} until "
                f"{row['valid_to']}, {following['member_id']} from {following['valid_from']}",
            )
    return found


def _valid_in_generation(found: Differences, words: str, row: Row, generation: Row, member: Row) -> None:
    if member["replaces_member_id"] is None:
        begin = generation["stable_at"]
        found.expect(row["valid_from"] == begin, f"{words}: valid_from {row['valid_from']}, stable_at {begin}")
    elif generation["stable_at"] is not None:
        found.expect(row["valid_from"] >= generation["stable_at"], f"{words}: valid_from before stable_at")
    end = generation["ended_at"]
    is_inside = end is None or (row["valid_to"] is not None and row["valid_to"] <= end)
    found.expect(is_inside, f"{words}: valid_to {row['valid_to']}, generation ended {end}")


def sessions_hold(truth: Truth, tables: Tables) -> Differences:
    """Every member of a generation has one session, which covers its generations and ends with a cause."""
    found = Differences()
    spans: dict[tuple[str, int, str], list[int]] = defaultdict(list)
    for row in tables["generation_members"]:
        spans[(row["group_id"], row["life"], row["member_id"])].append(row["generation"])
    sessions = {(row["group_id"], row["life"], row["member_id"]): row for row in tables["member_sessions"]}
    for key, generations in spans.items():
        session = sessions.get(key)
        found.expect(session is not None, f"{key}: no session")
        if session is not None:
            given = (session["first_generation"], session["last_generation"])
            found.expect(
                given == (min(generations), max(generations)),
                f"{key}: generations {sorted(generations)}, session {given}",
            )
    for key, session in sessions.items():
        ended, cause = session["ended_at"], session["end_cause"]
        found.expect(ended is None or cause is not None, f"{key}: ended at {ended} without a cause")
        _in_order(found, str(key), [("joined_at", session["joined_at"]), ("ended_at", ended)])
        is_alone = key in spans or session["first_generation"] is None
        found.expect(is_alone, f"{key}: first_generation {session['first_generation']} has no such member")
    return found


def transitions_hold(truth: Truth, tables: Tables) -> Differences:
    """Steps are numbered without gaps, join up, and are Kafka's; each rebalance is one entry into Preparing."""
    found = Differences()
    lives: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in tables["transitions"]:
        lives[(row["group_id"], row["life"])].append(row)
    for (group, life), rows in lives.items():
        rows.sort(key=lambda row: row["seq"])
        words = f"{group} life {life}"
        numbers = [row["seq"] for row in rows]
        found.expect(numbers == list(range(1, len(rows) + 1)), f"{words}: seq {numbers}")
        for row in rows:
            step = (row["from_state"], row["to_state"])
            is_load = row["event"] == "group_loaded" and step[1] in ("Empty", "Stable")
            is_legal = step in LEGAL_STEPS or row["is_inferred"] or step[0] is None or is_load
            found.expect(is_legal, f"{words} seq {row['seq']}: {step[0]} to {step[1]} on {row['event']}")
        for row, following in zip(rows, rows[1:], strict=False):
            is_back = (row["to_state"], following["from_state"]) == ("Dead", "Empty")  # at another coordinator
            found.expect(
                row["to_state"] == following["from_state"] or is_back,
                f"{words} seq {following['seq']}: from {following['from_state']} after {row['to_state']}",
            )
            _in_order(found, f"{words} seq {following['seq']}", [("at", row["at"]), ("at", following["at"])])
    _entries_match(found, lives, tables)
    return found


def _entries_match(found: Differences, lives: dict[tuple[str, int], list[Row]], tables: Tables) -> None:
    begun: dict[tuple[str, int], int] = defaultdict(int)
    for row in tables["generations"]:
        begun[(row["group_id"], row["life"])] += row["preparing_at"] is not None
    for key, count in begun.items():
        entries = sum(row["to_state"] == "PreparingRebalance" for row in lives.get(key, ()))
        found.expect(entries >= count, f"{key}: {count} rebalances, {entries} entries into PreparingRebalance")
