"""What a target gives to a member and nobody has although the group is Stable."""

from __future__ import annotations

from tests.unit.coordinator.consumer_records import (
    TOPIC_ID,
    UNRELEASED,
    UNREVOKED,
    Moment,
    Written,
    parts,
    stands,
    targets,
)
from tests.unit.coordinator.evidence_rows import GROUP, Row, modern_records
from tests.unit.coordinator.test_fold import counted, folded, items_of
from transforms.coordinator.replay import replay_group, typed_records


def _is(member: str, regex: str = "t.*") -> Written:
    return 5, member, {"clientId": f"{member}-client", "clientHost": "/10.0.0.1", "subscribedTopicRegex": regex}


BEGUN: Moment = (
    1_000,
    [_is("a"), (3, "", {"epoch": 1}), *targets(1, a=(0, 1)), stands("a", 1, 0, 1)],
)
LETS_GO: list[Moment] = [
    (2_000, [_is("a", "u.*"), stands("a", 1, state=UNREVOKED, revoking=(0, 1))]),
    (3_000, [stands("a", 1)]),
]
"""A member changes its regular expression, which the coordinator will look at later, and gives back what it had."""

BUMPED: Moment = (9_000, [(16, "u.*", {"topics": ["u"]}), (3, "", {"epoch": 2})])


def _orphans(*moments: Moment, names: dict[str, str] | None = None) -> list[Row]:
    records = modern_records(*moments)
    rows = replay_group("c", GROUP, [], [], [], 50, modern_records=records, topic_names=names)["orphaned_partitions"]
    return sorted(rows, key=lambda row: (row["from_at"], row["partition"]))


def _spans(*moments: Moment) -> list[tuple[int, str, int, float, float | None]]:
    found = _orphans(*moments)
    return [(row["partition"], row["member_id"], row["generation"], row["from_at"], row["to_at"]) for row in found]


def test_partitions_that_a_member_gave_back_and_its_target_still_has_are_told_until_the_next_bump():
    assert _spans(BEGUN, *LETS_GO, BUMPED) == [(0, "a", 1, 3_000, 9_000), (1, "a", 1, 3_000, 9_000)]


def test_a_row_says_whose_the_partition_is_to_be_and_by_what_name():
    row = _orphans(BEGUN, *LETS_GO, names={TOPIC_ID: "orders"})[0]
    assert (row["topic"], row["client_id"], row["client_host"]) == ("orders", "a-client", "/10.0.0.1")
    assert (row["life"], row["group_type"], row["group_instance_id"]) == (1, "consumer", None)


def test_what_is_so_still_is_told_as_open_and_not_settled():
    open_row, *_ = _orphans(BEGUN, *LETS_GO)
    assert (open_row["to_at"], open_row["is_settled"]) == (None, False)
    over, *_ = _orphans(BEGUN, *LETS_GO, BUMPED, (99_000, [(3, "", {"epoch": 3})]))
    assert (over["to_at"], over["is_settled"]) == (9_000, True)


def test_nothing_is_told_of_a_group_that_holds_what_its_targets_give():
    assert _spans(BEGUN, (2_000, [_is("a", "t.*|u.*")])) == []


def test_partitions_on_their_way_are_none():
    """Another member waits for what the first has yet to give up: the group is not Stable."""
    moves = (2_000, [_is("b"), (3, "", {"epoch": 2}), *targets(2, a=(0,), b=(1,)), stands("b", 2, state=UNRELEASED)])
    given_up = (3_000, [stands("a", 2, 0)])
    assert _spans(BEGUN, moves, given_up, (4_000, [stands("b", 2, 1)])) == []


def test_it_is_over_when_somebody_has_the_partition():
    assert _spans(BEGUN, *LETS_GO, (5_000, [stands("a", 1, 1)])) == [
        (0, "a", 1, 3_000, None),
        (1, "a", 1, 3_000, 5_000),
    ]


def test_it_is_over_when_the_target_does_not_give_it_any_more():
    """A later target is a row of its own, also where one operation bumps, computes and takes it."""
    again = (7_000, [(3, "", {"epoch": 2}), *targets(2, a=(1,)), stands("a", 2)])
    assert _spans(BEGUN, *LETS_GO, again) == [
        (0, "a", 1, 3_000, 7_000),
        (1, "a", 1, 3_000, 7_000),
        (1, "a", 2, 7_000, None),
    ]


def test_it_is_interrupted_while_the_group_is_not_stable():
    """A static member that leaves for a while keeps the group Reconciling, without a bump."""
    at, two = BEGUN
    begun = (at, [_is("b"), *two, stands("b", 1)])
    away, back = (4_000, [stands("b", -2)]), (5_000, [stands("b", 1)])
    spans = [(0, "a", 1, 3_000, 4_000), (1, "a", 1, 3_000, 4_000), (0, "a", 1, 5_000, None), (1, "a", 1, 5_000, None)]
    assert _spans(begun, *LETS_GO, away, back) == spans


def test_it_is_over_when_the_group_is_gone():
    leaves = (6_000, [(8, "a", None), (7, "a", None), (5, "a", None), (3, "", {"epoch": 2})])
    deleted = (6_000, [(8, "a", None), (7, "a", None), (5, "a", None), (6, "", None), (3, "", None)])
    for last in (leaves, deleted):
        over = _orphans(BEGUN, *LETS_GO, last)
        assert [(row["to_at"], row["client_id"]) for row in over] == [(6_000, "a-client")] * 2


def test_a_moment_of_no_length_is_none():
    assert _spans(BEGUN, *LETS_GO, (3_000, [(3, "", {"epoch": 2})])) == []


def test_targets_of_which_an_epoch_is_missing_are_not_trusted():
    """What another member was given in the missing epoch would look like what nobody has."""
    later = (2_000, [(3, "", {"epoch": 3}), *targets(3), stands("a", 3, 0)])
    assert _spans(BEGUN, later) == []


def test_one_of_several_that_share_a_partition_is_enough_to_have_it():
    def joined(member: str) -> Written:
        return 10, member, {"clientId": member, "clientHost": "/10.0.0.1", "subscribedTopicNames": ["t"]}

    def stands(member: str, *owned: int) -> Written:
        return (
            14,
            member,
            {"memberEpoch": 1, "previousMemberEpoch": 0, "state": 0, "assignedPartitions": parts(*owned)},
        )

    begun: list[Written] = [joined("b"), joined("a"), (11, "", {"epoch": 1})]
    given: list[Written] = [(13, name, {"topicPartitions": parts(0, 1)}) for name in ("b", "a")]
    taken = [stands("b", 0), stands("a")]
    assert _spans((1_000, [*begun, *given, (12, "", {"assignmentEpoch": 1}), *taken])) == [(1, "a", 1, 1_000, None)]


def test_a_streams_task_needs_somebody_to_run_it_and_no_standby():
    def tasks(*partitions: int) -> list[Row]:
        return [{"subtopologyId": "0", "partitions": list(partitions)}] if partitions else []

    joined: list[Written] = [
        (19, "a", {"processId": "p", "rebalanceTimeoutMs": 6_000, "topologyEpoch": 0}),
        (23, "", {"epoch": 0, "subtopologies": [{"subtopologyId": "0", "sourceTopics": ["t"]}]}),
        (17, "", {"epoch": 2, "validatedTopologyEpoch": 0}),
        (21, "a", {"activeTasks": tasks(0, 1), "standbyTasks": tasks(2)}),
        (20, "", {"assignmentEpoch": 2}),
        (22, "a", {"memberEpoch": 2, "previousMemberEpoch": 0, "state": 1, "activeTasks": tasks(0)}),
    ]
    assert _spans((1_000, joined)) == [(1, "a", 2, 1_000, None)]


def test_the_history_may_be_cut_anywhere():
    records = typed_records(modern_records(BEGUN, *LETS_GO, (5_000, [stands("a", 1, 1)]), BUMPED))
    whole, _ = folded(items_of((records, [], [])), [])
    assert len(whole.orphaned_partitions) == 2
    for cut in range(len(records) + 1):
        parts, _ = folded(items_of((records, [], [])), [cut])
        assert counted(parts) == counted(whole), cut
