"""Look-ups over the gold tables that the checks share, and the list that a check returns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

Row = dict
Tables = dict[str, list[Row]]

TOLERANCE_MS = 10
"""How far a client's clock reading and a broker's may lie apart: one machine, one clock, a few ms of the network."""


class Differences(list):
    """What a check found, in words, and how many things it compared: a check of nothing is no check."""

    def __init__(self, items: Iterable[str] = (), compared: int = 0) -> None:
        super().__init__(items)
        self.compared = compared

    def expect(self, holds: bool, words: str) -> None:
        """Count one comparison and note it if it failed."""
        self.compared += 1
        if not holds:
            self.append(words)


def begin_of(row: Row) -> float | None:
    """First known moment of a generation."""
    moments = (row["preparing_at"], row["completing_at"], row["stable_at"], row["emptied_at"])
    return next((moment for moment in moments if moment is not None), None)


def told_from(row: Row) -> float | None:
    """First moment at which a client can have been told of a generation."""
    moments = (row["completing_at"], row["stable_at"], row["emptied_at"], row["preparing_at"])
    return next((moment for moment in moments if moment is not None), None)


def generation_key(row: Row) -> tuple[str, int, int]:
    """Group, life and generation of a row of gold."""
    return row["group_id"], row["life"], row["generation"]


def label(row: Row) -> str:
    """A generation in words."""
    return f"{row['group_id']} life {row['life']} generation {row['generation']}"


class Timelines:
    """Gold's generations by group, with their members and assignments."""

    def __init__(self, tables: Tables) -> None:
        self.generations: dict[str, list[Row]] = defaultdict(list)
        self.members: dict[tuple[str, int, int], dict[str, Row]] = defaultdict(dict)
        self.assignments: dict[tuple[str, int, int, str], list[Row]] = defaultdict(list)
        self.owned: dict[str, list[Row]] = defaultdict(list)
        for row in sorted(tables["generations"], key=generation_key):
            self.generations[row["group_id"]].append(row)
        for row in tables["generation_members"]:
            self.members[generation_key(row)][row["member_id"]] = row
        for row in tables["assignments"]:
            self.assignments[(*generation_key(row), row["member_id"])].append(row)
            self.owned[row["group_id"]].append(row)

    def alive(self, group: str, generation: int, since: float, until: float) -> list[Row]:
        """Rows of a generation number that clients can have been told of somewhere in [since, until]."""
        rows = self.generations[group]
        found = []
        for row, following in zip(rows, [*rows[1:], None], strict=True):
            begin = told_from(row)
            end = row["ended_at"]
            if end is None and following is not None:
                end = begin_of(following)
            if row["generation"] != generation or begin is None:
                continue
            if begin <= until + TOLERANCE_MS and (end is None or end >= since - TOLERANCE_MS):
                found.append(row)
        return found

    def founding_members(self, row: Row) -> frozenset[str]:
        """Members of a generation when its join phase ended: without those that replaced one of them later."""
        members = self.members[generation_key(row)]
        return frozenset(member for member, found in members.items() if found["replaces_member_id"] is None)

    def members_at(self, row: Row, moment: float) -> frozenset[str]:
        """Members of a generation at a moment: its founders, or who had replaced them by then."""
        followers = {
            found["replaces_member_id"]: member
            for member, found in self.members[generation_key(row)].items()
            if found["joined_at"] is not None and found["joined_at"] <= moment
        }
        present = set()
        for founder in self.founding_members(row):
            member = founder
            while member in followers:
                member = followers[member]
            present.add(member)
        return frozenset(present)

    def founder(self, row: Row, member: str) -> str:
        """The member of a generation's beginning whose place a member took."""
        members = self.members[generation_key(row)]
        while (replaced := members.get(member, {}).get("replaces_member_id")) is not None:
            member = replaced
        return member

    def final_members(self, row: Row) -> frozenset[str]:
        """Members of a generation at its end: without those that were replaced."""
        members = self.members[generation_key(row)]
        return frozenset(members) - {found["replaces_member_id"] for found in members.values()}

    def partitions(self, row: Row, member: str) -> list[tuple[str, int]]:
        """Partitions that gold says a member had in a generation, sorted, one entry for each row."""
        rows = self.assignments[(*generation_key(row), member)]
        return sorted((found["topic"], found["partition"]) for found in rows)

    def owners_at(self, group: str, moment: float) -> dict[str, list[tuple[str, int]]]:
        """Member to its partitions, as of a moment."""
        owners: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for row in self.owned[group]:
            if row["valid_from"] is None or moment < row["valid_from"]:
                continue
            if row["valid_to"] is None or moment < row["valid_to"]:
                owners[row["member_id"]].append((row["topic"], row["partition"]))
        return {member: sorted(pairs) for member, pairs in owners.items()}
