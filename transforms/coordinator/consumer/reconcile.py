"""How a member of a consumer group is led from what it holds to what it is to have, one heartbeat at a time.

A member first gives up what it is not to have any more, and shows it; then it takes on the epoch of the target, with
all partitions of it that nobody else holds; those that come free later it is given at a later heartbeat of its own.
Source: CurrentAssignmentBuilder (4.2; 3.8 to 4.1 by what `Goal` says of rules; 3.7 in `reconcile_early`), KIP-848.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from transforms.coordinator.kafka.states import MemberState
from transforms.coordinator.modern.partitions import Partitions, common, minus, of_topics, plus


class Standing(Struct, frozen=True, gc=False, array_like=True):
    """Where a member stands, as its record 8 has it.

    Attributes:
        epoch: member epoch; 0 = joins, -1 = left, -2 = left for a while (static members only).
        previous_epoch: the epoch before the last step, be it the same.
        assigned: what it may use.
        revoking: what it was told to give up, and has not shown to have given up.
        target_epoch: epoch of the target that it is led to, where its record says so (3.7).
    """

    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: Partitions = {}
    revoking: Partitions = {}
    target_epoch: int | None = None


class Goal(Struct, frozen=True, gc=False):
    """What a member is led to.

    Attributes:
        epoch: the group's assignment epoch.
        target: what the member is to have by it.
        is_subscribed: whether the member subscribes to a topic (given by its id) that exists.
        is_held: whether anybody, be it this member, holds a partition or has not given it up yet.
        subscription_changed: the request at hand changed what the member subscribes to.
        owned: what the member says that it holds; None = it says nothing.
        by_subscription: see `ModernRules.reconciles_by_subscription`.
        awaits_others_alone: see the rule of that name.
    """

    epoch: int
    target: Partitions
    is_subscribed: Callable[[str], bool]
    is_held: Callable[[str, int], bool]
    subscription_changed: bool = False
    owned: Partitions | None = None
    by_subscription: bool = True
    awaits_others_alone: bool = True


def is_reconciled(standing: Standing, epoch: int) -> bool:
    """Whether a member has got to an assignment epoch."""
    reached = standing.epoch if standing.target_epoch is None else standing.target_epoch
    return standing.state is MemberState.STABLE and reached == epoch


def reconcile(standing: Standing, goal: Goal) -> Standing | None:
    """Return where a member stands after a heartbeat; None: it is fenced, for its state is not known."""
    if standing.state is MemberState.UNKNOWN:
        return _next(standing, goal.epoch, goal) if goal.owned == {} else None
    if standing.state is MemberState.UNRELEASED_PARTITIONS:
        return _next(standing, standing.epoch, goal)
    if standing.state is MemberState.UNREVOKED_PARTITIONS:
        stays = _owns_any(goal, standing.revoking)
    else:
        stays = standing.epoch == goal.epoch
    if not stays:
        is_given_up = standing.state is MemberState.UNREVOKED_PARTITIONS
        return _next(standing, standing.epoch + (is_given_up and not goal.by_subscription), goal)
    return _without_unsubscribed(standing, goal) if goal.subscription_changed else standing


def _owns_any(goal: Goal, partitions: Partitions) -> bool:
    """Whether the member may hold some of the partitions still: it says so, or says nothing."""
    return goal.owned is None or bool(common(partitions, goal.owned))


def _without_unsubscribed(standing: Standing, goal: Goal) -> Standing:
    """Take from a member what it has of topics to which it does not subscribe any more."""
    kept = of_topics(standing.assigned, goal.is_subscribed)
    if kept == standing.assigned:
        return standing
    revoking = plus(standing.revoking, minus(standing.assigned, kept))
    if _owns_any(goal, revoking):
        return Standing(standing.epoch, standing.previous_epoch, MemberState.UNREVOKED_PARTITIONS, kept, revoking)
    return Standing(standing.epoch, standing.previous_epoch, standing.state, kept, standing.revoking)


def _next(standing: Standing, epoch: int, goal: Goal) -> Standing:
    """Lead a member on: to give something up, else to the target's epoch with what can be had of it."""
    target = of_topics(goal.target, goal.is_subscribed)
    kept = common(standing.assigned, target)
    revoking = minus(standing.assigned, kept)
    if revoking and _owns_any(goal, revoking):
        return Standing(epoch, standing.epoch, MemberState.UNREVOKED_PARTITIONS, kept, revoking)
    wanted = minus(target, kept)
    own = standing.revoking if goal.awaits_others_alone else {}
    free = {
        topic: tuple(n for n in numbers if n in own.get(topic, ()) or not goal.is_held(topic, n))
        for topic, numbers in wanted.items()
    }
    is_blocked = any(len(free[topic]) < len(numbers) for topic, numbers in wanted.items())
    state = MemberState.UNRELEASED_PARTITIONS if is_blocked else MemberState.STABLE
    return Standing(goal.epoch, standing.epoch, state, plus(kept, free))
