"""The requests that a well-behaved member would not send, or not then: each in the state that it is meant for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import TYPE_CHECKING

from schemas.kafka_errors import error_name
from tests.support.chaos.contents import UNKNOWN_TOPIC, subscription

if TYPE_CHECKING:
    from tests.support.chaos.member import Member

TOO_LONG = "m" * 5_000
"""More than offset.metadata.max.bytes, which is 4096."""

STRANGER = "stranger-0"

Act = Callable[["Member"], Awaitable["str | None"]]
"""Sends something; returns the error that the member has to follow, None if it does not care."""


# --- requests of a member, right ones and wrong ones ---------------------------------------------------------------


async def heartbeat(member: Member) -> str:
    """A heartbeat as it should be."""
    return error_name(await member.client.heartbeat(member.member_id, member.instance, member.generation))


async def heartbeat_unheard(member: Member) -> None:
    """A heartbeat whose answer is ignored."""
    await heartbeat(member)


async def heartbeat_stale(member: Member) -> None:
    """A heartbeat of another generation."""
    stale = member.generation - member.chance.choice((1, 1, 2, -1))
    await member.client.heartbeat(member.member_id, member.instance, stale)


async def heartbeat_of_nobody(member: Member) -> None:
    """A heartbeat of an id that nobody has."""
    await member.client.heartbeat(STRANGER, None, max(member.generation, 0))


async def heartbeat_as_another(member: Member) -> None:
    """A heartbeat with an instance id that is not the member's."""
    other = f"{member.instance or 'nobody'}-x" if member.chance.random() < 0.6 else _instance_nearby(member)
    await member.client.heartbeat(member.member_id, other, member.generation)


async def commit(member: Member) -> str:
    """A commit as it should be."""
    partition = member.chance.randrange(6)
    offsets = {("orders", partition): member.group.next_offset()}
    return error_name(await member.client.commit(member.member_id, member.instance, member.generation, offsets))


async def commit_unheard(member: Member) -> None:
    """A commit whose answer is ignored."""
    await commit(member)


async def commit_stale(member: Member) -> None:
    """A commit of another generation."""
    stale = member.generation - member.chance.choice((1, 1, 2, -1))
    await member.client.commit(member.member_id, member.instance, stale, {("orders", 0): member.group.next_offset()})


async def commit_odd(member: Member) -> None:
    """A commit to a topic that is not there, or with too much metadata, alone or beside a good one."""
    unknown = {(UNKNOWN_TOPIC, 0): 1}
    good = {("orders", 0): member.group.next_offset()}
    offsets = member.chance.choice((unknown, {**good, **unknown}, good))
    await member.client.commit(
        member.member_id, member.instance, member.generation, offsets, TOO_LONG if offsets is good else ""
    )


async def commit_from_outside(member: Member) -> None:
    """A commit without generation: of a tool, or of a member that says who it is."""
    member_id = member.chance.choice(("", "", member.member_id, STRANGER))
    await member.client.commit(member_id, None, -1, {("payments", 0): member.group.next_offset()})


async def commit_as_another(member: Member) -> None:
    """A commit with an instance id that is not the member's."""
    offsets = {("orders", 1): member.group.next_offset()}
    await member.client.commit(member.member_id, _instance_nearby(member), member.generation, offsets)


async def sync_again(member: Member) -> str:
    """A SyncGroup once more."""
    answer = await member.client.sync(
        member.member_id, member.instance, member.generation, {}, member.protocol, member.leads
    )
    return error_name(answer["errorCode"])


async def sync_wrong(member: Member) -> None:
    """A SyncGroup with a wrong generation, member, instance or protocol."""
    what = member.chance.randrange(5)
    await member.client.sync(
        STRANGER if what == 1 else member.member_id,
        _instance_nearby(member) if what == 2 else member.instance,
        member.generation - (what == 0),
        {},
        {3: "sticky", 4: None}.get(what, member.protocol),
        False,
    )


async def rejoin(member: Member) -> str | None:
    """A JoinGroup with nothing new, which a leader may be answered later and a follower at once."""
    return await _join_again(member)


async def rejoin_changed(member: Member) -> str | None:
    """A JoinGroup with another subscription, and perhaps other timeouts."""
    topics = member.chance.choice((["orders"], ["payments"], ["orders", "payments"]))
    data = b"y" * member.chance.randint(10, 40)
    member.protocols = {name: subscription(topics, data) for name in member.protocols}
    if member.chance.random() < 0.3:
        session, rebalance = member.timeouts
        member.timeouts = (session + 700, rebalance + member.chance.choice((-1_000, 1_000)))
    return await _join_again(member)


async def join_as_stranger(member: Member) -> None:
    """A JoinGroup with an id that nobody was given."""
    await member.client.join(STRANGER, None, member.protocols, member.timeouts, member.join_version())


async def join_misfit(member: Member) -> None:
    """A JoinGroup with a protocol or a type that nobody else has, or with a session that is too short."""
    version = max(member.join_version(), min(4, member.client.versions["JoinGroup"][1]))
    what = member.chance.randrange(3)
    await member.client.join(
        member.member_id,
        member.instance,
        {"odd": b""} if what == 0 else member.protocols,
        (500, 3_000) if what == 1 else member.timeouts,
        version,
        "connect" if what == 2 else "consumer",
    )


async def leave_odd(member: Member) -> None:
    """A LeaveGroup of nobody, of a member under another's instance id, or of an instance that is not there."""
    leavers = member.chance.choice(
        ([(STRANGER, None)], [(member.member_id, _instance_nearby(member))], [("", "instance-of-nobody")], [("", None)])
    )
    await member.client.leave(leavers)


async def leave_others(member: Member) -> None:
    """A LeaveGroup of several, members or not."""
    leavers = [each for each in member.group.some_of_recent(member.chance) if each[0] != member.member_id]
    await member.client.leave([*leavers, (STRANGER, None)])


async def delete_living(member: Member) -> None:
    """A DeleteGroups of the group, which lives."""
    await member.client.delete(member.group.name)


async def sleep(member: Member) -> None:
    """Nothing, for longer than the session may last."""
    await member.pause(member.group.session_ms / 1000 * 0.8, member.group.session_ms / 1000 * 1.5)


async def _join_again(member: Member) -> str | None:
    answer = await member.send_join(member.join_version())
    if answer is None or await member.read_join(answer):
        return None
    return error_name(answer["errorCode"])


def _instance_nearby(member: Member) -> str:
    """Return an instance id: of another member, most of the time, or of nobody."""
    known = [instance for _, instance in member.group.recent if instance not in (None, member.instance)]
    return member.chance.choice(known) if known and member.chance.random() < 0.7 else "instance-of-nobody"


# --- what is done when ---------------------------------------------------------------------------------------------


def _one_of(acts: dict[Act, int], chance: Random) -> Act:
    return chance.choices(list(acts), list(acts.values()))[0]


_IN_STABLE: dict[Act, int] = {
    heartbeat: 60,
    commit: 12,
    heartbeat_unheard: 2,
    commit_unheard: 2,
    heartbeat_stale: 3,
    heartbeat_of_nobody: 1,
    heartbeat_as_another: 1,
    commit_stale: 4,
    commit_odd: 3,
    commit_from_outside: 3,
    commit_as_another: 1,
    sync_again: 3,
    sync_wrong: 2,
    rejoin: 3,
    rejoin_changed: 2,
    join_as_stranger: 1,
    join_misfit: 1,
    leave_odd: 1,
    leave_others: 1,
    delete_living: 1,
    sleep: 2,
}
_BEFORE_SYNC: dict[Act, int] = {
    heartbeat_unheard: 12,
    commit_unheard: 8,
    heartbeat_stale: 2,
    commit_stale: 2,
    commit_odd: 1,
    commit_from_outside: 1,
    sync_wrong: 5,
    rejoin: 4,
    rejoin_changed: 3,
    join_as_stranger: 1,
    join_misfit: 1,
    leave_odd: 1,
    sleep: 1,
}
_WHILE_PARKED: dict[Act, int] = {
    heartbeat_unheard: 6,
    commit_unheard: 4,
    heartbeat_stale: 2,
    commit_stale: 2,
    commit_from_outside: 1,
    sync_wrong: 2,
    join_as_stranger: 1,
    leave_odd: 1,
    delete_living: 1,
}


async def in_stable(member: Member) -> str | None:
    """What a member does when it has an assignment; returns the error that it has to follow."""
    return await _one_of(_IN_STABLE, member.chance)(member)


async def before_sync(member: Member) -> None:
    """What a member does between the answer to its JoinGroup and its SyncGroup."""
    await _one_of(_BEFORE_SYNC, member.chance)(member)


async def while_parked(member: Member) -> None:
    """What a member does on another connection while its JoinGroup or SyncGroup waits for the others."""
    await _one_of(_WHILE_PARKED, member.chance)(member)
