"""Chaotic members of the consumer protocol (KIP-848): one heartbeat after the other, right ones and wrong ones."""

from __future__ import annotations

import asyncio
import time
from random import Random
from typing import Any

from schemas.kafka_errors import error_name
from tests.support.chaos.client import Client
from tests.support.chaos.connection import Body, Connection, Versions
from tests.support.chaos.group import Group
from tests.support.chaos.lives import JOIN, LEFT, Act, Liver
from tests.support.chaos.notes import Notes

HEARTBEAT = "ConsumerGroupHeartbeat"
DESCRIBE = "ConsumerGroupDescribe"

SETTINGS = {
    "group.consumer.session.timeout.ms": "4000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.max.size": "5",
    "group.consumer.migration.policy": "bidirectional",
}
"""Of the broker: sessions as short as those of the classic members beside them."""

EARLY_SETTINGS = {
    "group.coordinator.new.enable": "true",
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "unstable.api.versions.enable": "true",
}
"""What lets brokers up to 3.9 serve the protocol."""

AWAY = -2
REBALANCES_MS = (2_000, 4_000, 8_000)
TOPICS = (["orders"], ["orders"], ["orders", "payments"], ["payments"], [], ["no-such-topic"])
REGEXES = ("ord.*", ".*", "nothing.*")
DESCRIBE_EVERY_S = 1.5

Owned = list[dict[str, Any]]
"""Partitions as the protocol has them: topicId, partitions."""


class EpochMember(Liver):
    """A member, for as many lives as there is time for.

    Attributes:
        instance: its instance id; None = dynamic.
        owned: what it says that it has.
        given: what it was told that it may use.
    """

    def __init__(self, client: Client, group: Group, instance: str | None, chance: Random) -> None:
        super().__init__(client, group, chance)
        self.instance = instance
        self.owned: Owned = []
        self.given: Owned = []
        self._rebalance_ms = chance.choice(REBALANCES_MS)
        self._is_stuck = False
        self._gives_up_at = 0.0

    def _be_born(self) -> None:
        self._is_stuck = self.chance.random() < 0.1

    def _forget(self) -> None:
        super()._forget()
        self.owned, self.given = [], []

    # --- heartbeats --------------------------------------------------------------------------------------------

    async def _join(self) -> str:
        what, version = self.chance.random(), self._version()
        names: list[str] | None = self.chance.choice(TOPICS)
        regex = self.chance.choice(REGEXES) if version >= 1 and what < 0.15 else None
        return await self._beat(
            JOIN,
            version,
            rebalanceTimeoutMs=self._rebalance_ms,
            subscribedTopicNames=None if regex else names,
            subscribedTopicRegex=regex,
            serverAssignor=self.chance.choice((None, None, None, "uniform", "range", "bogus" if what > 0.97 else None)),
            rackId=self.chance.choice((None, None, "r1")),
            topicPartitions=[],
        )

    async def _keep_alive(self) -> str:
        """A heartbeat as it should be: what was given is acknowledged, sooner or later."""
        is_new = self.given != self.owned
        if is_new and not self._is_stuck and time.time() >= self._gives_up_at:
            self.owned = self.given
            return await self._beat(self.epoch, topicPartitions=self.owned)
        if self.chance.random() < 0.1:
            return await self._beat(self.epoch, topicPartitions=self.owned, rebalanceTimeoutMs=self._rebalance_ms)
        return await self._beat(self.epoch)

    def _acts(self) -> dict[Act, int]:
        return {
            self._keep_alive: 60,
            self._commit: 10,
            self._commit_late: 5,
            self._change: 6,
            self._lie: 4,
            self._come_again: 3,
            self._speak_classic: 3,
            self._sleep: 1,
        }

    async def _change(self) -> str:
        """A heartbeat that changes what the member is or wants."""
        what = self.chance.randrange(4)
        if what == 0 and self.client.versions[HEARTBEAT][1] >= 1:
            return await self._beat(self.epoch, 1, subscribedTopicRegex=self.chance.choice((*REGEXES, "", "[")))
        if what == 1:
            return await self._beat(self.epoch, rackId=self.chance.choice(("r1", "r2")))
        if what == 2:
            self._rebalance_ms = self.chance.choice(REBALANCES_MS)
            return await self._beat(self.epoch, rebalanceTimeoutMs=self._rebalance_ms)
        return await self._beat(self.epoch, subscribedTopicNames=self.chance.choice(TOPICS))

    async def _lie(self) -> str | None:
        """A heartbeat of another epoch, of nobody, with partitions that are not the member's, or as another instance.

        Its answer is not heeded, but where it is as good as the member's own.
        """
        what = self.chance.randrange(5)
        if what == 0:
            return await self._beat(self.epoch, topicPartitions=self.chance.choice(([], self.given, self.owned)))
        if what == 1:
            return await self._beat(self.epoch - 1, topicPartitions=self.chance.choice((None, [], self.owned)))
        if what == 2:
            await self._beat(self.epoch + 1, heeded=False)
        elif what == 3:
            await self._beat(3, member_id="stranger", heeded=False)
        else:
            await self._beat(self.epoch, instance="instance-of-nobody", heeded=False)
        return None

    async def _come_again(self) -> str:
        """A join of who is a member: under its own id, or with its instance id under another."""
        if self.instance is not None and self.chance.random() < 0.5:
            return await self._beat(JOIN, member_id="again", heeded=False, **self._all_fields())
        return await self._beat(JOIN, **self._all_fields())

    def _all_fields(self) -> dict[str, Any]:
        names = self.chance.choice(TOPICS)
        return {"rebalanceTimeoutMs": self._rebalance_ms, "subscribedTopicNames": names, "topicPartitions": []}

    # --- what follows ------------------------------------------------------------------------------------------

    async def _leave(self) -> str:
        """Leave, for good or for a while."""
        is_for_a_while = self.instance is not None and self.chance.random() < 0.6
        return await self._beat(AWAY if is_for_a_while else LEFT)

    async def _beat(
        self,
        epoch: int,
        version: int | None = None,
        member_id: str | None = None,
        instance: str | None = None,
        heeded: bool = True,
        **said: Any,
    ) -> str:
        """Send a heartbeat; take what it is answered, if that is heeded; return the error."""
        fields: Body = {
            "memberId": self.member_id if member_id is None else member_id,
            "memberEpoch": epoch,
            "instanceId": instance or self.instance,
            **said,
        }
        answer = await self.client.epoch_heartbeat(self._version() if version is None else version, fields)
        if heeded and not answer["errorCode"] and epoch >= JOIN:
            self.epoch = answer["memberEpoch"]
            if answer["assignment"] is not None:
                self.given = answer["assignment"]["topicPartitions"]
                self._gives_up_at = time.time() + (self.chance.uniform(0, 3) if self.chance.random() < 0.3 else 0)
        return error_name(answer["errorCode"])

    def _version(self) -> int:
        low, high = self.client.versions[HEARTBEAT]
        return self.chance.choice((low, high, high))


async def describe(server: str, versions: Versions, notes: Notes, groups: list[Group]) -> None:
    """Note every now and then what a broker says of each group that is a consumer group then."""
    connection = Connection(server, "describe-epochs")
    topics: set[str] = set()
    while not all(group.is_over for group in groups):
        await asyncio.sleep(DESCRIBE_EVERY_S)
        began = time.time()
        body = {"groupIds": [group.name for group in groups], "includeAuthorizedOperations": 0}
        try:
            answer = await connection.ask(DESCRIBE, versions[DESCRIBE][1], body)
        except ConnectionError:
            continue  # it is down
        ended = time.time()
        for said in answer["groups"]:
            if not said["errorCode"]:
                _note_topics(notes, said, topics)
                _note_group(notes, said, began, ended)
    connection.close()


def _note_topics(notes: Notes, said: Body, known: set[str]) -> None:
    """Note the ids of topics that have not been seen before."""
    for member in said["members"]:
        for each in member["assignment"]["topicPartitions"]:
            if each["topicId"] not in known:
                known.add(each["topicId"])
                notes.note("_topic", time.time(), topic=each["topicName"], topic_id=each["topicId"])


def _note_group(notes: Notes, said: Body, began: float, ended: float) -> None:
    notes.note(
        "_describe",
        began,
        ended,
        group=said["groupId"],
        gtype="CONSUMER",
        error=0,
        state=said["groupState"].upper(),
        epoch=said["groupEpoch"],
        assignment_epoch=said["assignmentEpoch"],
        assignor=said["assignorName"],
        members={
            member["memberId"]: {
                "client": member["clientId"],
                "host": member["clientHost"],
                "instance": member["instanceId"],
                "rack": member["rackId"],
                "epoch": member["memberEpoch"],
                "topics": member["subscribedTopicNames"],
                "regex": member["subscribedTopicRegex"],
                "parts": _named(member["assignment"]),
                "target": _named(member["targetAssignment"]),
                "member_type": member.get("memberType"),
            }
            for member in said["members"]
        },
    )


def _named(assignment: Body) -> list[str]:
    parts = assignment["topicPartitions"]
    return sorted(f"{each['topicName']}-{number}" for each in parts for number in each["partitions"])
