"""A service whose consumers make a group: how it is set up, what its processes are called, where they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.support.incidents.broker import World
from tests.support.incidents.consumer import Consumer
from tests.support.incidents.setup import COOPERATIVE, Setup

SECOND, MINUTE = 1_000, 60_000

JAVA, LIBRDKAFKA = ("apache-kafka-java", "4.2.0"), ("librdkafka", "2.16.0")


@dataclass
class Group:
    """A group of some service, and what was done to it.

    Attributes:
        world: in which it lives.
        kind: what was planted; "calm" = nothing out of the ordinary.
        members: its consumers.
        culprits: client ids of those that it is put down to.
        acts: ordinary things that were done to it, such as "deploy".
        until: end of the time that is played.
    """

    world: World
    kind: str
    members: list[Consumer]
    culprits: set[str] = field(default_factory=set)
    acts: list[str] = field(default_factory=list)
    until: float = 0.0

    @property
    def random(self) -> Random:
        """What is left to chance."""
        return self.world.random

    def at(self, moment: float, act: Callable[[], None]) -> None:
        """Do something at a moment."""
        self.world.clock.at(moment, act)


class Service:
    """How a service runs: what its clients are called, and where they run.

    Styles: "numbered" names on hosts that stay; "unnamed" clients, which all have Java's default client.id, on hosts
    that stay or get another address with each deploy; "stateful" sets, whose pods keep their name and get another
    address; "pods" with a name and address of their own each time. A process that crashes is started again in its
    place, whatever the style.
    """

    def __init__(self, group_id: str, random: Random, setup: Setup) -> None:
        self.group_id, self.setup, self._random = group_id, setup, random
        self.style = random.choices(("numbered", "unnamed", "stateful", "pods"), (5, 2, 2, 1))[0]
        self._hosts = self._made = 0
        self._stays = random.random() < 0.5
        self._release = self._word(6)

    def name(self, number: int) -> str:
        """Return the client id of the process with a number."""
        if self.style == "unnamed":
            return f"consumer-{self.group_id}-1"
        if self.style == "pods":
            return f"{self.group_id}-{self._release}-{self._word(5)}"
        return f"{self.group_id}-{number}"

    def host(self) -> str:
        """Return an address that nobody has yet."""
        self._hosts += 1
        return f"/10.{self._random.randint(1, 9)}.{self._hosts // 200}.{self._hosts % 200 + 1}"

    def consumer(self, world: World, setup: Setup | None = None, instance: str | None = None) -> Consumer:
        """Make the next process."""
        self._made += 1
        return Consumer(world, self.name(self._made - 1), self.host(), setup or self.setup, instance)

    def replacement(self, world: World, old: Consumer) -> Consumer:
        """Return the process that a deploy puts in place of another: itself, or a new one of another address."""
        if self.style == "numbered" or (self.style == "unnamed" and self._stays):
            return old
        name = old.client_id if self.style == "stateful" else self.name(self._made)
        self._made += 1
        return Consumer(world, name, self.host(), old.setup, old.instance)

    def release(self) -> None:
        """Build another version, which pods are named after."""
        self._release = self._word(6)

    def _word(self, length: int) -> str:
        return "".join(self._random.choices("bcdfghjklmnpqrstvwxz2456789", k=length))


def a_setup(random: Random, **more: object) -> Setup:
    """Draw the settings of a service as they come."""
    protocols = random.choices((("range", COOPERATIVE), ("roundrobin",), (COOPERATIVE,)), (5, 2, 3))[0]
    is_java = random.random() < 0.75
    drawn: dict[str, object] = {
        "topics": ("orders",) if random.random() < 0.7 else ("orders", "returns"),
        "protocols": protocols,
        "session_ms": random.choice((10, 10, 30, 45, 45)) * SECOND,
        "heartbeat_ms": 3 * SECOND,
        "commit_ms": random.choice((5, 5, 15, 30)) * SECOND,
        "batch_ms": random.choice((50, 300, 1_500)),
        "says_why": is_java,
        "software": JAVA if is_java else LIBRDKAFKA,
    }
    return Setup(**{**drawn, **more})  # type: ignore[arg-type]


def a_group(kind: str, number: int, random: Random, count: int, setup: Setup, start: float) -> tuple[Group, Service]:
    """Begin a group of some members, which come up within a few seconds of each other."""
    topics = {"orders": random.randint(6, 16), "returns": random.randint(3, 8)}
    world = World(f"svc-{number}", start, random, topics)
    service = Service(world.group_id, random, setup)
    members = [service.consumer(world) for _ in range(count)]
    for member in members:
        world.clock.at(start + random.uniform(0, 2.5 * SECOND), member.start)
    return Group(world, kind, members), service
