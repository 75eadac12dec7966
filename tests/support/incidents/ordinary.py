"""What happens to every group now and then, and a group to which nothing else happens."""

from __future__ import annotations

from random import Random

from tests.support.incidents.service import MINUTE, SECOND, Group, Service, a_group, a_setup


def deploy(group: Group, service: Service, at: float, kills: bool = False) -> float:
    """Replace the processes of a service one after the other; return when that is done."""
    service.release()
    gap, down = group.random.uniform(4, 50) * SECOND, group.random.uniform(2, 15) * SECOND
    for place in range(len(group.members)):

        def replace(place: int = place) -> None:
            old = group.members[place]
            (old.kill if kills else old.close)()
            new = group.members[place] = service.replacement(group.world, old)
            group.world.clock.after(down, new.start)

        group.at(at, replace)
        at += down + gap * group.random.uniform(0.8, 1.2) + (group.members[place].setup.session_ms if kills else 0)
    return at


def grow(group: Group, at: float) -> None:
    """Add partitions to a topic; clients notice when they refresh their metadata."""
    before = dict(group.world.topics)

    def change() -> None:
        group.world.topics["orders"] = before["orders"] = group.world.topics["orders"] + group.random.randint(1, 4)
        for member in group.members:
            late = group.random.uniform(0.2, 10) * SECOND
            group.world.clock.after(
                late,
                lambda member=member: member.metadata_changed("cached metadata has changed"),  # type: ignore[misc]
            )

    group.at(at, change)


def calm(number: int, random: Random, start: float) -> Group:
    """A group of which nothing is to be said: steady, now and then a deploy, a restart, a crash, a pause, growth."""
    setup = a_setup(random)
    group, service = a_group("calm", number, random, random.randint(1, 8), setup, start)
    group.until = start + random.uniform(18, 32) * MINUTE
    low, high = start + 2 * MINUTE, group.until - 3 * MINUTE
    if random.random() < 0.25:
        deploy(group, service, random.uniform(low, high))
        group.acts.append("deploy")
    for _ in range(random.choice((0, 1, 1, 2))):
        what = random.choice(("restart", "crash", "pause", "slow batch", "one more", "grow"))
        group.acts.append(what)
        group.at(random.uniform(low, high), lambda what=what: _ordinary(group, service, what))  # type: ignore[misc]
    return group


def _ordinary(group: Group, service: Service, what: str) -> None:
    """Something that happens to every group now and then."""
    member, random, clock = group.random.choice(group.members), group.random, group.world.clock
    if what in ("restart", "crash"):
        (member.close if what == "restart" else member.kill)()
        clock.after(random.uniform(3, 60) * SECOND, lambda: None if member.is_up else member.start())
    elif what == "pause":
        member.freeze(random.uniform(1, 20) * SECOND)
    elif what == "slow batch":
        member.dawdle(random.uniform(20, 90) * SECOND)
    elif what == "one more":
        new = service.consumer(group.world)
        group.members.append(new)
        new.start()
    else:
        grow(group, clock.now)
