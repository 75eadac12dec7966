"""Every release of the broker is asked how it shares out, and held against what is worked out of it.

python -m tests.oracle_assignors.test_server_assignors_against_kafka FILE

keeps some of the groups with what each release gave them, which are held wherever tests run.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec import to_builtins

from tests.oracle_assignors.kafka_brokers import Shared, kafka_shares
from tests.oracle_assignors.kafka_clients import can_run
from tests.oracle_assignors.random_specs import chains, in_racks
from transforms.coordinator.assignors.server.assign import assigner_of, attempt
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.rules import release_of

pytestmark = [pytest.mark.long, pytest.mark.skipif(not can_run(), reason="no JDK on the path")]

SEED, COUNT = 37, 150
OFFERS = {
    "3.7.2": ("uniform", "range"),
    "3.8.1": ("uniform", "range"),
    "3.9.1": ("uniform", "range", "simple"),
    "4.0.0": ("uniform", "range", "simple"),
    "4.0.1": ("uniform", "range"),
    "4.1.1": ("uniform", "range", "simple"),
    "4.2.0": ("uniform", "range", "simple"),
}
"""Assignors by release."""

RACKS_DECIDE = "3.7.2"
"""The one release whose assignor looks at racks."""

KEPT = {
    "3.7.2": ("uniform", "range"),
    "3.8.1": ("uniform", "range"),
    "4.0.0": ("uniform",),
    "4.0.1": ("uniform",),
    "4.1.1": ("simple",),
}
"""Those that differ from the release before and from the latest."""


def given(name: str, version: str, group: GroupSpec) -> Assigned | None:
    assign = assigner_of(name, ModernRules(release_of(version) or ()))
    assert assign is not None
    return attempt(assign, group)


def groups(name: str, version: str, seed: int, count: int) -> list[GroupSpec]:
    return list(chains(seed, count, lambda group: given(name, version, group), is_of_share=name == "simple"))


def filled(shared: Assigned | Shared | None) -> Shared | None:
    """What was given, without those that were given nothing."""
    if shared is None:
        return None
    some = {
        member_id: {topic: sorted(numbers) for topic, numbers in topics.items() if numbers}
        for member_id, topics in shared.items()
    }
    return {member_id: topics for member_id, topics in some.items() if topics}


@pytest.mark.parametrize(("version", "name"), [(version, name) for version, names in OFFERS.items() for name in names])
def test_a_release_gives_every_member_what_is_worked_out(version: str, name: str):
    asked = groups(name, version, SEED, COUNT)
    assert len({group.is_homogeneous for group in asked}) == 2
    failed = 0
    for group, theirs in zip(asked, kafka_shares(name, asked, version), strict=True):
        assert filled(given(name, version, group)) == filled(theirs), group
        failed += theirs is None
    assert (failed > 0) == (name == "uniform" and version < "4")


def test_racks_decide_in_3_7_where_subscriptions_are_the_same():
    alone = alike(SEED, COUNT)
    asked = somewhere(alone, SEED)
    differ = 0
    for plain, group, theirs in zip(alone, asked, kafka_shares("uniform", asked, RACKS_DECIDE), strict=True):
        ours = given("uniform", "3.7.2", group)
        assert ours is not None and filled(ours) == filled(theirs), group
        differ += filled(ours) != filled(given("uniform", "3.7.2", plain))
    assert differ > len(asked) // 3


def alike(seed: int, count: int) -> list[GroupSpec]:
    """Groups whose members all have one subscription."""
    asked = groups("uniform", RACKS_DECIDE, seed, count)
    return [group for group in asked if len({frozenset(member.topics) for member in group.members}) == 1]


def somewhere(those: list[GroupSpec], seed: int) -> list[GroupSpec]:
    """The same groups, in racks."""
    random = Random(seed)
    return [in_racks(group, random) for group in those]


def kept(seed: int, count: int) -> Iterator[dict[str, object]]:
    """Yield groups as lines of the table."""
    for version, names in KEPT.items():
        for name in names:
            asked = groups(name, version, seed, count)
            for group, theirs in zip(asked, kafka_shares(name, asked, version), strict=True):
                yield line(version, name, group, theirs)
    in_some = somewhere(alike(seed, count), seed)
    for group, theirs in zip(in_some, kafka_shares("uniform", in_some, RACKS_DECIDE), strict=True):
        yield line(RACKS_DECIDE, "uniform", group, theirs)


def line(version: str, name: str, group: GroupSpec, theirs: Shared | None) -> dict[str, object]:
    """Return a line of the table."""
    return {"version": version, "assignor": name, "group": to_builtins(group), "given": filled(theirs)}


if __name__ == "__main__":
    table = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in kept(SEED, 20))
    Path(sys.argv[1]).write_bytes(gzip.compress(table.encode(), mtime=0))
