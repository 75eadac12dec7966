"""Random groups: as they come, and as they get from a rebalance to the next one."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from random import Random

from transforms.coordinator.assignors.subscriptions import Assignment, MemberSubscription, TopicPartition

TOPICS = ("orders", "payments", "a", "clicks.v2", "invoices", "z-late", "gone")


@dataclass
class Group:
    """What a leader is given."""

    subscriptions: dict[str, MemberSubscription]
    counts: dict[str, int]


def fresh(random: Random) -> Group:
    """A group without a past; `gone` does not exist, and some topics have no partitions known."""
    names = random.sample(TOPICS, random.randint(1, len(TOPICS)))
    counts = {topic: random.choice((0, 1, 2, 3, 5, 8, 12, 24)) for topic in names if topic != "gone"}
    common = None if random.random() < 0.5 else some_topics(random, names)
    members = {}
    for number in range(random.randint(1, random.choice((3, 14, 14, 60)))):
        topics = some_topics(random, names) if common is None else common
        instance = f"host-{random.randint(0, 10**6)}" if random.random() < 0.3 else None
        rack_id = random.choice((None, "r0", "r1", ""))
        members[member_name(random, number)] = MemberSubscription(topics, instance, rack_id=rack_id)
    return Group(members, counts)


def some_topics(random: Random, names: list[str]) -> tuple[str, ...]:
    """A subscription, rarely an empty one; clients send it sorted."""
    fewest = 0 if random.random() < 0.05 else 1
    return tuple(sorted(random.sample(names, random.randint(fewest, len(names)))))


def member_name(random: Random, number: int) -> str:
    """A member id as Java clients and others make them."""
    unique = f"{random.getrandbits(64):016x}"
    return random.choice((f"consumer-billing-{number}-{unique}", f"m{number}", f"rdkafka-{unique}", f"{unique}-é"))


def remember_anything(random: Random, group: Group) -> Group:
    """Members with memories that contradict each other, of several generations; some cannot be read."""
    pool = [(topic, partition) for topic in (*group.counts, "gone") for partition in range(group.counts.get(topic, 4))]
    if random.random() < 0.1:
        pool += [(topic, count + 1) for topic, count in group.counts.items()]
    generations = random.choice(((None, 7), (5, 6, 7), (None, -1, 7, 8), (7,)))
    members = {}
    for member_id, member in group.subscriptions.items():
        owned = random.sample(pool, min(len(pool), random.choice((0, 1, 2, 4, 9))))
        generation = random.choice(generations)
        members[member_id] = replace(
            member,
            owned=tuple(owned if random.random() < 0.8 else owned + owned[:1]),
            generation=generation if generation != -1 else None,
            user_data=user_data(random, owned, generation),
        )
    return Group(members, group.counts)


def skewed(random: Random) -> Group:
    """A group in which few members hold almost everything and others had it before: many partitions must move."""
    names = random.sample(TOPICS[:-1], random.randint(1, 4))
    counts = {topic: random.choice((8, 12, 24, 40)) for topic in names}
    pool = [(topic, partition) for topic in names for partition in range(counts[topic])]
    member_ids = [f"{member_name(random, number)}-{number}" for number in range(random.randint(3, 8))]
    weights = [random.choice((0, 0, 1, 5)) for _ in member_ids[1:]] + [1]
    holders = random.choices(member_ids, weights, k=len(pool))
    members = {}
    for member_id in member_ids:
        is_behind = random.random() < 0.4
        before = random.sample(pool, random.randint(0, len(pool) // 2))
        now = [partition for partition, holder in zip(pool, holders, strict=True) if holder == member_id]
        owned, generation = (before, 6) if is_behind else (now, 7)
        topics = some_topics(random, names)
        memory = sticky_user_data(owned, generation)
        members[member_id] = MemberSubscription(topics, None, tuple(owned), generation, memory)
    return Group(members, counts)


def user_data(random: Random, partitions: list[TopicPartition], generation: int | None) -> bytes | None:
    """User data of StickyAssignor, or something that only begins as it does, or is another assignor's."""
    kind = random.random()
    if kind < 0.05:
        return random.choice((None, b"", b"\0", struct.pack(">i", 6), struct.pack(">ih", 1, 3)))
    return sticky_user_data(partitions, generation)


def sticky_user_data(partitions: list[TopicPartition], generation: int | None) -> bytes:
    """User data of StickyAssignor, version 0 where there is no generation."""
    topics = sorted({topic for topic, _ in partitions})
    parts = [struct.pack(">i", len(topics))]
    for topic in topics:
        numbers = [number for name, number in partitions if name == topic]
        parts.append(struct.pack(">h", len(topic)) + topic.encode())
        parts.append(struct.pack(f">i{len(numbers)}i", len(numbers), *numbers))
    if generation is not None:
        parts.append(struct.pack(">i", generation))
    return b"".join(parts)


def after(random: Random, group: Group, assignment: Assignment, generation: int) -> Group:
    """The group when it next rebalances: members have come, gone or changed what they want; topics have grown."""
    names = sorted({*group.counts, "gone"})
    counts = {topic: count + random.choice((0, 0, 0, 3)) for topic, count in group.counts.items()}
    members: dict[str, MemberSubscription] = {}
    for member_id, member in group.subscriptions.items():
        if random.random() < 0.15:
            continue
        topics = some_topics(random, names) if random.random() < 0.1 else member.topics
        owned = tuple(assignment[member_id])
        remembered = generation - (random.random() < 0.1)
        memory = sticky_user_data(list(owned), remembered)
        members[member_id] = replace(member, topics=topics, owned=owned, generation=remembered, user_data=memory)
    for number in range(random.choice((0, 1, 1, 3))):
        like = random.choice(list(group.subscriptions.values()))
        members[f"new-{generation}-{member_name(random, number)}"] = MemberSubscription(like.topics)
    return Group(members or dict(group.subscriptions), counts)
