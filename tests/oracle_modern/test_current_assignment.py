from __future__ import annotations

from typing import Any

from tests.oracle_modern.kept import kept
from transforms.coordinator.consumer.reconcile import Goal, Standing, is_reconciled, reconcile
from transforms.coordinator.kafka.states import MemberState
from transforms.coordinator.modern.partitions import of_numbers

CASES = list(kept("current_assignment"))


def _standing(fields: dict[str, Any]) -> Standing:
    return Standing(
        fields["memberEpoch"],
        fields["previousMemberEpoch"],
        MemberState[fields["state"]],
        of_numbers(fields["assigned"]),
        of_numbers(fields["pendingRevocation"]),
    )


def _goal(fields: dict[str, Any]) -> Goal:
    owned = fields["ownedInRequest"]
    held = [of_numbers(fields[name]) for name in ("ownedByOthers", "assigned", "pendingRevocation")]
    return Goal(
        fields["targetEpoch"],
        of_numbers(fields["target"]),
        {*fields["subscribed"], *(fields.get("regexTopics") or ())}.__contains__,
        lambda topic, number: any(number in each.get(topic, ()) for each in held),
        fields["hasSubscriptionChanged"],
        None if owned is None else of_numbers(owned),
    )


def test_a_member_is_led_on_as_kafka_leads_it():
    assert len(CASES) == 5_000
    for number, case in enumerate(CASES):
        before = _standing(case["in"])
        after = reconcile(before, _goal(case["in"]))
        wanted = case["out"]
        if "error" in wanted:
            assert (wanted["error"], after) == ("FencedMemberEpochException", None), f"case {number}"
        else:
            assert after == _standing(wanted), f"case {number}"
            assert (after != before) == wanted["changed"], f"case {number}"


def test_a_member_that_has_given_up_its_partitions_gets_to_the_epoch_of_the_target():
    """Nobody holds what it wants: revoked and assigned in two heartbeats."""
    holding = Standing(3, 3, assigned={"a": (0, 1)})

    def goal(owned: dict[str, tuple[int, ...]]) -> Goal:
        return Goal(4, {"a": (0,), "b": (5,)}, lambda _: True, lambda topic, _: topic == "a", owned=owned)

    told = reconcile(holding, goal({"a": (0, 1)}))
    assert told == Standing(3, 3, MemberState.UNREVOKED_PARTITIONS, {"a": (0,)}, {"a": (1,)})
    done = reconcile(told, goal({"a": (0,)}))
    assert done == Standing(4, 3, MemberState.STABLE, {"a": (0,), "b": (5,)})
    assert is_reconciled(done, 4)
