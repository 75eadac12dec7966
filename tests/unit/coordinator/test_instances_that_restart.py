"""An instance of a consumer group that restarts without end, which bumps nothing: what is kept of its forerunners."""

from __future__ import annotations

from tests.unit.coordinator.consumer_records import Moment, Written, parts, stands, targets
from tests.unit.coordinator.evidence_rows import GROUP, Row, modern_records
from tests.unit.coordinator.test_fold import folded, items_of
from transforms.coordinator.replay import replay_group, typed_records

PARTITIONS = range(50)


def _is(member: str, instance: str | None = "s", topic: str = "t") -> Written:
    return 5, member, {"instanceId": instance, "clientId": "c", "subscribedTopicNames": [topic]}


BEGUN: Moment = (
    1_000,
    [_is("s-0"), (3, "", {"epoch": 1}), *targets(1, **{"s-0": tuple(PARTITIONS)}), stands("s-0", 1, *PARTITIONS)],
)


def _restart(number: int) -> list[Moment]:
    """It leaves for a while and comes back by another id; with other words of itself, its own records follow."""
    old, new, at = f"s-{number - 1}", f"s-{number}", 60_000 * number
    heir = [_is(new), (7, new, {"topicPartitions": parts(*PARTITIONS)}), stands(new, 0, *PARTITIONS)]
    return [
        (at, [stands(old, -2, *PARTITIONS)]),
        (at + 5_000, [(8, old, None), (7, old, None), (5, old, None), *heir]),
        (at + 6_000, [stands(new, 1, *PARTITIONS)]),
        (at + 7_000, [_is(new, topic=f"t{number}")]),  # the row of an epoch has when a member said something else
    ]


def _restarted(times: int) -> list[Moment]:
    return [BEGUN, *(moment for number in range(1, times + 1) for moment in _restart(number))]


def _replayed(*moments: Moment) -> dict[str, list[Row]]:
    return replay_group("c", GROUP, [], [], [], 50, modern_records=modern_records(*moments))


def test_the_state_does_not_grow_with_the_restarts():
    items = items_of((typed_records(modern_records(*_restarted(300))), [], []))
    _, (early, late) = folded(items, [len(items) // 3])
    assert late - early < 200 * 12  # the ids of members that went, of which it keeps the latest


def test_each_forerunner_and_heir_has_its_row_all_the_same():
    rows = {row["member_id"]: row for row in _replayed(*_restarted(3))["generation_members"]}
    assert {name: row["replaces_member_id"] for name, row in rows.items()} == {
        "s-0": None, "s-1": "s-0", "s-2": "s-1", "s-3": "s-2",
    }  # fmt: skip
    assert {name: (row["told_at"], row["changed_at"]) for name, row in rows.items()} == {
        "s-0": (1_000, None),
        "s-1": (66_000, 67_000),
        "s-2": (126_000, 127_000),
        "s-3": (186_000, 187_000),
    }


def test_what_an_instance_keeps_by_its_heirs_has_not_moved():
    kept, given = tuple(PARTITIONS)[:-1], tuple(PARTITIONS)[-1:]
    joined = [_is("d", None), (3, "", {"epoch": 2}), *targets(2, **{"s-3": kept, "d": given}), stands("d", 2)]
    last = max(_replayed(*_restarted(3), (300_000, joined))["generations"], key=lambda row: row["generation"])
    assert (last["generation"], last["partitions_moved"]) == (2, 1)


def test_an_heir_that_has_lost_the_target_has_moved_nothing_if_it_is_given_the_same():
    """So it goes up to 3.9: targets are computed at once, and without a new epoch."""
    heir = [(8, "s-0", None), (7, "s-0", None), (5, "s-0", None), _is("s-1")]
    again = [*targets(1, **{"s-1": tuple(PARTITIONS)}), stands("s-1", 1, *PARTITIONS)]
    (row,) = _replayed(BEGUN, (2_000, heir), (2_001, again))["generations"]
    assert row["partitions_moved"] == 0
