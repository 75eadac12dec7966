"""One chaotic member: joins, syncs, stays, goes, and comes back as somebody else or as itself."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random
from typing import TypeVar

from schemas.kafka_errors import error_name
from tests.support.chaos import mischief
from tests.support.chaos.client import NO_COORDINATOR, Client
from tests.support.chaos.connection import Body, some_version
from tests.support.chaos.contents import assignment, dealt_out, subscription
from tests.support.chaos.group import Group

T = TypeVar("T")

PATIENCE_S = 9.0
"""A parked request that takes longer is given up by its member, though its answer may still come."""

OFFERS: dict[tuple[str, ...], float] = {
    ("range",): 12,
    ("range", "roundrobin"): 4,
    ("roundrobin", "range"): 3,
    ("sticky",): 0.4,
}
"""Protocols that members offer, and how often."""

GHOST = "ghost-0"
OUT = ("UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID", "GROUP_MAX_SIZE_REACHED")


class Member:
    """A member of a group, for as many lives as there is time for.

    Attributes:
        member_id: "" before it has one.
        instance: its instance id; None = dynamic.
        generation: of the last successful join.
        leader: member id of the group's leader, as it was told.
        protocols: what it offers, with metadata.
        is_in_sync: it has an assignment in this generation, or does without one.
    """

    def __init__(self, client: Client, group: Group, instance: str | None, chance: Random) -> None:
        self.client = client
        self.group = group
        self.instance = instance if client.knows_instances() else None
        self.chance = chance
        self.member_id = ""
        self.generation = -1
        self.leader = ""
        self.protocol: str | None = None
        self.members: list[str] = []
        self.protocols: dict[str, bytes] = {}
        self.is_in_sync = False
        self.timeouts = (group.session_ms, group.rebalance_ms)

    async def live(self) -> None:
        """Live until the group is over, one life after the other."""
        while not self.group.is_over:
            await self.pause(0.1, 1.5)
            if self.group.is_at_rest:
                continue
            with suppress(ConnectionError):  # a broker hangs up on a connection on which it has failed
                await self.live_once()
                await self.go()

    async def live_once(self) -> None:
        """Join, and do one thing after the other until it is enough."""
        self.be_born()
        for _ in range(self.chance.randint(3, 40)):
            if self.group.is_over or self.group.is_at_rest:
                break
            if self.generation < 0:
                if not await self.join():
                    break
            elif not self.is_in_sync:
                await self.sync()
            else:
                await self.pause(0.05, 0.6)
                self.follow(await mischief.in_stable(self))

    def be_born(self) -> None:
        """Begin a life: without an id, with protocols and timeouts chosen anew."""
        self.member_id, self.generation, self.is_in_sync = "", -1, False
        self.offer()
        longer = self.chance.choice((0, 0, 0, 1_000))
        self.timeouts = (self.group.session_ms, self.group.rebalance_ms + longer)

    def offer(self) -> None:
        """Choose protocols: the ones that most members have, or fewer, or none that the others have."""
        topics = self.chance.choice((["orders"], ["orders"], ["orders", "payments"]))
        data = self.chance.choice((None, None, None, b"x" * self.chance.randint(1, 9)))
        names = self.chance.choices(list(OFFERS), list(OFFERS.values()))[0]
        self.protocols = {name: subscription(topics, data) for name in names}

    # --- join --------------------------------------------------------------------------------------------------

    async def join(self) -> bool:
        """Join, in one step or in two; tell whether it became a member of a generation."""
        version = self.join_version()
        answer = await self.send_join(version)
        if answer is not None and error_name(answer["errorCode"]) == "MEMBER_ID_REQUIRED":
            self.member_id = answer["memberId"]
            if not await self._come_back():
                return False
            answer = await self.send_join(version)
        return answer is not None and await self.read_join(answer)

    def join_version(self) -> int:
        """Choose a version of JoinGroup."""
        return some_version(self.client.versions, "JoinGroup", self.chance, self.group.first_join)

    async def _come_back(self) -> bool:
        """Wait as long as one likes with an id that was given out; tell whether to join with it."""
        what = self.chance.random()
        if what < 0.1:
            await self.pause(0.0, 2.0)
        elif what < 0.17:
            await self.pause(0.0, 0.5)
            await self.client.leave([(self.member_id, None)])
            self.member_id = ""
            return False
        elif what < 0.27:
            self.member_id = ""
            return False
        elif what < 0.32:
            await self.pause(self.group.session_ms / 1000 * 0.9, self.group.session_ms / 1000 * 1.2)
        return True

    async def send_join(self, version: int) -> Body | None:
        """Send a JoinGroup, and perhaps other requests while it waits; None if its answer takes too long."""
        asking = asyncio.ensure_future(
            self.client.join(self.member_id, self.instance, self.protocols, self.timeouts, version)
        )
        while not asking.done() and self.chance.random() < 0.15:
            await self.pause(0.02, 0.8)
            if not asking.done():
                await mischief.while_parked(self)
        return await self.patiently(asking)

    async def read_join(self, answer: Body) -> bool:
        """Take an answer; tell whether it made the member one of a generation."""
        error = error_name(answer["errorCode"])
        if error in OUT:
            self.member_id, self.generation = "", -1
            await self.pause(0.2, 1.5)
            return error != "GROUP_MAX_SIZE_REACHED" and self.chance.random() < 0.5 and await self.join()
        if error in NO_COORDINATOR:
            await self.pause(0.1, 0.3)
            return False
        if error != "NONE":
            return False
        self.member_id = answer["memberId"]
        if answer["generationId"] != self.generation:
            self.generation, self.is_in_sync = answer["generationId"], False
        self.leader = answer["leader"]
        self.protocol = answer["protocolName"]
        self.members = [member["memberId"] for member in answer["members"]]
        self.group.recent.append((self.member_id, self.instance))
        return True

    # --- sync --------------------------------------------------------------------------------------------------

    @property
    def leads(self) -> bool:
        """Whether it was told that it leads."""
        return self.leader == self.member_id

    async def sync(self) -> None:
        """Sync, sooner or later, or never."""
        while self.chance.random() < 0.3:
            await mischief.before_sync(self)
        what = self.chance.random()
        if self.leads and what < 0.3:
            await self.pause(0.3, 4.0)
        self.is_in_sync = True
        if what > (0.88 if self.leads else 0.93) or self.generation < 0:
            return
        assignments = self._assignments() if self.leads else {}
        asking = asyncio.ensure_future(
            self.client.sync(
                self.member_id,
                self.instance,
                self.generation,
                assignments,
                self.protocol,
                self.leads,
            )
        )
        while not asking.done() and self.chance.random() < 0.1:
            await self.pause(0.02, 0.6)
            if not asking.done():
                await mischief.while_parked(self)
        answer = await self.patiently(asking)
        if answer is not None:
            self.follow(error_name(answer["errorCode"]))

    def _assignments(self) -> dict[str, bytes]:
        """Assign: well, or with somebody left out, or with a ghost."""
        dealt = dealt_out(self.members)
        what = self.chance.random()
        if what < 0.1 and dealt:
            del dealt[self.chance.choice(sorted(dealt))]
        elif what < 0.18:
            dealt[GHOST] = assignment({"orders": [0]})
        elif what < 0.23:
            return {}
        return dealt

    def follow(self, error: str | None) -> None:
        """Do what an error asks for, most of the time: join again, as the same member or as a new one."""
        if error in OUT:
            self.member_id, self.generation = "", -1
        elif error == "ILLEGAL_GENERATION" or (error == "REBALANCE_IN_PROGRESS" and self.chance.random() < 0.9):
            self.generation = -1

    # --- go ----------------------------------------------------------------------------------------------------

    async def go(self) -> None:
        """Go: leave, be put out by an admin, take others along, or fall silent."""
        what = self.chance.random()
        if self.member_id and what < 0.35:
            await self.client.leave([(self.member_id, self.instance if self.chance.random() < 0.5 else None)])
        elif self.instance and what < 0.45:
            await self.client.leave([("", self.instance)])
        elif what < 0.55 and self.group.recent:
            leavers = self.group.some_of_recent(self.chance)
            await self.client.leave([*leavers, (self.member_id or GHOST, self.instance)])
        self.client.hang_up()
        self.client.note_end()
        if self.instance is None or what < 0.6 or self.chance.random() < 0.5:
            await self.pause(0.3, 3.0)

    # --- time --------------------------------------------------------------------------------------------------

    async def pause(self, least: float, most: float) -> None:
        """Wait for a random time, in seconds."""
        await asyncio.sleep(self.chance.uniform(least, most))

    async def patiently(self, asking: asyncio.Future[T]) -> T | None:
        """Wait for an answer; None if it takes too long."""
        done, _ = await asyncio.wait([asking], timeout=PATIENCE_S)
        return asking.result() if done else None
