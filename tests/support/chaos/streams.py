"""Chaotic members of streams groups (KIP-1071): threads of a few processes, most of which run one topology."""

from __future__ import annotations

import time
from random import Random
from typing import Any

from schemas.kafka_errors import error_name
from tests.support.chaos.client import Client
from tests.support.chaos.connection import Body
from tests.support.chaos.group import Group
from tests.support.chaos.lives import JOIN, LEFT, Act, Liver

HEARTBEAT = "StreamsGroupHeartbeat"

SETTINGS = {
    "group.streams.session.timeout.ms": "4000",
    "group.streams.min.session.timeout.ms": "1000",
    "group.streams.heartbeat.interval.ms": "500",
    "group.streams.min.heartbeat.interval.ms": "100",
    "group.streams.max.size": "5",
    "group.streams.num.standby.replicas": "1",
}
REBALANCES_MS = (2_000, 4_000, 8_000)
ROLES = ("activeTasks", "standbyTasks", "warmupTasks")

_NOTHING = {
    "endpointInformationEpoch": 0,
    "instanceId": None,
    "rackId": None,
    "rebalanceTimeoutMs": -1,
    "topology": None,
    **dict.fromkeys(ROLES),
    "processId": None,
    "userEndpoint": None,
    "clientTags": None,
    "taskOffsets": None,
    "taskEndOffsets": None,
    "shutdownApplication": 0,
}

Tasks = dict[str, list[dict[str, Any]]]
"""By role, the tasks of each subtopology."""


def _topology(epoch: int, *topics: str, partitions: int = 0) -> Body:
    """Return a topology with a subtopology for each topic, the first of which keeps a store."""
    changelog = {"name": "store-changelog", "partitions": partitions, "replicationFactor": 1, "topicConfigs": []}
    parts = [
        {
            "subtopologyId": str(number),
            "sourceTopics": [topic],
            "sourceTopicRegex": [],
            "stateChangelogTopics": [] if number else [changelog],
            "repartitionSinkTopics": [],
            "repartitionSourceTopics": [],
            "copartitionGroups": [],
        }
        for number, topic in enumerate(topics)
    ]
    return {"epoch": epoch, "subtopologies": parts}


USUAL = _topology(1, "orders", "payments")
OTHERS = (_topology(1, "orders"), _topology(2, "orders", "payments"), _topology(0, "orders", "payments"))
BROKEN = _topology(1, "orders", partitions=3)
MISSING = _topology(1, "no-such-topic")


class StreamsMember(Liver):
    """A thread of a process."""

    def __init__(self, client: Client, group: Group, process: str, chance: Random) -> None:
        super().__init__(client, group, chance)
        self.process = process
        self.owned: Tasks = {}
        self.given: Tasks = {}
        self._rebalance_ms = chance.choice(REBALANCES_MS)
        self._is_stuck = False
        self._gives_up_at = 0.0

    def _be_born(self) -> None:
        self._is_stuck = self.chance.random() < 0.1

    def _forget(self) -> None:
        super()._forget()
        self.owned, self.given = ({role: [] for role in ROLES} for _ in range(2))

    async def _join(self) -> str:
        what = self.chance.random()
        topology = USUAL if what < 0.88 else self.chance.choice((*OTHERS, BROKEN, MISSING, None))
        said: Body = {"topology": topology, **{role: [] for role in ROLES}, "rebalanceTimeoutMs": self._rebalance_ms}
        if self.chance.random() < 0.04:
            said |= self.chance.choice(({"rebalanceTimeoutMs": -1}, {"activeTasks": None}, {"instanceId": "i1"}))
        if self.chance.random() < 0.1:
            said |= self.chance.choice(({"rackId": "r1"}, {"clientTags": [{"key": "zone", "value": "a"}]}))
        return await self._beat(JOIN, processId=self.process, **{"clientTags": [], **said})

    def _acts(self) -> dict[Act, int]:
        return {
            self._keep_alive: 60,
            self._commit: 8,
            self._commit_late: 6,
            self._change: 6,
            self._lie: 8,
            self._come_again: 3,
            self._speak_classic: 3,
            self._sleep: 1,
        }

    async def _keep_alive(self) -> str:
        """A heartbeat as it should be: what was given is acknowledged, sooner or later."""
        is_new = self.given != self.owned
        if is_new and not self._is_stuck and time.time() >= self._gives_up_at:
            self.owned = self.given
            return await self._beat(self.epoch, **self.owned)
        if self.chance.random() < 0.1:
            return await self._beat(self.epoch, **self.owned, rebalanceTimeoutMs=self._rebalance_ms)
        return await self._beat(self.epoch)

    async def _change(self) -> str:
        what = self.chance.randrange(4)
        if what == 0:
            return await self._beat(self.epoch, rackId=self.chance.choice(("r1", "r2")))
        if what == 1:
            return await self._beat(self.epoch, clientTags=self.chance.choice(([], [{"key": "zone", "value": "b"}])))
        if what == 2:
            return await self._beat(self.epoch, processId=f"{self.process}-again")
        self._rebalance_ms = self.chance.choice(REBALANCES_MS)
        return await self._beat(self.epoch, rebalanceTimeoutMs=self._rebalance_ms)

    async def _lie(self) -> str | None:
        """A heartbeat of another epoch, of nobody, or of tasks that are not the member's or cannot be listed so."""
        what = self.chance.randrange(8)
        nothing = {role: [] for role in ROLES}
        if what == 0:
            return await self._beat(self.epoch, **self.chance.choice((nothing, self.given, self.owned)))
        if what == 1:
            return await self._beat(self.epoch - 1, **self.chance.choice(({}, nothing, self.owned)))
        if what == 2:
            await self._beat(self.epoch + 1, heeded=False)
        elif what == 3:
            await self._beat(self.chance.choice((3, LEFT)), member_id="stranger", heeded=False)
        elif what == 4:
            await self._beat(self.epoch, heeded=False, activeTasks=[])
        elif what == 5:
            task = self.chance.choice(
                ({"subtopologyId": "9", "partitions": [0]}, {"subtopologyId": "0", "partitions": [77]})
            )
            await self._beat(self.epoch, heeded=False, **{**nothing, "activeTasks": [task]})
        elif what == 6:
            await self._beat(self.chance.choice((-2, -3)), heeded=False)
        else:
            await self._beat(self.epoch, heeded=False, topology=USUAL)
        return None

    async def _come_again(self) -> str:
        return await self._join()

    async def _leave(self) -> str:
        return await self._beat(LEFT)

    async def _beat(self, epoch: int, member_id: str | None = None, heeded: bool = True, **said: Any) -> str:
        """Send a heartbeat; take what it is answered, if that is heeded; return the error."""
        named = {"memberId": self.member_id if member_id is None else member_id, "memberEpoch": epoch}
        answer = await self.client.beat(HEARTBEAT, self.client.versions[HEARTBEAT][1], {**_NOTHING, **named, **said})
        if heeded and not answer["errorCode"] and epoch >= JOIN:
            self.epoch = answer["memberEpoch"]
            if answer["activeTasks"] is not None:
                self.given = {role: answer[role] or [] for role in ROLES}
                self._gives_up_at = time.time() + (self.chance.uniform(0, 3) if self.chance.random() < 0.3 else 0)
        return error_name(answer["errorCode"])
