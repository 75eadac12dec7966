"""The timer scenarios: each script does what the oracle's driver did, and must meet the same states and lines."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.oracle.answers import Situation, scenarios
from tests.oracle.driver import Driver
from tests.oracle.probes import PROTOCOL
from transforms.coordinator.kafka.states import GroupState

Script = Callable[[list[Situation]], Driver]

LINES = (
    (re.compile(r"Preparing to rebalance group g .* with old generation (\d+)"), GroupState.PREPARING),
    (re.compile(r"Stabilized group g generation (\d+) "), GroupState.COMPLETING),
    (re.compile(r"Assignment received from leader \S+ for group g for generation (\d+)"), GroupState.STABLE),
    (re.compile(r"Group g with generation (\d+) is now empty"), GroupState.EMPTY),
)
"""What the coordinator logs when it enters a state, with the generation that it has then."""


def _parked_pair(driver: Driver, instances: tuple[str | None, str | None] = (None, None)) -> tuple[str, str, int]:
    """A leader in generation 1, and a second member that made the group rebalance and waits for the leader."""
    leader = driver.told[driver.join("leader", instance=instances[0], api_version=3)]
    driver.advance(3_000)
    joined = driver.join("follower", instance=instances[1], api_version=3)
    return leader, driver.told[joined], joined


def _pair(driver: Driver, instances: tuple[str | None, str | None] = (None, None)) -> tuple[str, str]:
    """Two members in generation 2 that await the leader's assignment."""
    leader, follower, _ = _parked_pair(driver, instances)
    driver.join("leader", member_id=leader, instance=instances[0])
    return leader, follower


def _stable_pair(driver: Driver, instances: tuple[str | None, str | None] = (None, None)) -> tuple[str, str]:
    leader, follower = _pair(driver, instances)
    driver.sync(leader, assignments={leader: b"\1", follower: b"\1"})
    driver.sync(follower)
    return leader, follower


def _s1(seen: list[Situation]) -> Driver:
    driver = Driver()
    given = driver.join("first")
    assert driver.answer(given).error == "MEMBER_ID_REQUIRED"
    seen.append(driver.situation)
    first = driver.join("first", member_id=driver.told[given])
    seen.append(driver.situation)
    driver.advance(2_000)
    given = driver.join("second")
    second = driver.join("second", member_id=driver.told[given])
    seen.append(driver.situation)
    driver.advance(1_000)
    seen.append(driver.situation)
    driver.advance(3_000)
    seen.append(driver.situation)
    assert (driver.answer(first).generation, driver.answer(first).is_leader) == (1, True)
    assert (driver.answer(second).generation, driver.answer(second).is_leader) == (1, False)
    driver.sync(driver.told[first])
    seen.append(driver.situation)
    for token in (second, first):
        assert driver.answer(driver.leave(driver.told[token])).error == "NONE"
        seen.append(driver.situation)
    return driver


def _s2(seen: list[Situation]) -> Driver:
    driver = Driver()
    _pair(driver)
    seen.append(driver.situation)
    driver.advance(4_000)
    seen.append(driver.situation)
    for _ in range(2):
        driver.advance(4_000)
        seen.append(driver.situation)
    return driver


def _s2b(seen: list[Situation]) -> Driver:
    driver = Driver()
    leader, follower = _pair(driver)
    driver.sync(leader)
    for _ in range(3):
        driver.advance(4_000)
        seen.append(driver.situation)
        driver.heartbeat(leader)
        driver.heartbeat(follower)
    return driver


def _s3(seen: list[Situation]) -> Driver:
    driver = Driver()
    leader, _ = _stable_pair(driver)
    driver.advance(4_000)
    driver.heartbeat(leader)
    driver.advance(4_000)
    seen.append(driver.situation)
    for _ in range(3):
        driver.advance(4_000)
        seen.append(driver.situation)
    return driver


def _leader_does_not_rejoin(instances: tuple[str | None, str | None]) -> Script:
    def script(seen: list[Situation]) -> Driver:
        driver = Driver()
        leader, _, joined = _parked_pair(driver, instances)
        for _ in range(3):
            assert driver.answer(driver.heartbeat(leader)).error == "REBALANCE_IN_PROGRESS"
            driver.advance(4_000)
            seen.append(driver.situation)
        assert (driver.answer(joined).generation, driver.answer(joined).is_leader) == (2, True)
        return driver

    return script


def _s6(seen: list[Situation]) -> Driver:
    driver = Driver()
    leader, follower = _stable_pair(driver)
    driver.join("pending")
    rejoined = driver.join("leader", member_id=leader)
    driver.join("follower", member_id=follower)
    seen.append(driver.situation)
    driver.advance(6_000)
    seen.append(driver.situation)
    assert (driver.answer(rejoined).generation, driver.answer(rejoined).is_leader) == (3, True)
    return driver


def _s7(seen: list[Situation]) -> Driver:
    driver = Driver(max_size=1)
    driver.join("first", api_version=3)
    assert driver.answer(driver.join("second", api_version=3)).error == "GROUP_MAX_SIZE_REACHED"
    seen.append(driver.situation)
    driver.advance(3_000)
    assert driver.answer(driver.join("third", api_version=3)).error == "GROUP_MAX_SIZE_REACHED"
    seen.append(driver.situation)
    return driver


def _s8(seen: list[Situation]) -> Driver:
    driver = Driver(initial_delay_ms=60_000)
    driver.join("first", api_version=3)
    driver.join("pending")
    seen.append(driver.situation)
    driver.advance(6_000)
    seen.append(driver.situation)
    return driver


def _s9(seen: list[Situation]) -> Driver:
    driver = Driver()
    _, follower = _stable_pair(driver, ("i1", "i2"))
    replaced = driver.join("again", instance="i2")
    assert (driver.answer(replaced).generation, driver.answer(replaced).is_leader) == (2, False)
    seen.append(driver.situation)
    fenced = driver.ask("Heartbeat", member_id=follower, group_instance_id="i2", generation=2)
    assert driver.answer(fenced).error == "FENCED_INSTANCE_ID"
    return driver


def _s10(seen: list[Situation]) -> Driver:
    driver = Driver()
    first = driver.join("first", api_version=3)
    driver.advance(3_000)
    driver.sync(driver.told[first])
    driver.leave(driver.told[first])
    driver.join("first", api_version=3)
    driver.advance(1_000)
    driver.join("second", api_version=3)
    driver.advance(2_000)
    seen.append(driver.situation)
    driver.advance(3_000)
    seen.append(driver.situation)
    return driver


SCRIPTS: dict[str, Script] = {
    "S1": _s1,
    "S2": _s2,
    "S2b": _s2b,
    "S3": _s3,
    "S4": _leader_does_not_rejoin((None, None)),
    "S5": _leader_does_not_rejoin(("i1", "i2")),
    "S6": _s6,
    "S7": _s7,
    "S8": _s8,
    "S9": _s9,
    "S10": _s10,
}


@pytest.mark.parametrize("number", SCRIPTS)
def test_timers_end_where_kafkas_did(number: str):
    scenario = scenarios()[number]
    seen: list[Situation] = []
    driver = SCRIPTS[number](seen)
    printed = [match for line in scenario.printed if not line.startswith("timer ") for match in _situations(line)]
    assert _without_repeats(seen) == _without_repeats(printed)
    logged = [
        (state, int(match[1])) for line in scenario.logged for pattern, state in LINES if (match := pattern.match(line))
    ]
    assert [(move.to_state, move.generation) for move in driver.moves] == logged


def _situations(line: str) -> list[Situation]:
    return [Situation(state, int(generation), int(count)) for state, generation, count in _SITUATION.findall(line)]


_SITUATION = re.compile(r"(\w+)#(\d+) n=(\d+)")


def _without_repeats(situations: list[Situation]) -> list[Situation]:
    return [each for before, each in zip([None, *situations], situations, strict=False) if each != before]


def test_a_static_replacement_that_changes_the_vote_rebalances():
    driver = Driver()
    both = ((PROTOCOL, b"old"), ("roundrobin", b"old"))
    first = driver.join("leader", instance="i1", protocols=both)
    second = driver.join("follower", instance="i2", protocols=both)
    driver.advance(6_000)
    driver.sync(driver.told[first])
    driver.sync(driver.told[second])
    assert driver.situation == Situation("Stable", 1, 2)
    assert driver.machine.group.protocol == PROTOCOL
    replaced = driver.join("again", instance="i2", protocols=both[1:])
    assert driver.answer(replaced).error == "PARKED"
    assert driver.situation == Situation("PreparingRebalance", 1, 2)


def test_a_new_group_asks_for_a_protocol_first():
    driver = Driver()
    assert driver.answer(driver.join("client", api_version=3, protocols=())).error == "INCONSISTENT_GROUP_PROTOCOL"
    assert driver.answer(driver.join("client", api_version=3)).error == "PARKED"
    static = Driver()
    assert static.answer(static.join("client", instance="i1")).error == "PARKED"


def test_static_members_that_never_come_back_keep_the_join_phase_open():
    driver = Driver()
    _stable_pair(driver, ("i1", "i2"))
    joined = driver.join("dynamic", api_version=3)
    assert driver.answer(joined).error == "PARKED"
    assert driver.situation == Situation("PreparingRebalance", 2, 3)
