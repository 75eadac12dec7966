"""What a bump's records say of its cause is held against the request or timer of the history that was behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.oracle_modern import consumer_history, share_history, streams_history
from tests.oracle_modern.histories import ModernRecord, Step, walk
from tests.oracle_modern.kept import kept
from transforms.coordinator.consumer.causes import cause_of as cause_in_consumer_group
from transforms.coordinator.modern.causes import Cause, Trigger
from transforms.coordinator.share.causes import cause_of as cause_in_share_group
from transforms.coordinator.streams.causes import cause_of as cause_in_streams_group

MODERN = list(kept("histories_modern"))
OTHERS = list(kept("histories_share_streams"))

_REMOVALS = {"LEAVE_GROUP"}
_JOIN_APIS = {"CONSUMER_GROUP_HEARTBEAT", "SHARE_GROUP_HEARTBEAT", "STREAMS_GROUP_HEARTBEAT", "JOIN_GROUP"}


def _is_removal(op: dict[str, Any]) -> bool:
    leaves = op.get("request", {}).get("memberEpoch") == -1
    return op["kind"] == "timer" or op.get("api") in _REMOVALS or leaves


def _is_new(op: dict[str, Any], state: dict[str, Any]) -> bool:
    """Whether a request is of nobody who is in the group, nor of an instance that is."""
    if op.get("api") not in _JOIN_APIS:
        return False
    request, members = op["request"], state.get("members", {})
    instance = request.get("instanceId") or request.get("groupInstanceId")
    held = {member.get("instanceId") for member in members.values()} if isinstance(members, dict) else set()
    return request["memberId"] not in members and (instance is None or instance not in held)


def _check(cause: Any, step: dict[str, Any], state: dict[str, Any]) -> None:
    op, where = step["op"], f"history {step['history']}, step {step['step']}: {cause}"
    assert (cause.trigger is Trigger.MEMBER_REMOVED) == _is_removal(op), where
    if cause.trigger is Trigger.MEMBER_JOINED:
        assert _is_new(op, state), where
    if cause.trigger in (Trigger.SUBSCRIPTION_CHANGED, Trigger.REGEX_CHANGED):
        assert op["kind"] == "regexTask" or not _is_new(op, state), where
    if op["kind"] == "regexTask":
        assert cause.trigger is Trigger.REGEX_CHANGED, where
    if cause.trigger is Trigger.CONVERTED:
        assert state["type"] == "classic", where


def _causes(
    steps: Iterable[Step],
    new: Callable[[list[Step]], Any],
    records_of: Callable[[Step], list[ModernRecord]],
    cause_of: Callable[[Any, Sequence[ModernRecord]], Cause | None],
) -> Counter[Trigger]:
    """Go through histories; return how often each cause was found, having checked it."""
    found: Counter[Trigger] = Counter()
    for history, step in walk(steps, new):
        cause = cause_of(history.machine.present, records_of(step))
        if cause is not None:
            _check(cause, step, history.state)
            found[cause.trigger] += 1
        history.follow(step, history.machine)
    return found


def test_the_cause_of_each_bump_of_a_consumer_group_is_the_one_behind_it():
    found = _causes(MODERN, consumer_history.History, consumer_history.all_records_of, cause_in_consumer_group)
    assert sum(found.values()) > 1_100
    assert set(found) == {
        Trigger.CONVERTED,
        Trigger.MEMBER_JOINED,
        Trigger.MEMBER_REMOVED,
        Trigger.SUBSCRIPTION_CHANGED,
        Trigger.REGEX_CHANGED,
        Trigger.TOPIC_METADATA_CHANGED,
    }


def test_the_cause_of_each_bump_of_a_share_group_is_the_one_behind_it():
    steps = [step for step in OTHERS if step["kind"] == "share"]
    found = _causes(steps, share_history.History, share_history.records_of, cause_in_share_group)
    assert found[Trigger.PARTITIONS_INITIALISED] > 0
    assert found[Trigger.MEMBER_JOINED] > 0
    assert found[Trigger.TOPIC_METADATA_CHANGED] > 0


def test_the_cause_of_each_bump_of_a_streams_group_is_the_one_behind_it():
    steps = [step for step in OTHERS if step["kind"] == "streams"]
    found = _causes(steps, streams_history.History, streams_history.records_of, cause_in_streams_group)
    assert found[Trigger.TOPIC_METADATA_CHANGED] > 0
    assert found[Trigger.MEMBER_JOINED] > 0
