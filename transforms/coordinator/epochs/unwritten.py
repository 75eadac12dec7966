"""Members that a coordinator has in its memory alone: joiners that it failed to take in, up to 3.7.

No record tells of them, but the answer to their join does. They count towards the group's size, keep it from being
empty and spoil targets, until they leave, join again, or the group is loaded anew.
Source: GroupMetadataManager.consumerGroupHeartbeat, ConsumerGroup.getOrMaybeCreateMember (3.7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, field

from schemas.rows import CoordinatorEventRow, GroupRequestRow
from transforms.coordinator.evidence.ownership import COORDINATOR_EVENTS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.modern.records import Record, Types

_JOIN = 0


class Unwritten(Struct, array_like=True):
    """Who is in a coordinator's memory alone.

    Attributes:
        since: by member id, the broker that failed to take it in, and when that had been asked (epoch ms).
    """

    since: dict[str, tuple[str, float]] = field(default_factory=dict)

    def of(self, broker: str, at: float) -> tuple[str, ...]:
        """Return those whom a broker has in memory at a moment."""
        return tuple(name for name, (where, since) in self.since.items() if where == broker and since < at)

    def take_answer(
        self, row: GroupRequestRow, handled_at: float, rules: ModernRules, group_then: Callable[[], Any]
    ) -> None:
        """Take note of a heartbeat of a consumer member that was answered.

        Args:
            row: the request and its answer.
            handled_at: when it was handled, in epoch ms.
            rules: of the broker's release.
            group_then: tells the group as its records had it when that was answered; None = there was none.
        """
        has_failed = row.error_code == Error.UNKNOWN_SERVER_ERROR and row.generation == _JOIN
        if not has_failed or not rules.keeps_failed_joiners:
            return
        group = group_then()
        is_heir = group is not None and group.static_member(row.group_instance_id) is not None
        if not is_heir:  # that one takes a place instead of being given one
            self.since.setdefault(row.member_id or f"joined at {handled_at}", (row.broker, handled_at))

    def take_records(self, records: Iterable[Record[Struct]], types: Types) -> None:
        """Take what was written: whoever is told of by now is there by its records, or gone."""
        for record in records if self.since else ():
            if record.type_id == types.member:
                self.since.pop(record.name, None)
            elif record.type_id == types.epoch and record.value is None:
                self.since.clear()

    def take_line(self, line: CoordinatorEventRow) -> None:
        """Take a line: a broker that gives the group up, or loads it, forgets whom it had in memory alone."""
        if self.since and line.event in COORDINATOR_EVENTS:
            self.since = {name: each for name, each in self.since.items() if each[0] != line.broker}
