"""One answer at a time falsified in the request log: the audit must point at that row.

A lie is found where the row of the audit does not agree, or says that nothing could be predicted. What may pass: a
request so close to a change of state that either order explains the answer ("race"), and a wait whose end nothing but
the answer itself shows (`is_answer_used`); both are counted, and must be rare.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from schemas.rows import GroupRequestRow, ReplayAuditRow
from tests.support.captures import CALM, CHAOTIC, FAILOVER, OLD
from tests.support.pure_pipeline import (
    CLUSTER,
    PARTITION_COUNT,
    SILVER,
    evidence_by_group,
    modern_by_group,
    partitions_by_group,
    replay,
)
from tests.truth.checks_audit import MODERN_GROUPS
from tests.truth.timelines import Row, Tables
from transforms.coordinator.replay import replay as replay_typed
from transforms.coordinator.replay import typed, typed_evidence, typed_records

LIES = 8
"""Lies of each kind in each capture."""

LIED_IN = (*CALM, *CHAOTIC, *FAILOVER, "chaos-2.4.1")
"""Of the old brokers, the one whose rules and whose log are the most unlike today's: this takes its time."""

FOUND = 0.99
"""Share of all lies that must be found, in all captures together."""

FOUND_IN_ONE = 0.98
"""The same in one capture, which has about 280 lies."""

HONEST_RACES = 0.01
"""Share of an honest log's rows that may rest on one of two orders."""


@dataclass(frozen=True)
class Lie:
    """What is put into the log in place of an answer; `shift` is what is added to the generation of a success."""

    api: str
    truly: int
    told: int
    shift: int = 0

    def instead_of(self, row: Row) -> Row:
        """Return a request with the false answer."""
        partitions = row["partition_errors"]
        generation = row["answered_generation"]
        if row["api"] == "JoinGroup" and self.told == 0:
            generation = (generation or 1) + self.shift
        elif row["api"] == "JoinGroup":
            generation = None
        return {
            **row,
            "error_code": self.told,
            "partition_errors": None if partitions is None else {self.told: sum(partitions.values())},
            "answered_generation": generation,
        }


KINDS = (
    # a heartbeat that was let in, or not
    Lie("Heartbeat", 0, 22),
    Lie("Heartbeat", 0, 25),
    Lie("Heartbeat", 0, 27),
    Lie("Heartbeat", 0, 82),
    Lie("Heartbeat", 22, 0),
    Lie("Heartbeat", 25, 0),
    Lie("Heartbeat", 27, 0),
    Lie("Heartbeat", 27, 22),
    # a commit
    Lie("OffsetCommit", 0, 22),
    Lie("OffsetCommit", 0, 25),
    Lie("OffsetCommit", 0, 27),
    Lie("OffsetCommit", 22, 0),
    Lie("OffsetCommit", 25, 0),
    Lie("OffsetCommit", 27, 0),
    Lie("OffsetCommit", 27, 22),
    Lie("TxnOffsetCommit", 0, 22),
    # a member that was told its assignment, or not
    Lie("SyncGroup", 0, 22),
    Lie("SyncGroup", 0, 25),
    Lie("SyncGroup", 0, 27),
    Lie("SyncGroup", 22, 0),
    Lie("SyncGroup", 25, 0),
    Lie("SyncGroup", 27, 0),
    Lie("SyncGroup", 27, 22),
    # a join
    Lie("JoinGroup", 0, 0, 1),
    Lie("JoinGroup", 0, 0, -1),
    Lie("JoinGroup", 0, 25),
    Lie("JoinGroup", 0, 79),
    Lie("JoinGroup", 0, 81),
    Lie("JoinGroup", 25, 79),
    Lie("JoinGroup", 79, 0),
    Lie("JoinGroup", 79, 25),
    Lie("JoinGroup", 79, 81),
    Lie("JoinGroup", 81, 25),
    Lie("JoinGroup", 81, 79),
    # a farewell
    Lie("LeaveGroup", 0, 25),
    Lie("LeaveGroup", 25, 0),
    Lie("DeleteGroups", 0, 68),
)


def _place(row: Row) -> tuple[str, int, int]:
    return row["source_file"], row["line_number"], row["seq"]


class Capture:
    """The honest evidence of a capture, by group as the replay takes it, so that each lie costs one group's replay."""

    def __init__(self, tables: Tables) -> None:
        # Where the honest answer itself is one of two that were possible, the other is no lie that could be told apart.
        honest = {_place(row): row["agrees"] and row["why"] != "race" for row in tables["replay_audit"]}
        self._asked = [
            row for row in tables["group_requests"] if row["group_id"] not in MODERN_GROUPS and honest.get(_place(row))
        ]
        self._modern = {group: typed_records(rows) for group, rows in modern_by_group(tables).items()}
        self._partitions = partitions_by_group(tables)
        self._evidence = {group: typed_evidence(*rows) for group, rows in evidence_by_group(tables).items()}

    def verdicts(self, lie: Lie) -> Iterator[str]:
        """Falsify some answers, each by itself; say what the audit makes of each."""
        asked = [row for row in self._asked if (row["api"], row["error_code"]) == (lie.api, lie.truly)]
        for row in random.Random(1).sample(asked, min(LIES, len(asked))):
            yield _meaning(self._verdict(_place(row), lie.instead_of(row)))

    def _verdict(self, place: tuple[str, int, int], told: Row) -> ReplayAuditRow:
        group = told["group_id"]
        stored, lines, honest = self._evidence[group]
        [false] = typed([told], GroupRequestRow)
        requests = [false if _place_of(row) == place else row for row in honest]
        records = [*stored, *self._modern.get(group, ())]
        partitions = self._partitions.get(group, ())
        audit = replay_typed(CLUSTER, group, records, lines, requests, PARTITION_COUNT, partitions).replay_audit
        return next(each for each in audit if _place_of(each) == place)


def _place_of(row: GroupRequestRow | ReplayAuditRow) -> tuple[str, int, int]:
    return row.source_file, row.line_number, row.seq


def _meaning(verdict: ReplayAuditRow) -> str:
    if verdict.agrees is not True:
        return "found"
    if verdict.why == "race":
        return "race"
    return "answer used" if verdict.is_answer_used else "believed"


def test_a_false_answer_is_pointed_at(pure_tables) -> None:
    total: Counter[str] = Counter()
    for name in LIED_IN:
        capture = Capture(pure_tables(name))
        found = {lie: Counter(capture.verdicts(lie)) for lie in KINDS}
        passed = {lie: verdicts for lie, verdicts in found.items() if verdicts - Counter({"found": LIES})}
        of_one = sum(found.values(), Counter())
        assert of_one["found"] >= FOUND_IN_ONE * of_one.total(), (name, passed)
        assert of_one.total() >= 60
        total += of_one
    assert total["found"] >= FOUND * total.total(), total
    assert total["race"] <= (1 - FOUND) * total.total(), total


@pytest.mark.parametrize("name", (*CALM, *CHAOTIC, *FAILOVER, *OLD))
def test_an_honest_log_needs_few_races_and_few_of_its_own_answers(name: str, pure_tables) -> None:
    audit = pure_tables(name)["replay_audit"]
    whys = Counter(row["why"] for row in audit)
    assert whys["race"] <= HONEST_RACES * len(audit)
    used = [row for row in audit if row["is_answer_used"]]
    assert all(row["why"] and row["agrees"] is not None for row in used)
    assert len(used) <= HONEST_RACES * len(audit)


@pytest.mark.parametrize("name", (*CALM, *CHAOTIC, *OLD))
def test_many_lies_at_once_cast_no_doubt_on_honest_rows(name: str, pure_tables) -> None:
    tables = pure_tables(name)
    lie = Lie("Heartbeat", 0, 22)
    requests = tables["group_requests"]
    asked = [number for number, row in enumerate(requests) if (row["api"], row["error_code"]) == ("Heartbeat", 0)]
    chosen = set(random.Random(1).sample(asked, 40))
    silver = {table: tables[table] for table in SILVER}
    silver["group_requests"] = [lie.instead_of(row) if n in chosen else row for n, row in enumerate(requests)]
    false = {_place(requests[number]) for number in chosen}
    doubted = {_place(row) for row in replay(silver)["replay_audit"] if row["agrees"] is not True}
    assert doubted == false
