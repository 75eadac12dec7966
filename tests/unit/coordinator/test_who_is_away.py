"""Static members that left a consumer group for a while, and when members got to their epochs."""

from __future__ import annotations

import msgspec

from schemas.rows import AssignmentRow, GenerationMemberRow, GenerationRow, ReconciliationRow
from tests.unit.coordinator.consumer_records import TOPIC_ID, UNREVOKED, Moment, Written, parts, stands, targets
from tests.unit.coordinator.evidence_rows import GROUP, Row, modern_records
from tests.unit.coordinator.test_client_rows import said
from transforms.coordinator.replay import replay_group
from transforms.findings.description.epochs import Rows, epochs_at, members_at
from transforms.findings.description.standing import AWAY


def _is(member: str, instance: str | None = None) -> Written:
    return 5, member, {"instanceId": instance, "clientId": f"{member}-client", "subscribedTopicNames": ["t"]}


BEGUN: Moment = (
    1_000,
    [_is("s-1", "s"), (3, "", {"epoch": 1}), *targets(1, **{"s-1": (0, 1)}), stands("s-1", 1, 0, 1)],
)
LEAVES: Moment = (2_000, [stands("s-1", -2, 0, 1)])
HEIR: Moment = (
    3_000,
    [(8, "s-1", None), (7, "s-1", None), (5, "s-1", None)]
    + [_is("s-2", "s"), (7, "s-2", {"topicPartitions": parts(0, 1)}), stands("s-2", 1, 0, 1)],
)
JOINED: Moment = (2_500, [_is("d"), (3, "", {"epoch": 2}), *targets(2, **{"s-1": (0,), "d": (1,)}), stands("d", 2)])
"""Another one joins, which has nothing yet: what it is to have, the one that is away keeps."""


def _replayed(*moments: Moment, clients: tuple[Row, ...] = ()) -> dict[str, list[Row]]:
    return replay_group("c", GROUP, [], [], [], 50, (), clients, modern_records=modern_records(*moments))


def _away(tables: dict[str, list[Row]]) -> list[tuple[str, float, float | None, int | None, list[str]]]:
    return [
        (row["member_id"], row["from_at"], row["to_at"], row["to_epoch"], row["partitions"])
        for row in tables["reconciliations"]
        if row["state"] == "AWAY"
    ]


def _epochs(tables: dict[str, list[Row]], at: float) -> dict[str, int | None]:
    """Epochs of members as a group is described at a moment."""
    epochs = epochs_at(msgspec.convert(tables["generations"], list[GenerationRow], strict=False), at)
    assert epochs is not None
    given = Rows(
        members=msgspec.convert(tables["generation_members"], list[GenerationMemberRow], strict=False),
        assignments=msgspec.convert(tables["assignments"], list[AssignmentRow], strict=False),
        reconciliations=msgspec.convert(tables["reconciliations"], list[ReconciliationRow], strict=False),
    )
    there = [
        row["member_id"]
        for row in tables["member_sessions"]
        if row["joined_at"] <= at and (row["ended_at"] is None or at < row["ended_at"])
    ]
    return {name: member.epoch for name, member in members_at(given, epochs, there, at).items()}


def test_who_leaves_for_a_while_is_away_with_what_it_has_until_its_heir_is_there():
    parts = [f"{TOPIC_ID}-0", f"{TOPIC_ID}-1"]
    assert _away(_replayed(BEGUN, LEAVES)) == [("s-1", 2_000, None, None, parts)]
    assert _away(_replayed(BEGUN, LEAVES, HEIR)) == [("s-1", 2_000, 3_000, None, parts)]


def test_who_comes_back_by_its_own_id_is_at_an_epoch_again():
    back = (3_000, [stands("s-1", 1, 0, 1)])
    assert [row[:4] for row in _away(_replayed(BEGUN, LEAVES, back))] == [("s-1", 2_000, 3_000, 1)]


def test_what_it_was_about_before_is_over_when_it_leaves():
    gives_up = (1_500, [stands("s-1", 1, 0, state=UNREVOKED, revoking=(1,))])
    leaves = (2_000, [stands("s-1", -2, 0, state=UNREVOKED)])
    rows = _replayed(BEGUN, gives_up, leaves, HEIR)["reconciliations"]
    assert [(row["state"], row["from_at"], row["to_at"]) for row in rows] == [
        ("UNREVOKED_PARTITIONS", 1_500, 2_000),
        ("AWAY", 2_000, 3_000),
    ]
    assert [row["seq"] for row in rows] == [1, 2]


def test_a_group_is_described_with_the_one_that_is_away_and_the_epochs_of_all_others():
    tables = _replayed(BEGUN, LEAVES, JOINED, HEIR)
    assert _epochs(tables, 1_900) == {"s-1": 1}
    assert _epochs(tables, 2_400) == {"s-1": AWAY}
    assert _epochs(tables, 2_900) == {"s-1": AWAY, "d": 2}
    assert _epochs(tables, 3_100) == {"s-2": 1, "d": 2}


def test_it_is_told_when_each_member_got_to_an_epoch():
    second = (4_000, [stands("s-2", 2, 0)])
    tables = _replayed(BEGUN, LEAVES, JOINED, HEIR, second)
    told = {(row["generation"], row["member_id"]): row["told_at"] for row in tables["generation_members"]}
    assert told == {(1, "s-1"): 1_000, (2, "s-1"): None, (2, "d"): 2_500, (2, "s-2"): 4_000}


def test_what_a_client_logs_of_an_epoch_is_laid_beside_the_moment_when_it_was_told():
    lines = (
        said(1, "state_changed", member_id="s-1", generation=1),
        said(2, "state_changed", member_id="d", generation=2),
    )
    rows = _replayed(BEGUN, LEAVES, JOINED, HEIR, clients=lines)["client_timeline"]
    assert [row["told_at"] for row in rows] == [1_000, 2_500]
