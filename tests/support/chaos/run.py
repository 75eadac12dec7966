"""A chaotic run: who takes part in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any

from tests.support.chaos import epochs, others, shares, streams
from tests.support.chaos.client import FIRST_WITH_INSTANCE, Client
from tests.support.chaos.cluster import Cluster, befall
from tests.support.chaos.connection import Versions, shared_versions
from tests.support.chaos.group import Group
from tests.support.chaos.member import Member
from tests.support.chaos.notes import Notes
from tests.support.kafka_broker import Brokers

GROUPS = 8
MEMBERS = (3, 6)
"""How many take turns in a group, from and to; group.max.size is 3."""

STATIC = (1, 3, 4, 6)
"""Groups that have static members beside others."""

MIXED = (2, 3, 5)
"""Groups with epochs that have classic members, too, so that they are converted."""

PROCESSES = 3
"""Processes of a streams group, whose threads its members are."""

REBORN = "reborn"
LAST_ANSWERS_S = 8.0


async def run(
    brokers: Brokers,
    seed: int,
    seconds: float,
    truth: Path,
    *,
    has_old_leaders: bool = False,
    has_epochs: bool = False,
    describes_epochs: bool = True,
) -> None:
    """Let chaotic clients loose on brokers; where there are several, all but the first die and come back, too.

    Args:
        brokers: that run.
        seed: what the clients' choices follow from, as far as the broker's answers let them.
        seconds: how long it takes, the end of it not counted.
        truth: file that the clients' notes go to.
        has_old_leaders: members that do not know of static members may lead groups that have some. Up to 3.2 a broker
            fails when it has to tell them of those.
        has_epochs: there are groups with members of the newer protocols, too, as far as the broker serves them.
        describes_epochs: what the broker says of these groups is noted.
    """
    servers = brokers.bootstrap_servers
    versions = await shared_versions(servers[0])
    await others.warm_up(servers[0], versions)
    cluster = Cluster(servers, versions)
    notes = Notes(truth)
    stops_at = time.time() + seconds

    def client(group: Group, name: str) -> Client:
        return Client(cluster, notes, group.name, name, Random(f"{seed} {group.name} {name} versions"))

    parts: list[Coroutine[Any, Any, None]] = [befall(brokers, notes, Random(f"{seed} brokers"), stops_at)]
    groups: list[Group] = []
    for number in range(GROUPS):
        chance = Random(f"{seed} {number}")
        group = Group(f"chaos-{number}", chance, stops_at)
        groups.append(group)
        has_static_members = number in STATIC
        if has_static_members and not has_old_leaders:
            group.first_join = FIRST_WITH_INSTANCE["JoinGroup"]
        for index in range(chance.randint(*MEMBERS)):
            # Fewer instance ids than static members, so that one meets the other.
            is_static = has_static_members and chance.random() < 0.6
            instance = f"inst-{number}-{index % 2}" if is_static else None
            name = f"c{number}-{index}"
            parts.append(Member(client(group, name), group, instance, Random(f"{seed} {name}")).live())
        parts.append(others.meddle(client(group, f"tool-{number}"), group, Random(f"{seed} tool {number}")))
    reborn = Group(REBORN, Random(f"{seed} {REBORN}"), stops_at)
    groups.append(reborn)
    member = Member(client(reborn, "reborn-0"), reborn, None, Random(f"{seed} reborn-0"))
    parts.append(others.be_reborn(member, Random(f"{seed} rebirths")))
    parts += [others.describe(server, versions, notes, groups) for server in servers]
    if has_epochs:
        with_epochs = _with_epochs(client, seed, stops_at, parts)
        if describes_epochs:
            parts += [epochs.describe(server, versions, notes, with_epochs) for server in servers]
        parts += _with_shares_and_streams(client, seed, stops_at, versions)
    await _all(parts, seconds + LAST_ANSWERS_S)
    notes.close()


def _with_epochs(
    client: Callable[[Group, str], Client], seed: int, stops_at: float, parts: list[Coroutine[Any, Any, None]]
) -> list[Group]:
    """Let members of the consumer protocol take turns in groups of their own, in some with classic ones among them."""
    groups = []
    for number in range(GROUPS):
        chance = Random(f"{seed} epochs {number}")
        group = Group(f"epochs-{number}", chance, stops_at)
        groups.append(group)
        for index in range(chance.randint(*MEMBERS) + 1):
            name = f"e{number}-{index}"
            instance = f"inst-{number}-{index % 2}" if number in STATIC and chance.random() < 0.6 else None
            chances = Random(f"{seed} {name}")
            is_classic = number in MIXED and index % 2
            member = Member if is_classic else epochs.EpochMember
            parts.append(member(client(group, name), group, instance, chances).live())
        parts.append(others.meddle(client(group, f"tool-e{number}"), group, Random(f"{seed} epochs tool {number}")))
    return groups


def _with_shares_and_streams(
    client: Callable[[Group, str], Client], seed: int, stops_at: float, versions: Versions
) -> list[Coroutine[Any, Any, None]]:
    """Let members of share and streams groups take turns, and tools and classic members that take them for others."""
    parts: list[Coroutine[Any, Any, None]] = []
    for kind in (each for each in ("shares", "streams") if _HEARTBEATS[each] in versions):
        for number in range(GROUPS // 2):
            chance = Random(f"{seed} {kind} {number}")
            group = Group(f"{kind}-{number}", chance, stops_at)
            for index in range(chance.randint(*MEMBERS)):
                name = f"{kind[:2]}{number}-{index}"
                who, chances = client(group, name), Random(f"{seed} {name}")
                process = f"process-{chance.randrange(PROCESSES)}"
                member = (
                    shares.ShareMember(who, group, chances)
                    if kind == "shares"
                    else streams.StreamsMember(who, group, process, chances)
                )
                parts.append(member.live())
            tool = client(group, f"tool-{kind[:2]}{number}")
            parts.append(others.meddle(tool, group, Random(f"{seed} {kind} tool {number}")))
    return parts


_HEARTBEATS = {"shares": shares.HEARTBEAT, "streams": streams.HEARTBEAT}


async def _all(parts: list[Coroutine[Any, Any, None]], seconds: float) -> None:
    """Run all parts; whoever still waits for an answer after that time waits in vain."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    done, waiting = await asyncio.wait(tasks, timeout=seconds)
    for task in waiting:
        task.cancel()
    for task in done:
        task.result()
    await asyncio.gather(*waiting, return_exceptions=True)
