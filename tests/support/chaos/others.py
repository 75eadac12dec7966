"""Beside the members: tools, an admin who looks on, and a group that is deleted and comes again."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from random import Random

from schemas.kafka_errors import error_name
from tests.support.chaos.client import Client
from tests.support.chaos.connection import Connection, Versions, some_version
from tests.support.chaos.contents import TOPICS, partitions_of, subscription
from tests.support.chaos.group import Group
from tests.support.chaos.member import Member
from tests.support.chaos.notes import Notes

DESCRIBE_EVERY_S = 1.5
STATES = {
    "PreparingRebalance": "PREPARING_REBALANCING",
    "CompletingRebalance": "COMPLETING_REBALANCING",
    "Stable": "STABLE",
    "Empty": "EMPTY",
    "Dead": "DEAD",
}
"""Names of the coordinator's states to those of the admin API."""

WARM_UP_S = 60
CREATE_TIMEOUT_MS = 10_000


async def warm_up(server: str, versions: Versions) -> None:
    """Create the topics, and a first commit, for which the broker creates its offsets topic."""
    connection = Connection(server, "warm-up")
    topics = [
        {"name": name, "numPartitions": count, "replicationFactor": 1, "assignments": [], "configs": []}
        for name, count in TOPICS.items()
    ]
    body = {"topics": topics, "timeoutMs": CREATE_TIMEOUT_MS, "validateOnly": 0}
    await connection.ask("CreateTopics", versions["CreateTopics"][1], body)
    until = time.monotonic() + WARM_UP_S
    coordinator = {"key": "warm-up", "keyType": 0}
    while (await connection.ask("FindCoordinator", versions["FindCoordinator"][1], coordinator))["errorCode"]:
        if time.monotonic() > until:
            raise TimeoutError("the broker has no group coordinator")
        await asyncio.sleep(0.2)
    await asyncio.sleep(1)  # until all partitions are loaded
    connection.close()


async def describe(server: str, versions: Versions, notes: Notes, groups: list[Group]) -> None:
    """Note every now and then what a broker says of each group that it coordinates."""
    connection = Connection(server, "describe")
    version = versions["DescribeGroups"][1]
    while not all(group.is_over for group in groups):
        body = {"groups": [group.name for group in groups], "includeAuthorizedOperations": 0}
        await asyncio.sleep(DESCRIBE_EVERY_S)
        began = time.time()
        try:
            answer = await connection.ask("DescribeGroups", version, body)
        except ConnectionError:
            continue  # it is down
        for said in answer["groups"]:
            if said["errorCode"]:
                continue  # it is not the coordinator, or does not know of the group yet
            members = {
                member["memberId"]: {
                    "client": member["clientId"],
                    "host": member["clientHost"],
                    "instance": member.get("groupInstanceId"),
                    "parts": [
                        f"{topic}-{partition}"
                        for topic, partitions in partitions_of(member["memberAssignment"]).items()
                        for partition in partitions
                    ],
                }
                for member in said["members"]
            }
            notes.note(
                "_describe",
                began,
                group=said["groupId"],
                state=STATES[said["groupState"]],
                assignor=said["protocolData"],
                gtype="CLASSIC",
                members=members,
            )
    connection.close()


async def meddle(client: Client, group: Group, chance: Random) -> None:
    """Send requests to a group, now and then, without ever being a member; mind neither its state nor the answers."""
    while not group.is_over:
        await asyncio.sleep(chance.uniform(0.5, 4.0))
        with suppress(ConnectionError):
            await _meddle_once(client, group, chance)


async def _meddle_once(client: Client, group: Group, chance: Random) -> None:
    what = chance.randrange(9)
    offsets = {(chance.choice(("orders", "payments")), 0): group.next_offset()}
    if what < 3:
        await client.commit("", None, -1, offsets)
    elif what == 3:
        await client.commit("tool-0", None, chance.choice((-1, 0, 5)), offsets)
    elif what == 4:
        await client.heartbeat("tool-0", None, chance.choice((0, 1, 5)))
    elif what == 5:
        await client.sync("tool-0", None, 1, {}, None, is_leader=False)
    elif what == 6:
        await client.leave([("tool-0", None)])
    elif what == 7:
        await client.delete(chance.choice((f"{group.name}-nobody", f"{group.name}-nobody", group.name)))
    else:
        version = some_version(client.versions, "JoinGroup", chance, 4)
        await client.join("tool-0", None, {"range": subscription(["orders"])}, (3_000, 3_000), version)


async def be_reborn(member: Member, chance: Random) -> None:
    """Have a group that lives for a few seconds, is deleted and comes again, from generation 1."""
    while not member.group.is_over:
        with suppress(ConnectionError):
            await _be_born_and_die(member, chance)
        await asyncio.sleep(chance.uniform(0.2, 2.0))


async def _be_born_and_die(member: Member, chance: Random) -> None:
    client, group = member.client, member.group
    await member.live_once()
    await client.leave([(member.member_id, None)])
    if chance.random() < 0.4:
        await client.commit("", None, -1, {("orders", 0): group.next_offset()})
    client.note_end()
    await asyncio.sleep(chance.uniform(0.0, 1.0))
    while error_name(await client.delete(group.name)) == "NON_EMPTY_GROUP" and not group.is_over:
        await asyncio.sleep(0.5)
    if chance.random() < 0.4:
        await client.commit("", None, -1, {("orders", 0): group.next_offset()})
