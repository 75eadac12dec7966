"""The brokers that chaotic clients meet: where they listen, who coordinates a group, and what befalls them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from random import Random

from tests.support.chaos.connection import Connection, Versions
from tests.support.chaos.notes import Notes
from tests.support.kafka_broker import Brokers

GROUP_KEY = 0
LOOKUP_VERSION = 1
ASTRAY = 0.01
"""So often a client asks just any broker, coordinator or not."""

NEXT_S = (4.0, 9.0)
"""How long all brokers are well."""

START_S = 6.0
"""About what one takes to start."""

AWAY_S = (1.0, 6.0)
"""How long one is dead, down or frozen; `broker.session.timeout.ms` is 3 s, so that not all of it is noticed."""

SETTINGS = {"leader.imbalance.check.interval.seconds": "4", "unclean.leader.election.enable": "false"}
"""A broker that came back gets its partitions back within seconds."""


class Cluster:
    """Where brokers listen, and which versions they all serve."""

    def __init__(self, servers: Sequence[str], versions: Versions) -> None:
        self.servers = servers
        self.versions = versions

    async def coordinator(self, group: str, client_id: str, chance: Random) -> str:
        """Ask any broker who coordinates a group.

        Raises:
            ConnectionError: the broker is gone, or does not know.
        """
        if len(self.servers) == 1:
            return self.servers[0]
        asked = chance.choice(self.servers)
        if chance.random() < ASTRAY:
            return asked
        connection = Connection(asked, client_id)
        try:
            answer = await connection.ask("FindCoordinator", LOOKUP_VERSION, {"key": group, "keyType": GROUP_KEY})
        finally:
            connection.close()
        if answer["errorCode"]:
            raise ConnectionError(f"nobody coordinates {group} now")
        return f"{answer['host']}:{answer['port']}"


async def befall(brokers: Brokers, notes: Notes, chance: Random, stops_at: float) -> None:
    """Kill, shut down or freeze one broker after the other, and bring it back; the first is spared.

    Without ZooKeeper the first is the controller.
    """
    fates = {
        "kill": (brokers.kill, brokers.start),
        "stop": (brokers.stop, brokers.start),
        "freeze": (brokers.freeze, brokers.thaw),
    }
    mortal = brokers.nodes[1:]
    while mortal:
        await asyncio.sleep(chance.uniform(*NEXT_S))
        if time.time() + AWAY_S[1] + START_S > stops_at:
            return
        node, how = chance.choice(mortal), chance.choice(sorted(fates))
        end, bring_back = fates[how]
        notes.note("_broker", time.time(), node=node, how=how)
        await asyncio.to_thread(end, node)
        await asyncio.sleep(chance.uniform(*AWAY_S))
        await asyncio.to_thread(bring_back, node)
        notes.note("_broker_back", time.time(), node=node, how=how)
