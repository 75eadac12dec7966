"""How members go from a consumer group: by leaving, being removed, or being fenced.

Source: GroupMetadataManager.consumerGroupLeave, consumerGroupFenceMembers, classicGroupLeaveToConsumerGroup (4.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from transforms.coordinator.consumer.conversion import can_downgrade, downgrade
from transforms.coordinator.consumer.group import Member, subscriptions
from transforms.coordinator.consumer.joining import known_member
from transforms.coordinator.consumer.requests import HeartbeatRequest
from transforms.coordinator.consumer.turn import TimerKind, Turn
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.group import LEFT_FOR_A_WHILE
from transforms.coordinator.modern.requests import Answer, LeaveRequest, LeavingMember
from transforms.coordinator.modern.turn import Deadline
from transforms.coordinator.modern.world import Refused


def leave(turn: Turn, request: HeartbeatRequest) -> Answer:
    """Handle a heartbeat by which a member leaves, for good or for a while."""
    member = known_member(turn.group, request.member_id, request.instance_id)
    if request.member_epoch == LEFT_FOR_A_WHILE and request.instance_id is not None:
        turn.write_standing(member.member_id, replace(member.standing, epoch=LEFT_FOR_A_WHILE, revoking={}))
    else:
        fence(turn, [member])
    return Answer(Error.NONE, member.member_id, request.member_epoch)


def remove(turn: Turn, request: LeaveRequest) -> Answer:
    """Handle a LeaveGroup, which may name members of either protocol."""
    leaving: dict[str, Member] = {}
    errors: list[Error] = []
    is_twice = False
    for leaver in request.members:
        try:
            member = _leaver(turn, leaver)
        except Refused as refused:
            errors.append(refused.error)
        else:
            is_twice |= member.member_id in leaving
            leaving[member.member_id] = member
            errors.append(Error.NONE)
    if is_twice and not turn.world.settings.rules.lets_leave_twice:
        for member_id in leaving:
            turn.memory.disarm(member_id)
        return Answer(leaver_errors=(Error.UNKNOWN_MEMBER_ID,) * len(errors))
    if leaving:
        fence(turn, leaving.values())
    return Answer(leaver_errors=tuple(errors))


def _leaver(turn: Turn, leaver: LeavingMember) -> Member:
    named = turn.group.static_member(leaver.group_instance_id)
    if named is None or leaver.member_id:
        named = known_member(turn.group, leaver.member_id, leaver.group_instance_id)
    if not named.is_classic and not turn.world.settings.rules.removes_any_member:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    return named


def fence(turn: Turn, leaving: Iterable[Member]) -> None:
    """Remove members; a group in which only members of the classic protocol are left becomes a classic one."""
    gone = list(leaving)
    group = turn.group
    if can_downgrade(turn, gone):
        downgrade(turn, gone)
        return
    for member in gone:
        turn.forget_member(member.member_id)
    unused = [
        regex
        for regex, count in Counter(member.regex for member in gone if member.regex).items()
        if group.subscribers_of(regex) == count
    ]
    for regex in unused:
        turn.forget_regex(regex)
    ids = {member.member_id for member in gone}
    left = [member for member in group.members.values() if member.member_id not in ids]
    resolved = {regex: each for regex, each in group.regexes.items() if regex not in unused}
    turn.write_epoch(group.epoch + 1, turn.world.topics.hash_of(subscriptions(left, resolved)))
    for member in gone:
        turn.memory.disarm(member.member_id)


def time_out(turn: Turn, kind: TimerKind, member_id: str, deadline: Deadline | None) -> None:
    """Handle a timer that ran out: fence its member, if it is there and has not gone on."""
    member = turn.group.members.get(member_id)
    if member is None:
        return
    if kind is TimerKind.REBALANCE and deadline is not None and member.epoch != deadline.epoch:
        return
    fence(turn, [member])
