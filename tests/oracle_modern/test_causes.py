"""What a bump's records say of its cause is held against the request or timer of the history that was behind it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.oracle_modern import consumer_history, share_history, streams_history
from tests.oracle_modern.kept import kept
from transforms.coordinator.consumer.causes import cause_of as cause_in_consumer_group
from transforms.coordinator.modern.causes import Trigger
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


def test_the_cause_of_each_bump_of_a_consumer_group_is_the_one_behind_it():
    found: Counter[Trigger] = Counter()
    history, number = consumer_history.History(), -1
    for step in MODERN:
        if step["history"] != number:
            history, number = consumer_history.History(), step["history"]
        batch = consumer_history.all_records_of(step)
        cause = cause_in_consumer_group(history.machine.present, batch)
        if cause is not None:
            _check(cause, step, history.state)
            found[cause.trigger] += 1
        history.follow(step, history.machine)
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
    found: Counter[Trigger] = Counter()
    history, number = share_history.History(), -1
    for step in (each for each in OTHERS if each["kind"] == "share"):
        if step["history"] != number:
            history, number = share_history.History(), step["history"]
        cause = cause_in_share_group(history.machine.present, share_history.records_of(step))
        if cause is not None:
            _check(cause, step, history.state)
            found[cause.trigger] += 1
        history.follow(step, history.machine)
    assert found[Trigger.PARTITIONS_INITIALISED] > 0
    assert found[Trigger.MEMBER_JOINED] > 0
    assert found[Trigger.TOPIC_METADATA_CHANGED] > 0


def test_the_cause_of_each_bump_of_a_streams_group_is_the_one_behind_it():
    found: Counter[Trigger] = Counter()
    history, number = streams_history.History(), -1
    for step in (each for each in OTHERS if each["kind"] == "streams"):
        if step["history"] != number:
            history, number = streams_history.History(), step["history"]
        cause = cause_in_streams_group(history.machine.present, streams_history.records_of(step))
        if cause is not None:
            _check(cause, step, history.state)
            found[cause.trigger] += 1
        history.follow(step, history.machine)
    assert found[Trigger.TOPIC_METADATA_CHANGED] > 0
    assert found[Trigger.MEMBER_JOINED] > 0
