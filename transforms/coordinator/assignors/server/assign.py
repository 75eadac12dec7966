"""The assignors that a broker has, by the names by which groups choose them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from transforms.coordinator.assignors.server.heterogeneous import assign_heterogeneous
from transforms.coordinator.assignors.server.homogeneous import assign_homogeneous
from transforms.coordinator.assignors.server.ranges import assign_ranges
from transforms.coordinator.assignors.server.simple import assign_simple
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec


def assign_uniform(group: GroupSpec) -> Assigned:
    """Give all members equally much, and let them keep what they have as far as that goes (UniformAssignor)."""
    return assign_homogeneous(group) if group.is_homogeneous else assign_heterogeneous(group)


ASSIGNORS: Mapping[str, Callable[[GroupSpec], Assigned]] = {
    "uniform": assign_uniform,
    "range": assign_ranges,
    "simple": assign_simple,
}
"""Assignor by name; a consumer group has one of the first two, a share group the last."""
