"""What members of consumer groups subscribe to and speak, epoch by epoch."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schemas.rows import GenerationMemberRow, GenerationRow
from tests.unit.coordinator.consumer_records import Moment, stands, targets
from tests.unit.coordinator.evidence_rows import GROUP, Row, modern_records
from transforms.coordinator.replay import replay_group
from transforms.findings.description.epochs import Rows, epochs_at, members_at
from transforms.findings.description.standing import Subscription


def _is(member: str, **said: Any) -> tuple[int, str, dict[str, Any]]:
    return 5, member, {"clientId": member, "subscribedTopicNames": ["t"], **said}


CLASSIC = {"classicMemberMetadata": {"sessionTimeoutMs": 9_000, "supportedProtocols": []}}
MIXED: Moment = (
    1_000,
    [_is("old", **CLASSIC), _is("new"), (3, "", {"epoch": 1})]
    + [*targets(1, old=(0,), new=(1,)), stands("old", 1, 0, 0), stands("new", 1, 0, 1)],
)
CHANGES: Moment = (2_000, [_is("new", subscribedTopicRegex="t.*")])
"""The broker looks for its topics later; until then nothing is bumped."""

RESOLVED: Moment = (
    2_400,
    [(16, "t.*", {"topics": ["t", "t2"], "version": 1, "timestamp": 2_400}), (3, "", {"epoch": 2})],
)


def _replayed(*moments: Moment) -> dict[str, list[Row]]:
    return replay_group("c", GROUP, [], [], [], 50, (), (), modern_records=modern_records(*moments))


def _wants(tables: dict[str, list[Row]], at: float) -> dict[str, Subscription | None]:
    epochs = epochs_at(msgspec.convert(tables["generations"], list[GenerationRow], strict=False), at)
    assert epochs is not None
    rows = Rows(members=msgspec.convert(tables["generation_members"], list[GenerationMemberRow], strict=False))
    return {name: each.subscription for name, each in members_at(rows, epochs, ("old", "new"), at).items()}


def test_who_has_not_changed_over_is_told_by_the_protocol_it_speaks() -> None:
    spoken = {row["member_id"]: row["member_protocol"] for row in _replayed(MIXED)["generation_members"]}
    assert spoken == {"old": "classic", "new": "consumer"}


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        (1_500, None),
        (2_200, Subscription(("t",), "t.*", "consumer")),
        (2_500, Subscription(("t", "t2"), "t.*", "consumer")),
    ],
)
def test_what_a_member_wanted_before_it_changed_that_within_an_epoch_is_not_claimed(
    at: float, wanted: Subscription | None
) -> None:
    found = _wants(_replayed(MIXED, CHANGES, RESOLVED), at)
    assert found == {"old": Subscription(("t",), protocol="classic"), "new": wanted}


def test_topics_that_a_regular_expression_gives_are_of_the_epoch_that_they_bump() -> None:
    rows = _replayed(MIXED, CHANGES, RESOLVED)["generation_members"]
    told = [(row["generation"], row["topics"], row["changed_at"]) for row in rows if row["member_id"] == "new"]
    assert told == [(1, ["t"], 2_000), (2, ["t", "t2"], None)]
