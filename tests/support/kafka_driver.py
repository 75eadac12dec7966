"""Clients of a real broker: members of consumer groups, a producer, offsets committed in transactions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.abc import ConsumerRebalanceListener
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

WAIT_S = 20
HEARTBEAT_MS = 200
SESSION_MS = 6_000


@dataclass(frozen=True)
class Told:
    """What a member knew when a rebalance had given it its partitions."""

    group_id: str
    member_id: str
    generation: int
    partitions: frozenset[tuple[str, int]]


class Member(ConsumerRebalanceListener):
    """One consumer of a group, from `start` to `stop`.

    Attributes:
        told: what it was told, in order.
    """

    def __init__(self, servers: list[str], group: str, topic: str, client: str, instance: str | None = None) -> None:
        self.told: list[Told] = []
        self._group = group
        self._topic = topic
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=servers,
            group_id=group,
            client_id=client,
            group_instance_id=instance,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=HEARTBEAT_MS,
            session_timeout_ms=SESSION_MS,
        )

    async def start(self) -> Member:
        """Join; return when the first assignment has come."""
        self._consumer.subscribe([self._topic], listener=self)
        await self._consumer.start()
        await until(lambda: bool(self.told))
        return self

    async def commit(self) -> None:
        """Commit offset 1 for each partition it owns."""
        await self._consumer.commit(dict.fromkeys(self._consumer.assignment(), 1))

    async def stop(self) -> None:
        """Leave the group; a static member only goes, and stays a member."""
        await self._consumer.stop()

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Nothing is kept that would have to be given back."""

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Note what the group's coordinator said."""
        coordinator = self._consumer._coordinator  # the only place where aiokafka keeps id and generation
        self.told.append(
            Told(
                self._group,
                coordinator.member_id,
                coordinator.generation,
                frozenset((partition.topic, partition.partition) for partition in assigned),
            )
        )


async def create_topic(servers: list[str], topic: str, partitions: int) -> None:
    """Create a topic with one replica."""
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, partitions, 1)])
    finally:
        await admin.close()


async def commit_in_transaction(
    servers: list[str], transactional_id: str, group: str, offsets: dict[TopicPartition, int], is_committed: bool
) -> None:
    """Commit offsets of a group in one transaction, which is then committed or aborted."""
    producer = AIOKafkaProducer(bootstrap_servers=servers, transactional_id=transactional_id)
    await producer.start()
    try:
        await producer.begin_transaction()
        await producer.send_and_wait("copies", b"copy")
        await producer.send_offsets_to_transaction(offsets, group)
        await (producer.commit_transaction() if is_committed else producer.abort_transaction())
    finally:
        await producer.stop()


async def commit_once(servers: list[str], group: str, login: tuple[str, str]) -> None:
    """Commit an offset as a tool does that is no member, to brokers that ask for a user and a password."""
    user, password = login
    how = {
        "bootstrap_servers": servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": user,
        "sasl_plain_password": password,
    }
    consumer = AIOKafkaConsumer(group_id=group, enable_auto_commit=False, **how)
    admin = AIOKafkaAdminClient(**how)
    place = TopicPartition("clicks", 0)
    await admin.start()
    await consumer.start()
    try:
        await admin.create_topics([NewTopic("clicks", 1, 1)])
        consumer.assign([place])
        await consumer.commit({place: 1})
    finally:
        await consumer.stop()
        await admin.close()


async def trimmed(servers: list[str], place: TopicPartition) -> tuple[int, int]:
    """Wait until a partition holds no record any more; return its first offset and its next one."""
    consumer = AIOKafkaConsumer(bootstrap_servers=servers)
    await consumer.start()
    try:
        until_s = time.monotonic() + WAIT_S
        while True:
            begins = (await consumer.beginning_offsets([place]))[place]
            ends = (await consumer.end_offsets([place]))[place]
            if begins == ends or time.monotonic() > until_s:
                return begins, ends
            await asyncio.sleep(0.1)
    finally:
        await consumer.stop()


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""

    async def poll() -> None:
        while not holds():
            await asyncio.sleep(0.02)

    await asyncio.wait_for(poll(), WAIT_S)
