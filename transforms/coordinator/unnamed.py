"""Finds the ids of joiners whom the broker's answer does not name.

A broker makes up the id of a joiner that brings none, and tells it in its answer; but if the join is refused in the
end, after it was parked, the answer has no id. The broker's log may have it: "Member m has failed".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from transforms.coordinator.answers import Error
from transforms.coordinator.evidence import Exchange, Row

UUID_LENGTH = 36
SLACK_MS = 5.0
"""How far the line and the request's own times lie apart."""


def name_joiners(exchanges: list[Exchange], events: Iterable[Row]) -> None:
    """Give joiners without an id the one that a line of their time names, where there is one and no other fits."""
    unnamed = [exchange for exchange in exchanges if _is_unnamed(exchange)]
    if not unnamed:
        return
    known = {exchange.request.given_member_id for exchange in exchanges}
    known |= {exchange.request.member_id for exchange in exchanges}
    told: dict[str, float] = {}
    for row in events:
        for member_id in _named(row):
            at = float(row["logged_at"])
            told[member_id] = min(told.get(member_id, at), at)
    for exchange in unnamed:
        request = exchange.request
        prefix = f"{request.group_instance_id or request.client_id}-"
        fitting = [
            member_id
            for member_id, at in told.items()
            if member_id not in known
            and member_id.startswith(prefix)
            and len(member_id) == len(prefix) + UUID_LENGTH
            and exchange.handled_at - SLACK_MS <= at <= exchange.answered_at + SLACK_MS
        ]
        if len(fitting) == 1:
            request.given_member_id = fitting[0]


def _is_unnamed(exchange: Exchange) -> bool:
    request = exchange.request
    is_new = request.api == "JoinGroup" and not request.member_id and request.given_member_id is None
    return is_new and exchange.parked_ms > 0 and exchange.observed_error != Error.NONE


def _named(row: Row) -> Iterator[str]:
    attributes = row["attributes"] or {}
    if row["logged_at"] is None:
        return
    if row["member_id"]:
        yield row["member_id"]
    if attributes.get("new_member_id"):
        yield attributes["new_member_id"]
    if attributes.get("member_ids"):
        yield from json.loads(attributes["member_ids"])
