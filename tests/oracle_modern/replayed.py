"""Histories that Kafka's own coordinator went through, through the whole replay: what was written, and what came of it.

Nothing but the records goes in, and what the requests were answered where it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from schemas.catalog import BY_NAME
from schemas.rows import AssignmentRow, GenerationMemberRow, GenerationRow, ReconciliationRow
from tests.oracle_modern.histories import Step, lists
from tests.unit.coordinator.evidence_rows import GROUP, Row, modern_records
from transforms.coordinator.replay import replay_group
from transforms.findings.description.epochs import Rows, epochs_at, members_at
from transforms.findings.description.standing import Member, Part
from transforms.findings.description.stored import TARGETS, targets

CLASSIC_GROUP = 2
_TYPES = {
    "generations": GenerationRow,
    "generation_members": GenerationMemberRow,
    "assignments": AssignmentRow,
    "reconciliations": ReconciliationRow,
}


def steps_of(history: Iterable[Step]) -> Iterator[tuple[Step, Step]]:
    """Yield the last step of each moment, with the group as it was after it."""
    group: Step = {"type": "absent"}
    for _, of_moment in groupby(history, itemgetter("t")):
        for step in of_moment:
            group = group if step["group"] == "same" else step["group"]
        yield step, group


def records_of(steps: Iterable[Step]) -> tuple[list[Row], list[Row]]:
    """Return what was written: of classic groups, and of those of newer protocols, each in its place of the log."""
    written = [
        (step["t"], [(each["type"], _name(each["key"]), each["value"]) for each in step["records"]]) for step in steps
    ]
    records = modern_records(*written)
    classic = [_classic(row) for row in records if row["record_type"] == CLASSIC_GROUP]
    return classic, [row for row in records if row["record_type"] > CLASSIC_GROUP]


def _name(key: dict[str, str]) -> str:
    return key.get("memberId") or key.get("regularExpression") or ""


def _classic(row: Row) -> Row:
    value = None if row["body"] is None else json.loads(row["body"])
    told = dict.fromkeys(BY_NAME["group_metadata"].columns)
    place = {name: row[name] for name in ("group_id", "topic_partition_of_record", "record_offset", "recorded_at")}
    told |= {**place, "is_tombstone": value is None}
    if value is None:
        return told
    fields = {"protocol_type": "protocolType", "generation": "generation", "protocol": "protocol"}
    fields |= {"leader_member_id": "leader", "state_changed_at": "currentStateTimestamp"}
    told |= {name: value[field] for name, field in fields.items()}
    return told | {"value_version": 3, "members": [_member(each) for each in value["members"]]}


def _member(told: Row) -> Row:
    names = ("member_id", "group_instance_id", "client_id", "client_host")
    fields = ("memberId", "groupInstanceId", "clientId", "clientHost")
    said = {name: told[field] for name, field in zip(names, fields, strict=True)}
    timeouts = {"session_timeout_ms": told["sessionTimeout"], "rebalance_timeout_ms": told["rebalanceTimeout"]}
    return {**said, **timeouts, "topics": None, "owned": None, "assigned": None, "user_data": None}


class Replayed:
    """The tables that come of a history, asked for a moment.

    Args:
        steps: the steps of the history.
        requests: rows of what was asked, if the audit is to be told.
        lines: rows of what the broker logged.
    """

    def __init__(self, steps: list[Step], requests: Iterable[Row] = (), lines: Iterable[Row] = ()) -> None:
        classic, self._records = records_of(steps)
        self.tables = replay_group("c", GROUP, classic, [*lines], [*requests], 50, modern_records=self._records)
        self._moves = sorted(self.tables["transitions"], key=lambda row: (row["life"], row["seq"]))
        self._typed: dict[int, dict[str, list[Any]]] = {}

    def move_at(self, at: float) -> Row | None:
        """Return the last change of state by a moment."""
        return next((row for row in reversed(self._moves) if row["at"] <= at), None)

    def state_at(self, at: float) -> tuple[str, str]:
        """Return type and state of the group at a moment; nothing where there is none."""
        move = self.move_at(at)
        if move is None or move["to_state"] == "Dead":
            return "", ""
        return move["group_type"], move["to_state"]

    def standing_at(self, at: float, life: int, group_type: str) -> tuple[int, int, dict[str, Member]]:
        """Return the group's epoch, that of its targets, and its members, as it is described at a moment."""
        rows = self._of_life(life)
        epochs = epochs_at(rows["generations"], at)
        assert epochs is not None
        there = [
            row["member_id"]
            for row in self.tables["member_sessions"]
            if row["life"] == life and row["joined_at"] <= at and (row["ended_at"] is None or at < row["ended_at"])
        ]
        given = Rows(
            members=[row for row in rows["generation_members"] if row.generation in epochs.told_of],
            assignments=rows["assignments"],
            reconciliations=rows["reconciliations"],
            targets=targets(self._bodies(TARGETS[group_type], at), {}),
        )
        return epochs.group_epoch, epochs.assignment_epoch, members_at(given, epochs, there, at)

    def _bodies(self, record_type: int, at: float) -> dict[str, str | None]:
        of_targets = (row for row in self._records if row["record_type"] == record_type and row["recorded_at"] <= at)
        return {row["member_id"]: row["body"] for row in of_targets}

    def _of_life(self, life: int) -> dict[str, list[Any]]:
        if life not in self._typed:
            self._typed[life] = {
                name: [msgspec.convert(row, of, strict=False) for row in self.tables[name] if row["life"] == life]
                for name, of in _TYPES.items()
            }
        return self._typed[life]


# --- what Kafka printed --------------------------------------------------------------------------------------------

_ROLES = {"": "assigned", "active": "active", "standby": "standby"}
_TARGET_ROLES = {"": "target", "active": "targetActive", "standby": "targetStandby"}


def owned(member: Step) -> set[Part]:
    """Return what a member may use."""
    return _parts(member, _ROLES)


def target(member: Step) -> set[Part]:
    """Return what it is to have."""
    return _parts(member, _TARGET_ROLES)


def _parts(member: Step, roles: dict[str, str]) -> set[Part]:
    return {
        Part(topic, int(number), role)
        for role, field in roles.items()
        for topic, numbers in lists(member.get(field) or {}).items()
        for number in numbers
    }
