from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

import pytest

from tests.oracle_assignors.kafka_clients import can_run, kafka_assignments
from tests.oracle_assignors.random_groups import Group, after, fresh, remember_anything, skewed
from transforms.coordinator.assignors.classify import ASSIGNORS, Assignor
from transforms.coordinator.assignors.eager import assign_range, assign_roundrobin
from transforms.coordinator.assignors.sticky import assign_cooperative, assign_sticky
from transforms.coordinator.assignors.subscriptions import Assignment, NoAssignment, NotPredicted

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_run(), reason="no JDK on the path")]

SEED = 20_04_2
NEWEST = "4.2.0"
RELEASES = {
    NEWEST: {
        "range": assign_range,
        "roundrobin": assign_roundrobin,
        "sticky": assign_sticky,
        "cooperative-sticky": assign_cooperative,
    },
    "3.6.2": {
        "range": assign_range,
        "roundrobin": assign_roundrobin,
        "sticky": partial(assign_sticky, is_before_3_7_1=True),
        "cooperative-sticky": partial(assign_cooperative, is_before_3_7_1=True),
    },
}


def attempt(assign: Assignor, group: Group) -> Assignment | None:
    """Assign; None = so does Kafka's own assignor throw."""
    try:
        return assign(group.subscriptions, group.counts)
    except NotPredicted:
        raise
    except NoAssignment:
        return None


def single_groups(count: int) -> Iterator[Group]:
    random = Random(SEED)
    for _ in range(count):
        group = fresh(random)
        yield group if random.random() < 0.2 else remember_anything(random, group)


def chained_groups(assign: Assignor, count: int) -> Iterator[Group]:
    """Groups that live on through several rebalances of one assignor."""
    random = Random(SEED + 1)
    for _ in range(count):
        group = fresh(random)
        for generation in range(1, 7):
            yield group
            assignment = attempt(assign, group)
            if assignment is None:
                break
            group = after(random, group, assignment, generation)


def skewed_groups(assign: Assignor, count: int) -> Iterator[Group]:
    """Groups with much to move, without those on which Kafka's leader would never come to an end."""
    random = Random(SEED + 2)
    for _ in range(count):
        group = skewed(random)
        try:
            attempt(assign, group)
        except NotPredicted:
            continue
        yield group


CASES = [
    # What both releases do alike is asked of the older one by who takes minutes.
    pytest.param(
        release,
        name,
        marks=[pytest.mark.long] if release != NEWEST and assignors[name] is RELEASES[NEWEST][name] else [],
    )
    for release, assignors in RELEASES.items()
    for name in ASSIGNORS
]


@pytest.mark.parametrize(("release", "name"), CASES)
def test_assignment_is_the_one_that_kafka_computes(release: str, name: str) -> None:
    assign = RELEASES[release][name]
    groups = [*single_groups(2_000), *chained_groups(assign, 500), *skewed_groups(assign, 1_000)]
    observed = kafka_assignments(name, groups, release)
    left_out = []
    wrong = []
    for group, theirs in zip(groups, observed, strict=True):
        try:
            if not same_partitions(attempt(assign, group), theirs):
                wrong.append((group, theirs))
        except NotPredicted:
            left_out.append(group)
    assert not wrong, f"{len(wrong)} of {len(groups)} groups, the first: {wrong[0]}"
    assert all(remembers_what_is_gone(group) for group in left_out)
    assert len(left_out) < len(groups) / 50


def remembers_what_is_gone(group: Group) -> bool:
    return any(
        number >= group.counts.get(topic, 0)
        for member in group.subscriptions.values()
        for topic, number in member.owned
    )


def same_partitions(ours: Assignment | None, theirs: Assignment | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return {member_id: sorted(given) for member_id, given in ours.items()} == {
        member_id: sorted(given) for member_id, given in theirs.items()
    }
