"""Random groups as a broker's assignor is given them: new, then from one epoch to the next with what was given."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from random import Random

from msgspec.structs import replace

from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec, MemberSpec
from transforms.coordinator.kafka.java_collections import grown_capacity, table_order, uuid_set_order
from transforms.coordinator.kafka.java_hashing import string_hash
from transforms.coordinator.modern.orders import as_loaded
from transforms.coordinator.modern.partitions import of_numbers

STEPS = 6


def chains(
    seed: int, count: int, assign: Callable[[GroupSpec], Assigned | None], *, is_of_share: bool = False
) -> Iterator[GroupSpec]:
    """Yield groups that live on through several epochs, each with the targets that an assignor gave in the last."""
    random = Random(seed)
    for _ in range(count):
        group = fresh(random, is_of_share=is_of_share)
        for _ in range(STEPS):
            yield group
            assigned = assign(group)
            if assigned is None:
                break
            group = after(random, group, assigned)


def fresh(random: Random, *, is_of_share: bool = False) -> GroupSpec:
    """A group without a past."""
    topics = {_uuid(random): random.choice((1, 2, 3, 4, 6, 9, 17, 30)) for _ in range(random.choice((1, 2, 3, 5)))}
    is_homogeneous = random.random() < 0.4
    names = [*topics]
    size = random.randint(1, random.choice((3, 6, 6, 20)))
    members = [MemberSpec(_member_id(random), names, {}, _instance(random)) for _ in range(size)]
    if not is_homogeneous:
        members = [replace(member, topics=_some(random, names)) for member in members]
    ready = {topic: frozenset(range(random.choice((n, n, n - 1)))) for topic, n in topics.items()}
    return arranged(members, topics, is_homogeneous, ready if is_of_share else None)


def after(random: Random, group: GroupSpec, assigned: Assigned) -> GroupSpec:
    """The group an epoch later: members came, went or changed what they subscribe to; topics have grown."""
    counts = {topic: count + random.choice((0, 0, 0, 2)) for topic, count in group.partition_counts.items()}
    names = [*counts]
    members = []
    for member in group.members:
        if random.random() < 0.2:
            continue
        target = as_loaded(of_numbers(assigned.get(member.member_id, {})))
        is_new_mind = not group.is_homogeneous and random.random() < 0.2
        members.append(replace(member, topics=_some(random, names) if is_new_mind else member.topics, target=target))
    for _ in range(random.choice((0, 1, 1, 3))):
        topics = names if group.is_homogeneous else _some(random, names)
        members.append(MemberSpec(_member_id(random), topics, {}, _instance(random)))
    ready = None if group.assignable is None else {topic: frozenset(range(count)) for topic, count in counts.items()}
    return arranged(members or [*group.members], counts, group.is_homogeneous, ready)


def in_racks(group: GroupSpec, random: Random) -> GroupSpec:
    """The same group, whose members and replicas are in some of a few racks; some of them nobody knows where."""
    names = [f"rack-{number}" for number in range(random.randint(1, 6))]
    racks = {
        topic: [random.sample(names, random.randint(0 if random.random() < 0.05 else 1, len(names))) for _ in range(n)]
        for topic, n in group.partition_counts.items()
    }
    members = [replace(member, rack_id=random.choice([None, "elsewhere", *names * 4])) for member in group.members]
    return replace(group, members=members, racks=racks)


def arranged(
    members: list[MemberSpec],
    counts: Mapping[str, int],
    is_homogeneous: bool,
    assignable: Mapping[str, frozenset[int]] | None = None,
) -> GroupSpec:
    """A group in the orders in which a coordinator has it."""
    by_id = {member.member_id: member for member in members}
    in_order = [by_id[name] for name in table_order(by_id, string_hash, grown_capacity(len(by_id)))]
    topics = uuid_set_order(in_order[0].topics, len(in_order[0].topics)) if is_homogeneous else ()
    return GroupSpec(in_order, counts, is_homogeneous, topics, assignable)


def _uuid(random: Random) -> str:
    return urlsafe_b64encode(random.randbytes(16)).decode().rstrip("=")


def _member_id(random: Random) -> str:
    return urlsafe_b64encode(random.randbytes(16)).decode().rstrip("=")


def _instance(random: Random) -> str | None:
    return f"host-{random.randrange(10**6)}" if random.random() < 0.3 else None


def _some(random: Random, names: list[str]) -> list[str]:
    fewest = 0 if random.random() < 0.05 else 1
    return random.sample(names, random.randint(min(fewest, len(names)), len(names)))
