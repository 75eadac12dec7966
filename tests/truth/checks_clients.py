"""Gold and silver against what the clients were told."""

from __future__ import annotations

from collections import Counter

from tests.support.truth import RAW_APIS, Snapshot, Sync, Truth
from tests.truth.timelines import (
    TOLERANCE_MS,
    Differences,
    Row,
    Tables,
    Timelines,
    generation_key,
    label,
)

LOGGED_LATE_MS = 20
"""An answer's time is that of its line, which a cold broker writes some ms after the client has the answer."""


def assignments_told(truth: Truth, tables: Tables) -> Differences:
    """Every SyncGroup answered without error: the generation, the member, its partitions and when it was told."""
    found = Differences()
    timelines = Timelines(tables)
    told_before: set[tuple] = set()
    for sync in sorted((sync for sync in truth.syncs if sync.error == 0), key=lambda sync: sync.answered_at):
        rows = timelines.alive(sync.group_id, sync.generation, sync.sent_at, sync.answered_at)
        words = f"{sync.group_id} generation {sync.generation}, {sync.member_id} told at {sync.answered_at}"
        found.expect(len(rows) == 1, f"{words}: {len(rows)} generations of that number at that time")
        if len(rows) == 1:
            is_first = (*generation_key(rows[0]), sync.member_id) not in told_before
            told_before.add((*generation_key(rows[0]), sync.member_id))
            _compare_sync(found, timelines, rows[0], sync, is_first)
    return found


def _compare_sync(found: Differences, timelines: Timelines, row: Row, sync: Sync, is_first: bool) -> None:
    words = f"{label(row)}, {sync.member_id}"
    member = timelines.members[generation_key(row)].get(sync.member_id)
    found.expect(member is not None, f"{words}: was told an assignment and is no member")
    told = sorted(sync.partitions)
    given = timelines.partitions(row, sync.member_id)
    found.expect(given == told, f"{words}: was told {told}, gold has {given}")
    if member is None:
        return
    count = member["partitions_assigned"]
    found.expect(count == len(told), f"{words}: was told {len(told)} partitions, partitions_assigned is {count}")
    if is_first:
        at = member["told_at"]
        is_then = at is not None and sync.sent_at - TOLERANCE_MS <= at <= sync.answered_at + LOGGED_LATE_MS
        found.expect(is_then, f"{words}: told in [{sync.sent_at}, {sync.answered_at}], told_at is {at}")


def members_told(truth: Truth, tables: Tables) -> Differences:
    """Every member list that a leader was told is the member set of that generation at that moment."""
    found = Differences()
    timelines = Timelines(tables)
    for join in truth.joins:
        if join.error or not join.members:
            continue
        words = f"{join.group_id} generation {join.generation}, leader told at {join.answered_at}"
        rows = timelines.alive(join.group_id, join.generation, join.sent_at, join.answered_at)
        found.expect(len(rows) == 1, f"{words}: {len(rows)} generations of that number at that time")
        for row in rows[:1]:
            members = timelines.members_at(row, join.answered_at)
            missing, ghosts = sorted(join.members - members), sorted(members - join.members)
            found.expect(
                not missing and not ghosts, f"{label(row)}: gold lacks {missing}, the leader was not told {ghosts}"
            )
            leader = row["leader_member_id"]
            is_same = timelines.founder(row, leader) == timelines.founder(row, join.leader)
            found.expect(is_same, f"{label(row)}: leader {join.leader}, gold has {leader}")
    return found


def requests_counted(truth: Truth, tables: Tables) -> Differences:
    """Silver holds exactly as many requests of the raw clients per (group, api, error) as they noted."""
    noted = Counter((request.group_id, request.api, request.error) for request in truth.requests)
    read = Counter(
        (row["group_id"], row["api"], row["error_code"])
        for row in tables["group_requests"]
        if row["group_id"] in truth.raw_groups and row["api"] in RAW_APIS
    )
    found = Differences()
    for key in sorted(noted.keys() | read.keys()):
        group, api, error = key
        found.expect(
            noted[key] == read[key],
            f"{group} {api} error {error}: clients noted {noted[key]}, silver has {read[key]}",
        )
    return found


def lasting_snapshots(truth: Truth) -> list[Snapshot]:
    """Snapshots of stable classic groups that equal the ones before and after: true for more than a moment."""
    return [
        shot
        for series in truth.snapshots.values()
        for before, shot, after in zip(series, series[1:], series[2:], strict=False)
        if shot.kind == "CLASSIC"
        and shot.state == "STABLE"
        and shot.says_the_same_as(before)
        and shot.says_the_same_as(after)
    ]


def snapshots_seen(truth: Truth, tables: Tables) -> Differences:
    """Every snapshot of a stable classic group that equals its neighbours is gold's answer for its moment."""
    found = Differences()
    timelines = Timelines(tables)
    for shot in lasting_snapshots(truth):
        _compare_snapshot(found, timelines, shot)
    return found


def _compare_snapshot(found: Differences, timelines: Timelines, shot: Snapshot) -> None:
    owners = timelines.owners_at(shot.group_id, shot.at)
    seen = {member: sorted(pairs) for member, pairs in shot.members.items() if pairs}
    found.expect(owners == seen, f"{shot.group_id} at {shot.at}: the admin API says {seen}, gold says {owners}")
    stable = [
        row
        for row in timelines.generations[shot.group_id]
        if row["stable_at"] is not None
        and row["stable_at"] <= shot.at
        and (row["ended_at"] is None or shot.at < row["ended_at"])
    ]
    found.expect(len(stable) == 1, f"{shot.group_id} at {shot.at}: {len(stable)} stable generations at that time")
    for row in stable[:1]:
        protocol = row["protocol"]
        found.expect(protocol == shot.assignor, f"{label(row)}: assignor {shot.assignor}, gold has {protocol}")
        members = timelines.members[generation_key(row)]
        lacking = sorted(set(shot.members) - set(members))
        found.expect(not lacking, f"{label(row)}: {lacking} described and not in gold")
