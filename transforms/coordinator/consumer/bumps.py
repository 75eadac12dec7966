"""What a member's request changes in a consumer group's subscriptions, and whether that bumps the group's epoch.

Source: GroupMetadataManager.hasMemberSubscriptionChanged, maybeUpdateRegularExpressions, updateSubscriptionMetadata,
handleRegularExpressionsResult (4.2).
"""

from __future__ import annotations

from enum import IntEnum

from transforms.coordinator.consumer.group import Count, Member, is_homogeneous, regexes, subscriptions
from transforms.coordinator.consumer.records import ResolvedRegex
from transforms.coordinator.consumer.regexes import is_valid_regex, matching
from transforms.coordinator.consumer.turn import Turn
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.java_collections import grown_capacity, table_order
from transforms.coordinator.kafka.java_hashing import string_hash
from transforms.coordinator.modern.world import Refused

_REFRESH_AT_MOST_EVERY_MS = 10_000
"""GroupMetadataManager.REGEX_BATCH_REFRESH_MIN_INTERVAL_MS."""


class RegexChange(IntEnum):
    """What a request does to a member's regular expression; RESOLVED: what it matches now is known."""

    NONE = 0
    UPDATED = 1
    RESOLVED = 2


def update_member(turn: Turn, member: Member, updated: Member) -> bool:
    """Write a member that the request changed; return whether it names other topics."""
    is_unwritten_heir = turn.world.settings.rules.heirs_have_no_target and member.member_id not in turn.group.members
    if member == updated and not is_unwritten_heir:
        return False
    turn.write_member(updated)
    return set(member.metadata.subscribed_topic_names) != set(updated.metadata.subscribed_topic_names)


def update_regex(turn: Turn, member: Member, updated: Member) -> RegexChange:
    """Take in a member's regular expression, and have them all resolved if that is due."""
    old, new, group = member.regex, updated.regex, turn.group
    change, is_new = RegexChange.NONE, False
    if member.metadata.subscribed_topic_regex != updated.metadata.subscribed_topic_regex:
        change = RegexChange.UPDATED
        if old and group.subscribers_of(old) == 1:
            turn.forget_regex(old)
        if new and not group.subscribers_of(new):
            if not is_valid_regex(new):
                raise Refused(Error.INVALID_REGULAR_EXPRESSION)
            is_new = True
        elif new in group.regexes or (old and not new and turn.world.settings.rules.bumps_for_dropped_regex):
            change = RegexChange.RESOLVED
    subscribed = regexes(group.members.values())
    if (is_new or subscribed) and turn.memory.resolving is None:
        subscribed.subtract([old] if old else [])
        subscribed.update([new] if new else [])
        _resolve_if_due(turn, tuple(regex for regex, count in subscribed.items() if count > 0), is_new)
    return change


def _resolve_if_due(turn: Turn, subscribed: tuple[str, ...], is_new: bool) -> None:
    group, world = turn.group, turn.world
    last = next(iter(group.regexes.values()), None)
    if last is not None and world.now <= last.timestamp + _REFRESH_AT_MOST_EVERY_MS:
        return
    is_due = (
        is_new
        or len(subscribed) != len(group.regexes)
        or (last.version if last else 0) < world.topics.created_version
        or last is None
        or (world.settings.rules.refreshes_regexes and world.now > last.timestamp + world.settings.regex_refresh_ms)
    )
    if is_due and subscribed:
        turn.memory.resolving = subscribed


def resolve_regexes(turn: Turn) -> None:
    """Write what the regular expressions match that were to be resolved, and bump the epoch if that changed."""
    subscribed, turn.memory.resolving = turn.memory.resolving or (), None
    group, topics = turn.group, turn.world.topics
    counts = subscriptions(group.members.values(), group.regexes)
    is_bumped = False
    for regex in _in_order(subscribed):
        if not group.subscribers_of(regex):
            continue
        before = group.regexes.get(regex, ResolvedRegex())
        after = ResolvedRegex(matching(regex, topics.by_name), topics.version, int(turn.world.now))
        if set(before.topics) != set(after.topics):
            is_bumped = True
            _count(counts, before.topics, -1)
            _count(counts, after.topics, 1)
        turn.write_regex(regex, after)
    metadata_hash = topics.hash_of(counts)
    if is_bumped or metadata_hash != group.metadata_hash:
        turn.write_epoch(group.epoch + 1, metadata_hash)
        turn.memory.must_refresh = False


def _in_order(subscribed: tuple[str, ...]) -> list[str]:
    """Return regular expressions in the order of the map that their result is put into."""
    capacity = 1 << max(len(subscribed) - 1, 0).bit_length()
    return table_order(subscribed, string_hash, grown_capacity(len(subscribed), capacity))


def refresh_metadata(turn: Turn, bumps: bool, member: Member, updated: Member) -> tuple[int, bool]:
    """Look at the topics that the group subscribes to; return its epoch, and whether all members subscribe alike.

    Args:
        turn: the turn.
        bumps: the epoch is bumped even if nothing changed in the topics.
        member: the member of the request before it.
        updated: the same after it.
    """
    group = turn.group
    counts = _counts_after(turn, member, updated)
    expressions = regexes(group.members.values())
    if member.regex != updated.regex:
        expressions.subtract([member.regex] if member.regex else [])
        expressions.update([updated.regex] if updated.regex else [])
    size = len(group.members)
    if updated.member_id not in group.members and group.static_member(updated.instance_id) is None:
        size += 1
    metadata_hash = turn.world.topics.hash_of(counts)
    epoch = group.epoch
    if bumps or metadata_hash != group.metadata_hash:
        epoch += 1
        turn.write_epoch(epoch, metadata_hash)
    turn.memory.must_refresh = False
    return epoch, is_homogeneous(counts, +expressions, size)


def _counts_after(turn: Turn, member: Member, updated: Member) -> dict[str, Count]:
    group = turn.group
    counts = subscriptions(group.members.values(), group.regexes)
    for each, step in ((member, -1), (updated, 1)):
        for name in each.metadata.subscribed_topic_names:
            counts.setdefault(name, Count()).by_name += step
    old = group.regexes.get(member.regex)
    if old is not None and member.regex != updated.regex and group.subscribers_of(member.regex) == 1:
        _count(counts, old.topics, -1)
    return {name: count for name, count in counts.items() if count.by_name or count.by_regex}


def _count(counts: dict[str, Count], names: tuple[str, ...], step: int) -> None:
    for name in set(names):
        count = counts.setdefault(name, Count())
        count.by_regex += step
        if not count.by_name and not count.by_regex:
            del counts[name]
