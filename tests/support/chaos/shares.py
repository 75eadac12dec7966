"""Chaotic members of share groups (KIP-932)."""

from __future__ import annotations

from typing import Any

from schemas.kafka_errors import error_name
from tests.support.chaos.connection import Body
from tests.support.chaos.lives import JOIN, LEFT, Act, Liver

HEARTBEAT = "ShareGroupHeartbeat"

SETTINGS = {
    "group.share.session.timeout.ms": "4000",
    "group.share.min.session.timeout.ms": "1000",
    "group.share.heartbeat.interval.ms": "500",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.max.size": "5",
}
TOPICS = (["orders"], ["orders"], ["orders", "payments"], ["payments"], ["no-such-topic"], ["orders", "no-such-topic"])


class ShareMember(Liver):
    """A member of a share group, which takes what it is given and gives nothing back."""

    async def _join(self) -> str:
        what = self.chance.random()
        names = None if what > 0.98 else [] if what > 0.96 else self.chance.choice(TOPICS)
        return await self._beat(JOIN, subscribedTopicNames=names, rackId=self.chance.choice((None, None, "r1")))

    def _acts(self) -> dict[Act, int]:
        return {
            self._keep_alive: 60,
            self._change: 8,
            self._lie: 8,
            self._come_again: 4,
            self._commit: 2,
            self._speak_classic: 3,
            self._sleep: 1,
        }

    async def _keep_alive(self) -> str:
        return await self._beat(self.epoch)

    async def _change(self) -> str:
        if self.chance.random() < 0.3:
            return await self._beat(self.epoch, rackId=self.chance.choice(("r1", "r2", "")))
        return await self._beat(self.epoch, subscribedTopicNames=self.chance.choice((*TOPICS, [])))

    async def _lie(self) -> str | None:
        """A heartbeat of another epoch, or of nobody."""
        what = self.chance.randrange(5)
        if what == 0:
            return await self._beat(self.epoch - 1)
        if what == 1:
            await self._beat(self.epoch + 1, heeded=False)
        elif what == 2:
            await self._beat(self.chance.choice((3, LEFT)), member_id="stranger", heeded=False)
        elif what == 3:
            await self._beat(self.chance.choice((-2, 1)), heeded=False)
        else:
            await self._beat(JOIN, member_id=self.chance.choice(("", "x" * 37)), heeded=False)
        return None

    async def _come_again(self) -> str:
        return await self._join()

    async def _leave(self) -> str:
        return await self._beat(LEFT)

    async def _beat(self, epoch: int, member_id: str | None = None, heeded: bool = True, **said: Any) -> str:
        """Send a heartbeat; take what it is answered, if that is heeded; return the error."""
        body: Body = {
            "memberId": self.member_id if member_id is None else member_id,
            "memberEpoch": epoch,
            "rackId": None,
            "subscribedTopicNames": None,
            **said,
        }
        answer = await self.client.beat(HEARTBEAT, self.client.versions[HEARTBEAT][1], body)
        if heeded and not answer["errorCode"] and epoch >= JOIN:
            self.epoch = answer["memberEpoch"]
        return error_name(answer["errorCode"])
