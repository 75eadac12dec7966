"""The lives of chaotic members of groups of epochs: they join, do one thing after the other, go and come back."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random

from tests.support.chaos.client import Client
from tests.support.chaos.group import Group

Act = Callable[[], Awaitable["str | None"]]
"""Something that a member does; it returns the error that is to be heeded."""

JOIN, LEFT = 0, -1
SESSION_S = 4.0

OUT = ("FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID")
"""Errors after which a member joins again."""


class Liver:
    """A member, for as many lives as there is time for.

    Attributes:
        member_id: made up by itself.
        epoch: as it was told.
    """

    def __init__(self, client: Client, group: Group, chance: Random) -> None:
        self.client, self.group, self.chance = client, group, chance
        self.member_id, self.epoch = "", JOIN

    async def live(self) -> None:
        """Live until the group is over, one life after the other."""
        while not self.group.is_over:
            await self._pause(0.1, 1.5)
            if self.group.is_at_rest:
                continue
            with suppress(ConnectionError):
                await self._live_once()
                await self._go()

    async def _live_once(self) -> None:
        if not self.member_id or self.chance.random() < 0.8:
            self.member_id = base64.urlsafe_b64encode(self.chance.randbytes(16)).decode().rstrip("=")
        self._be_born()
        self._forget()
        for _ in range(self.chance.randint(3, 60)):
            if self.group.is_over or self.group.is_at_rest:
                return
            error = await (self._join() if self.epoch == JOIN else self._do_something())
            if not self._follows(error):
                return
            await self._pause(0.05, 0.6)

    def _be_born(self) -> None:
        """Choose what holds for a life."""

    def _forget(self) -> None:
        """Be no member any more."""
        self.epoch = JOIN

    async def _join(self) -> str:
        raise NotImplementedError

    def _acts(self) -> dict[Act, int]:
        """What members do, right or wrong, and how often of a hundred times or so."""
        raise NotImplementedError

    async def _do_something(self) -> str | None:
        acts = self._acts()
        return await self.chance.choices(list(acts), list(acts.values()))[0]()

    async def _leave(self) -> str:
        raise NotImplementedError

    async def _commit(self) -> None:
        await self._commit_with(self.epoch)

    async def _commit_late(self) -> None:
        await self._commit_with(self.epoch - self.chance.choice((1, 1, 2, -1)))

    async def _commit_with(self, epoch: int) -> None:
        offsets = {("orders", self.chance.randrange(6)): self.group.next_offset()}
        await self.client.commit(self.member_id, None, epoch, offsets)

    async def _speak_classic(self) -> None:
        """A request of the classic protocol, which such a member does not speak."""
        if self.chance.random() < 0.5:
            await self.client.heartbeat(self.member_id, None, self.epoch)
        else:
            await self.client.sync(self.member_id, None, self.epoch, {}, None, is_leader=False)

    async def _sleep(self) -> None:
        await self._pause(SESSION_S * 0.8, SESSION_S * 1.5)

    def _follows(self, error: str | None) -> bool:
        """Do what an error asks for; tell whether the life goes on."""
        if error in OUT:
            if self.chance.random() < 0.2:
                return True  # goes on as if nothing were
            self._forget()
        return error in (None, "NONE", *OUT) or self.chance.random() < 0.1

    async def _go(self) -> None:
        """Leave, or fall silent."""
        what = self.chance.random()
        if what < 0.5 and self.epoch > JOIN:
            await self._leave()
        self.client.hang_up()
        self.client.note_end()
        await self._pause(0.2, 3.0 if what < 0.8 else SESSION_S + 2)

    async def _pause(self, least: float, most: float) -> None:
        await asyncio.sleep(self.chance.uniform(least, most))
