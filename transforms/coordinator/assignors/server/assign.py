"""The assignors that a broker has, by the names by which groups choose them, and by release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from transforms.coordinator.assignors.server.early_heterogeneous import assign_one_by_one, assign_one_by_one_in_3_7
from transforms.coordinator.assignors.server.early_homogeneous import assign_homogeneous_in_turns
from transforms.coordinator.assignors.server.early_ranges import assign_sticky_ranges
from transforms.coordinator.assignors.server.early_simple import assign_by_hash
from transforms.coordinator.assignors.server.heterogeneous import assign_heterogeneous
from transforms.coordinator.assignors.server.homogeneous import assign_homogeneous
from transforms.coordinator.assignors.server.racks import Racks
from transforms.coordinator.assignors.server.ranges import assign_ranges
from transforms.coordinator.assignors.server.simple import assign_simple
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec
from transforms.coordinator.assignors.subscriptions import NoAssignment, NotPredicted
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.rules import Release

Assigner = Callable[[GroupSpec], Assigned]


def assign_uniform(group: GroupSpec) -> Assigned:
    """Give all members equally much, and let them keep what they have as far as that goes (UniformAssignor)."""
    return assign_homogeneous(group) if group.is_homogeneous else assign_heterogeneous(group)


def _uniform_in_4_0(group: GroupSpec) -> Assigned:
    if group.is_homogeneous:
        return assign_homogeneous(group, passes_extra_on=False)
    return assign_heterogeneous(group)


def _uniform_in_3_8(group: GroupSpec) -> Assigned:
    if group.is_homogeneous:
        return assign_homogeneous(group, passes_extra_on=False)
    return assign_one_by_one(group)


def _uniform_in_3_7(group: GroupSpec) -> Assigned:
    """In 3.7 the assignor itself looks whether subscriptions are the same, by the topics that there are."""
    subscriptions = {frozenset(member.topics) for member in group.members}
    if len(subscriptions) == 1:
        return assign_homogeneous_in_turns(group)
    if Racks(group, frozenset().union(*subscriptions)).decide:
        raise NotPredicted("racks, where subscriptions differ")
    return assign_one_by_one_in_3_7(group)


def assign_all(group: GroupSpec) -> Assigned:
    """Give every member all partitions of its topics (SimpleAssignor up to 4.0)."""
    counts = group.partition_counts
    return {
        member.member_id: {topic: list(range(counts[topic])) for topic in member.topics} for member in group.members
    }


_EDITIONS: Mapping[str, Sequence[tuple[Callable[[ModernRules], bool], Assigner]]] = {
    "uniform": (
        (lambda rules: rules.passes_extra_on, assign_uniform),
        (lambda rules: rules.balances_by_level, _uniform_in_4_0),
        (lambda rules: rules.assigns_without_racks, _uniform_in_3_8),
        (lambda rules: True, _uniform_in_3_7),
    ),
    "range": (
        (lambda rules: rules.assigns_plain_ranges, assign_ranges),
        (lambda rules: True, assign_sticky_ranges),
    ),
    "simple": (
        (lambda rules: rules.spreads_shares_evenly, assign_simple),
        (lambda rules: rules.initialises_shares, assign_by_hash),
        (lambda rules: True, assign_all),
    ),
}
"""By name, from the latest to the first: the rule that a release has, and how the assignor then is."""

ASSIGNORS: Mapping[str, Assigner] = {name: editions[0][1] for name, editions in _EDITIONS.items()}
"""Assignor by name, as the latest release has it; a consumer group has one of the first two, a share group the last."""


def assigner_of(name: str, rules: ModernRules) -> Assigner | None:
    """Return what gives a group its targets in a release, by the name of the assignor; None = it is not Kafka's own."""
    return next((assign for has_rule, assign in _EDITIONS.get(name, ()) if has_rule(rules)), None)


def assigners_of(name: str, releases: Iterable[Release]) -> list[Assigner]:
    """Return all that an assignor is in some releases."""
    found = (assigner_of(name, ModernRules(release)) for release in releases)
    return list(dict.fromkeys(assign for assign in found if assign is not None))


def attempt(assign: Assigner, group: GroupSpec) -> Assigned | None:
    """Return what an assignor gives a group; None where Kafka's own fails, or what it gives is not worked out."""
    try:
        return assign(group)
    except NoAssignment:
        return None
