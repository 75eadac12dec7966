"""What goes wrong in groups, and why: causes, played on clients and brokers; each gives the group that it happened to.

A plot says what somebody, or something, did. Whether that makes a storm, by whatever definition, is not its business.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.support.incidents.ordinary import deploy, grow
from tests.support.incidents.service import MINUTE, SECOND, Group, a_group, a_setup


def _quiet(random: Random) -> float:
    return random.uniform(2, 6) * MINUTE


def flapping_member(number: int, random: Random, start: float) -> Group:
    """One client closes its consumer after each job and opens it again for the next one."""
    group, _ = a_group("flapping_member", number, random, random.randint(2, 6), a_setup(random), start)
    culprit = random.choice(group.members)
    group.culprits = {culprit.client_id}
    at, works, rests = start + _quiet(random), random.uniform(4, 40), random.uniform(1, 20)
    for _ in range(random.randint(5, 14)):
        group.at(at, culprit.close)
        at += rests * random.uniform(0.7, 1.4) * SECOND
        group.at(at, culprit.start)
        at += works * random.uniform(0.7, 1.4) * SECOND
    group.until = at + _quiet(random)
    return group


def crash_loop(number: int, random: Random, start: float) -> Group:
    """A process dies some time after each start; its supervisor starts it again."""
    setup = a_setup(random, session_ms=random.choice((10, 10, 30, 45)) * SECOND)
    group, _ = a_group("crash_loop", number, random, random.randint(2, 6), setup, start)
    culprit = random.choice(group.members)
    group.culprits = {culprit.client_id}
    back_off = random.choice((2, 10, 30, 60)) * SECOND
    at, lives = start + _quiet(random), random.uniform(3, 45)
    for _ in range(random.randint(6, 10)):
        group.at(at, culprit.kill)
        at += back_off * random.uniform(0.8, 1.2)
        group.at(at, culprit.start)
        at += (
            max(setup.session_ms if back_off < setup.session_ms else 0, 3_000)
            + lives * random.uniform(0.7, 1.4) * SECOND
        )
    group.until = at + _quiet(random)
    return group


def slow_poll_loop(number: int, random: Random, start: float) -> Group:
    """Batches of one client take longer than max.poll.interval.ms, again and again."""
    setup = a_setup(random, poll_ms=random.choice((15, 30, 45, 60)) * SECOND)
    group, _ = a_group("slow_poll_loop", number, random, random.randint(2, 6), setup, start)
    culprit = random.choice(group.members)
    group.culprits = {culprit.client_id}
    at, over = start + _quiet(random), random.uniform(1, 30)
    for _ in range(random.randint(5, 9)):
        took = setup.poll_ms + over * random.uniform(0.6, 1.4) * SECOND
        group.at(at, lambda took=took: culprit.dawdle(took))
        at += took + random.uniform(5, 30) * SECOND
    group.until = at + _quiet(random)
    return group


def rolling_restart(number: int, random: Random, start: float) -> Group:
    """A new version is rolled out, process by process."""
    kills = random.random() < 0.2
    setup = a_setup(random, **({"session_ms": 10 * SECOND} if kills else {}))
    group, service = a_group("rolling_restart", number, random, random.randint(4, 8), setup, start)
    group.until = deploy(group, service, start + _quiet(random), kills) + _quiet(random)
    return group


def scaling(number: int, random: Random, start: float) -> Group:
    """Processes are added one by one as load grows, and mostly taken away again."""
    group, service = a_group("scaling", number, random, random.randint(1, 3), a_setup(random), start)
    at, gap = start + _quiet(random), random.uniform(6, 60) * SECOND
    added = [service.consumer(group.world) for _ in range(random.randint(5, 7))]
    for member in added:
        group.at(at, member.start)
        at += gap * random.uniform(0.7, 1.3)
    if random.random() < 0.7:
        at += random.uniform(0, 4) * MINUTE
        for member in reversed(added):
            group.at(at, member.close)
            at += gap * random.uniform(0.7, 1.3)
    group.until = at + _quiet(random)
    return group


def fencing_war(number: int, random: Random, start: float) -> Group:
    """Two processes have one group.instance.id; whoever is fenced ends, and its supervisor starts it again."""
    setup = a_setup(random, commit_ms=random.choice((1, 3, 5)) * SECOND)
    group, service = a_group("fencing_war", number, random, 0, setup, start)
    world = group.world
    count = random.randint(1, 4)
    group.members = [service.consumer(world, instance=f"{world.group_id}-i{place}") for place in range(count + 1)]
    twin = service.consumer(world, instance=f"{world.group_id}-i0")
    for member in group.members:
        group.at(start + random.uniform(0, 2.5 * SECOND), member.start)
    rivals, back_off = (group.members[0], twin), random.uniform(3, 15) * SECOND
    group.culprits = {rival.client_id for rival in rivals}
    begins = start + _quiet(random)
    over = begins + random.uniform(90, 240) * SECOND
    for rival in rivals:
        rival.died = lambda rival=rival: world.clock.after(  # type: ignore[misc]
            back_off * random.uniform(0.8, 1.2), lambda: rival.start() if world.clock.now < over else None
        )
    group.at(begins, twin.start)
    group.until = over + _quiet(random)
    return group


def subscription_conflict(number: int, random: Random, start: float) -> Group:
    """Two versions of an application share a group.id, and one of them takes up and drops a topic as it goes."""
    setup = a_setup(random, topics=("orders",))
    group, service = a_group("subscription_conflict", number, random, random.randint(2, 4), setup, start)
    other = service.consumer(group.world, a_setup(random, topics=("orders", "returns"), protocols=setup.protocols))
    group.culprits = {other.client_id}
    at, gap = start + _quiet(random), random.uniform(6, 60) * SECOND
    group.at(at, other.start)
    for step in range(random.randint(5, 10)):
        at += gap * random.uniform(0.7, 1.3)
        topics = ("orders", "returns") if step % 2 else ("returns",)
        group.at(at, lambda topics=topics: other.subscribe(topics, "subscription has changed"))  # type: ignore[misc]
    if random.random() < 0.4:
        stranger = service.consumer(group.world, a_setup(random, protocols=("sticky",)))
        stranger.died = lambda: group.world.clock.after(15 * SECOND, stranger.start)
        group.at(start + _quiet(random), stranger.start)
        group.at(at, stranger.kill)
        group.at(at, lambda: setattr(stranger, "died", lambda: None))
        group.culprits.add(stranger.client_id)
    group.until = at + _quiet(random)
    return group


def metadata_refresh(number: int, random: Random, start: float) -> Group:
    """Somebody adds partitions in small steps; or topics that match a pattern come and go."""
    group, _ = a_group("metadata_refresh", number, random, random.randint(2, 5), a_setup(random), start)
    at, gap = start + _quiet(random), random.uniform(15, 90) * SECOND
    by_pattern = random.random() < 0.5
    topics: tuple[str, ...] = group.members[0].topics
    for step in range(random.randint(6, 9)):
        if not by_pattern:
            grow(group, at)
        else:
            topics = (*topics, f"new-{step}") if step % 3 < 2 else topics[:-1]
            group.at(at, lambda topics=topics: _match(group, topics))  # type: ignore[misc]
        at += gap * random.uniform(0.7, 1.3)
    group.until = at + _quiet(random)
    return group


def _match(group: Group, topics: tuple[str, ...]) -> None:
    """Let each member find other topics when it refreshes its metadata."""
    for topic in topics:
        group.world.topics.setdefault(topic, group.random.randint(1, 3))
    for member in group.members:
        late = group.random.uniform(0.2, 8) * SECOND
        group.world.clock.after(
            late,
            lambda member=member: member.subscribe(topics, "subscription has changed"),  # type: ignore[misc]
        )


def coordinator_trouble(number: int, random: Random, start: float) -> Group:
    """A broker dies, comes back and dies again; some clients take long to find who coordinates them now."""
    setup = a_setup(random, session_ms=10 * SECOND, find_ms=random.choice((15, 25, 40)) * SECOND)
    group, _ = a_group("coordinator_trouble", number, random, random.randint(4, 8), setup, start)
    world, at = group.world, start + _quiet(random)
    home, other = "1", "2"
    for _ in range(random.randint(5, 8)):
        is_crash = random.random() < 0.6
        gone = random.uniform(3, 12) * SECOND if is_crash else random.uniform(20, 500)
        group.at(at, (lambda broker=home: world.take_down(broker)) if is_crash else world.resign)  # type: ignore[misc]
        group.at(at + gone, lambda broker=other: world.elect(broker, random.uniform(5, 800)))  # type: ignore[misc]
        group.at(at + gone + 15 * SECOND, lambda broker=home: world.bring_up(broker))  # type: ignore[misc]
        home, other = other, home
        at += gone + random.uniform(30, 75) * SECOND
    group.until = at + _quiet(random)
    return group


def zombie(number: int, random: Random, start: float) -> Group:
    """Work goes on under a membership that is over: a thread that nobody told, or a process that slept too long."""
    setup = a_setup(random, session_ms=10 * SECOND)
    group, service = a_group("zombie", number, random, random.randint(2, 5), setup, start)
    culprit, at = random.choice(group.members), start + _quiet(random)
    group.culprits = {culprit.client_id}
    pace = random.uniform(0.3, 4) * SECOND
    commits = random.randint(8, 30)
    api = "TxnOffsetCommit" if random.random() < 0.3 else "OffsetCommit"
    sleeps = random.random() < 0.4

    def remember() -> None:
        known = culprit.member_id, culprit.generation
        for step in range(commits):
            culprit.work(sleep_ms + step * pace, known, api)

    sleep_ms = setup.session_ms * random.uniform(1.4, 2.5) if sleeps else 0.0
    if sleeps:
        # The batch does not poll, so the client does not join again before it is done.
        group.at(at - 1, lambda: culprit.dawdle(sleep_ms + commits * pace + 2 * SECOND))
        group.at(at, remember)
        group.at(at, lambda: culprit.freeze(sleep_ms))
    else:
        group.at(at, remember)
        group.at(at + random.uniform(0, 2) * pace, service.consumer(group.world).start)
    group.until = at + sleep_ms + commits * pace + _quiet(random)
    return group


def lost_session(number: int, random: Random, start: float) -> Group:
    """A process stops for longer than its session, several times (collections of garbage, a host that swaps)."""
    setup = a_setup(random, session_ms=10 * SECOND)
    group, _ = a_group("lost_session", number, random, random.randint(2, 6), setup, start)
    culprit, at = random.choice(group.members), start + _quiet(random)
    group.culprits = {culprit.client_id}
    for _ in range(random.randint(4, 8)):
        ms = setup.session_ms + setup.heartbeat_ms + random.uniform(1, 15) * SECOND
        group.at(at, lambda ms=ms: culprit.freeze(ms))  # type: ignore[misc]
        at += ms + random.uniform(10, 50) * SECOND
    group.until = at + _quiet(random)
    return group


KINDS: dict[str, Callable[[int, Random, float], Group]] = {
    plot.__name__: plot
    for plot in (
        flapping_member,
        crash_loop,
        slow_poll_loop,
        rolling_restart,
        scaling,
        fencing_war,
        subscription_conflict,
        metadata_refresh,
        coordinator_trouble,
        zombie,
        lost_session,
    )
}
"""By name: what can be planted."""
