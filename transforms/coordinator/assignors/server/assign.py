"""The assignors that a broker has, by the names by which groups choose them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from transforms.coordinator.assignors.server.heterogeneous import assign_heterogeneous
from transforms.coordinator.assignors.server.homogeneous import assign_homogeneous
from transforms.coordinator.assignors.server.ranges import assign_ranges
from transforms.coordinator.assignors.server.simple import assign_simple
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec
from transforms.coordinator.kafka.modern_rules import ModernRules


def assign_uniform(group: GroupSpec) -> Assigned:
    """Give all members equally much, and let them keep what they have as far as that goes (UniformAssignor)."""
    return assign_homogeneous(group) if group.is_homogeneous else assign_heterogeneous(group)


ASSIGNORS: Mapping[str, Callable[[GroupSpec], Assigned]] = {
    "uniform": assign_uniform,
    "range": assign_ranges,
    "simple": assign_simple,
}
"""Assignor by name; a consumer group has one of the first two, a share group the last."""


def assigner_of(name: str, group: GroupSpec, rules: ModernRules) -> Callable[[GroupSpec], Assigned] | None:
    """Return what gives a group its targets in a release, by the name of the assignor; None = it is not worked out."""
    if name == "uniform" and group.is_homogeneous and not rules.passes_extra_on:
        return assign_homogeneous_before_4_1 if rules.assigns_without_racks else None
    is_as_now = {
        "uniform": group.is_homogeneous or rules.balances_by_level,
        "range": rules.assigns_plain_ranges,
        "simple": rules.spreads_shares_evenly,
    }
    if name == "simple" and not rules.initialises_shares:
        return assign_all
    return ASSIGNORS.get(name) if is_as_now.get(name) else None


def assign_homogeneous_before_4_1(group: GroupSpec) -> Assigned:
    """Share all partitions out evenly; the first members take those that are over."""
    return assign_homogeneous(group, passes_extra_on=False)


def assign_all(group: GroupSpec) -> Assigned:
    """Give every member all partitions of its topics (SimpleAssignor up to 4.0)."""
    counts = group.partition_counts
    return {
        member.member_id: {topic: list(range(counts[topic])) for topic in member.topics} for member in group.members
    }
