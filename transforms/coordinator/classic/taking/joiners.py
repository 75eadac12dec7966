"""Finds the ids of joiners whom the broker's answer does not name, and joiners who were never answered.

A broker makes up the id of a joiner that brings none, and tells it in its answer; but if the join is refused in the
end, after it was parked, the answer has no id. The broker's log may have it: at once ("Adding new member m"), or when
the member goes ("Member m has failed"). Until then the member goes by a name of ours.

A broker that is killed, or stopped, takes the requests that wait in it along: nobody is answered, and so no request log
has them. That somebody had joined is told by lines alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import lru_cache
from math import inf

from msgspec import Struct, field

from schemas.rows import CoordinatorEventRow, GroupRequestRow
from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS, SAME_MOMENT_MS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.requests import Request, could_be

_MEMORY_MS = 2 * LOOK_AHEAD_MS

_WITHOUT_ID = frozenset({"member_added", "static_member_added"})
"""Events of those who joined without an id, and were given one."""


class Joiners(Struct, array_like=True):
    """Ids that lines and answers named in the last moments.

    Attributes:
        named: by id, when a line first named it.
        given: by id, when somebody joined who was told it in the end.
        known: by id, when somebody joined by it last.
        unnamed: by instance or client, when one joined last who was told no id.
        made_up: ids of ours that members go by; those of who has gone since are let go when the next is made up, or
            when a line may name somebody.
    """

    named: dict[str, float] = field(default_factory=dict)
    given: dict[str, float] = field(default_factory=dict)
    known: dict[str, float] = field(default_factory=dict)
    unnamed: dict[str, float] = field(default_factory=dict)
    made_up: set[str] = field(default_factory=set)

    def notice_line(self, line: CoordinatorEventRow) -> None:
        """Take the ids that a line names."""
        at = line.logged_at or 0.0
        for member_id in named_in(line):
            if member_id not in self.named:
                self.named = _remembered(self.named, member_id, at)

    def notice_request(self, row: GroupRequestRow, at: float) -> None:
        """Take the id that an answer gives, or a request has."""
        if row.member_id:
            self.known = _remembered(self.known, row.member_id, at)
        elif row.answered_member_id:
            self.given = _remembered(self.given, row.answered_member_id, at)
        elif whose := row.group_instance_id or row.client_id:
            self.unnamed = _remembered(self.unnamed, whose, at)

    def make_up(self, member_id: str, members: Collection[str]) -> None:
        """Take an id of ours that a joiner goes by from now on, beside those that members go by."""
        self.made_up.intersection_update(members)
        self.made_up.add(member_id)

    def is_unanswered(self, line: CoordinatorEventRow, at: float) -> bool:
        """Whether a line tells of somebody who joined, and no answer does."""
        member_id, since = line.member_id or "", at - LOOK_AHEAD_MS
        if self.known.get(member_id, -inf) >= since:
            return False
        if line.event not in _WITHOUT_ID:
            return True
        is_given = self.given.get(member_id, -inf) >= since
        return not is_given and not any(could_be(member_id, each) and of >= since for each, of in self.unnamed.items())

    def name_of(self, request: Request, at: float, taken: Collection[str]) -> str | None:
        """Return the id of a joiner that no answer names, where one and only one was named in its time."""
        fitting = [
            member_id
            for member_id, named_at in self.named.items()
            if could_be(member_id, request.group_instance_id or request.client_id)
            and named_at >= at - SAME_MOMENT_MS
            and member_id not in self.given
            and member_id not in taken
        ]
        return fitting[0] if len(fitting) == 1 else None


def _remembered(moments: dict[str, float], key: str, now: float) -> dict[str, float]:
    """Return moments by key with one more; where they become many, without those that are long ago."""
    moments[key] = now
    if len(moments) <= 32:
        return moments
    return {each: at for each, at in moments.items() if at >= now - _MEMORY_MS}


def is_unnamed(row: GroupRequestRow) -> bool:
    """Whether a joiner without an id was let in, and refused in the end: nobody told it the id it went by."""
    if row.api != "JoinGroup" or row.member_id or row.answered_member_id or not row.error_code:
        return False
    return bool(row.parked_ms) or row.error_code == Error.UNSUPPORTED_VERSION


def named_in(line: CoordinatorEventRow) -> list[str]:
    """Return the members that a line names."""
    named, attributes = [line.member_id] if line.member_id else [], line.attributes
    if attributes:
        if new_id := attributes.get("new_member_id"):
            named.append(new_id)
        if listed := attributes.get("member_ids"):
            named += listed_ids(listed)
    return named


@lru_cache(maxsize=256)  # a line is looked at when it is seen, and when it is taken
def listed_ids(text: str) -> tuple[str, ...]:
    """Return the members that an attribute of a line lists."""
    return tuple(json.loads(text))
