"""What brokers of earlier releases gave random groups, epoch after epoch, as Kafka's own classes did."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any

import pytest
from msgspec import convert

from tests.oracle_modern.kept import ORACLE
from transforms.coordinator.assignors.server.assign import ASSIGNORS, assigner_of, attempt
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec, MemberSpec
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.rules import release_of

with gzip.open(ORACLE / "server_assignors_3.7-4.1.jsonl.gz", "rt", encoding="utf-8") as lines:
    CASES = [json.loads(line) for line in lines]
TOPIC, OTHER = "AAAAAAAADwAAAAAAAAAAAQ", "AAAAAAAADwAAAAAAAAAAAg"
EDITIONS = sorted({(case["version"], case["assignor"]) for case in CASES})


def _spec(case: dict[str, Any]) -> GroupSpec:
    group = dict(case["group"])
    members = [MemberSpec(**member) for member in group.pop("members")]
    ready = convert(group.pop("assignable"), dict[str, frozenset[int]] | None)
    return GroupSpec(members=members, assignable=ready, **group)


def _filled(assigned: Assigned | None) -> Assigned | None:
    """What was given, without those that were given nothing; None = the assignor failed."""
    if assigned is None:
        return None
    some = {
        member_id: {topic: sorted(numbers) for topic, numbers in topics.items() if numbers}
        for member_id, topics in assigned.items()
    }
    return {member_id: topics for member_id, topics in some.items() if topics}


@pytest.mark.parametrize(("version", "name"), EDITIONS)
def test_an_earlier_release_gives_every_member_what_it_gave(version: str, name: str):
    assign = assigner_of(name, ModernRules(release_of(version) or ()))
    assert assign is not None
    cases = [case for case in CASES if (case["version"], case["assignor"]) == (version, name)]
    found: Counter[bool] = Counter()
    for case in cases:
        spec = _spec(case)
        assert _filled(attempt(assign, spec)) == case["given"], spec
        found[_filled(attempt(ASSIGNORS[name], spec)) == case["given"]] += 1
    assert len(cases) > 100
    is_like_the_latest = (version, name) == ("4.0.1", "uniform")
    assert (found[False] == 0) == is_like_the_latest, "each edition differs from the latest, or is not needed"


def test_where_racks_decide_in_3_7_and_subscriptions_differ_nothing_is_said():
    assign = assigner_of("uniform", ModernRules((3, 7, 2)))
    assert assign is not None
    members = [MemberSpec("a", [TOPIC, OTHER], {}, None, "r0"), MemberSpec("b", [TOPIC], {}, None, "r1")]

    def group(*racks: list[str]) -> GroupSpec:
        return GroupSpec(members, {TOPIC: 2, OTHER: 1}, False, [], racks={TOPIC: racks, OTHER: racks[:1]})

    assert attempt(assign, group(["r0"], ["r1"])) is None
    for nobody_looks in (group(["r0", "r1"], ["r1", "r0"]), group(["r7"], ["r8"])):
        assert attempt(assign, nobody_looks) is not None
